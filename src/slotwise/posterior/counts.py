"""Changes of the counts: rounds, tallies, lists that leave the table, and decay.

Passes may be *soft*: a round with list A, clicked or not, counts 1/(1+S_A) of a pass, the expected number of passes at
the current estimates. Lists in the table are weighed again as the estimates improve; the others keep their weight.
"""

from __future__ import annotations

from slotwise.core.tally import count_no_clicks
from slotwise.core.types import EMPTY, NO_CLICK, BoolArray, FloatArray, Ranking
from slotwise.jit import inlined, jit
from slotwise.posterior.list_counts import EVICTED_SHARE, evict, find_or_add, is_evicted, rarity_threshold
from slotwise.posterior.pair_effects import pair_mean, pair_weight
from slotwise.posterior.state import DECAYED, IN_USE, PERIOD_COUNTS, PosteriorCounts, SegmentEffects


@inlined
def add_round(counts: PosteriorCounts, segments: SegmentEffects, segment: int, ranking: Ranking, clicked: int) -> float:
    """Count one round and return its weight in passes."""
    kinds = min(counts.clicks.shape[0], DECAYED)
    passes, item_rounds = counts.passes, counts.item_rounds
    counts.rounds += 1.0
    weight, is_listed = (1.0 if clicked == NO_CLICK else 0.0), False
    if len(counts.lists.lists) > 0:
        mean, mean_bias, total = segments.mean, segments.mean_bias, 1.0
        for slot in range(len(ranking)):
            if ranking[slot] != EMPTY:
                item = ranking[slot]
                total += mean_bias[segment, slot] * mean[segment, item] * pair_mean(counts, item, slot)
        weight = 1.0 / total
        # if the table is full, the round counts at its present weight
        number = find_or_add(counts.lists, segment, ranking)
        is_listed = number >= 0
        if is_listed:
            for kind in range(kinds):
                counts.lists.rounds[kind, number] += 1.0
    counts.no_clicks += weight
    for slot in range(len(ranking)):
        item = ranking[slot]
        if item != EMPTY:
            item_rounds[item] += 1.0
            passes[segment, item, slot] += weight * pair_weight(counts, item, slot)
            if not is_listed:
                for kind in range(kinds):
                    counts.unlisted_passes[kind, segment, item, slot] += weight
    if clicked != NO_CLICK:
        _add_click(counts, segment, ranking[clicked], clicked)
    return weight


@inlined
def _add_click(counts: PosteriorCounts, segment: int, item: int, slot: int) -> None:
    for kind in range(min(counts.clicks.shape[0], DECAYED)):
        weight = pair_weight(counts, item, slot) if kind == IN_USE else 1.0
        counts.pair_clicks[kind, segment, item, slot] += 1.0
        counts.clicks[kind, segment, item] += weight
        counts.slot_clicks[kind, segment, slot] += weight


@inlined
def add_several_clicks(
    counts: PosteriorCounts, segment: int, ranking: Ranking, clicks: BoolArray, passes_clicked: bool
) -> None:
    """Count one round with several clicks as `Tally` does; clicked items are passed too if `passes_clicked`."""
    counts.rounds += 1.0
    counts.no_clicks += 1.0
    for slot in range(len(ranking)):
        item = ranking[slot]
        if item != EMPTY:
            passed = 1.0 if passes_clicked or not clicks[slot] else 0.0
            counts.item_rounds[item] += 1.0
            counts.passes[segment, item, slot] += passed * pair_weight(counts, item, slot)
            for kind in range(min(counts.clicks.shape[0], DECAYED)):
                counts.unlisted_passes[kind, segment, item, slot] += passed
            if clicks[slot]:
                _add_click(counts, segment, item, slot)


@jit
def add_tally(counts: PosteriorCounts, segment: int, clicks: FloatArray, passes: FloatArray) -> float:
    """Count a tally, slots × items, and return its rounds."""
    (slots, items), rounds = clicks.shape, 0.0
    kinds = min(counts.clicks.shape[0], DECAYED)
    for slot in range(slots):
        for item in range(items):
            rounds += clicks[slot, item]
            in_use = pair_weight(counts, item, slot)
            for kind in range(kinds):
                weight = in_use if kind == IN_USE else 1.0
                counts.pair_clicks[kind, segment, item, slot] += clicks[slot, item]
                counts.clicks[kind, segment, item] += weight * clicks[slot, item]
                counts.slot_clicks[kind, segment, slot] += weight * clicks[slot, item]
                counts.unlisted_passes[kind, segment, item, slot] += passes[slot, item]
            counts.passes[segment, item, slot] += in_use * passes[slot, item]
            counts.item_rounds[item] += clicks[slot, item] + passes[slot, item]
    no_clicks = count_no_clicks(passes)
    rounds += no_clicks
    counts.rounds += rounds
    counts.tally_rounds += rounds
    counts.no_clicks += no_clicks
    return rounds


@jit
def weigh_lists(counts: PosteriorCounts, segments: SegmentEffects, kind: int, passes: FloatArray) -> None:
    """Put passes by segment, item and slot into `passes`: Σ_A T_A/(1+S_A) over the lists, and the unlisted ones."""
    lists = counts.lists
    number_of_segments, items, slots = passes.shape
    for segment in range(number_of_segments):
        if segments.is_used[segment]:
            for item in range(items):
                for slot in range(slots):
                    passes[segment, item, slot] = counts.unlisted_passes[kind, segment, item, slot]
    for number in range(lists.count):
        rounds = lists.rounds[kind, number]
        if rounds > 0.0:
            segment, total = lists.lists[number, 0], _inverse_weight(counts, segments, number)
            for slot in range(slots):
                item = lists.lists[number, slot + 1]
                if item != EMPTY:
                    passes[segment, item, slot] += rounds / total


@inlined
def _inverse_weight(counts: PosteriorCounts, segments: SegmentEffects, number: int) -> float:
    """Return 1 + S_A of a list in the table, at the means."""
    lists, total = counts.lists.lists, 1.0
    segment = lists[number, 0]
    for slot in range(lists.shape[1] - 1):
        item = lists[number, slot + 1]
        if item != EMPTY:
            mean = segments.mean_bias[segment, slot] * segments.mean[segment, item]
            total += mean * pair_mean(counts, item, slot)
    return total


@jit
def fold_rarest(counts: PosteriorCounts, segments: SegmentEffects) -> None:
    """Make room in the table: the rarest lists become passes at the current estimates."""
    lists, unlisted = counts.lists, counts.unlisted_passes
    rare, left = rarity_threshold(lists, IN_USE), int(EVICTED_SHARE * lists.count) + 1
    for number in range(lists.count):
        if is_evicted(lists, IN_USE, rare, number, left):
            left -= 1
            segment, total = lists.lists[number, 0], _inverse_weight(counts, segments, number)
            for slot in range(unlisted.shape[3]):
                item = lists.lists[number, slot + 1]
                if item != EMPTY:
                    for kind in range(len(unlisted)):
                        unlisted[kind, segment, item, slot] += lists.rounds[kind, number] / total
    evict(lists, IN_USE, rare)


@jit
def decay(counts: PosteriorCounts, weights: FloatArray, best: int, is_replaced: bool) -> None:
    """Multiply the counts of each memory by its weight, and add the period.

    If `is_replaced`, the counts of the best memory come into use; otherwise those in use stay as they are.
    """
    kinds = len(counts.clicks)
    for array in (counts.clicks, counts.slot_clicks):
        _decay(array.reshape((kinds, array.size // kinds)), weights, best, is_replaced)
    for pairs in (counts.pair_clicks, counts.unlisted_passes):
        _decay(pairs.reshape((kinds, pairs.size // kinds)), weights, best, is_replaced)
    _decay(counts.lists.rounds, weights, best, is_replaced)


@jit
def _decay(array: FloatArray, weights: FloatArray, best: int, is_replaced: bool) -> None:
    kinds, cells = array.shape
    for cell in range(cells):
        for kind in range(DECAYED, kinds):
            array[kind, cell] = weights[kind - DECAYED] * array[kind, cell] + array[PERIOD_COUNTS, cell]
        if is_replaced:
            array[IN_USE, cell] = array[DECAYED + best, cell]
        array[PERIOD_COUNTS, cell] = 0.0


@jit
def clear(counts: PosteriorCounts, kind: int) -> None:
    """Set the counts of one kind to 0."""
    counts.pair_clicks[kind] = 0.0
    counts.clicks[kind] = 0.0
    counts.slot_clicks[kind] = 0.0
    counts.unlisted_passes[kind] = 0.0
    counts.lists.rounds[kind] = 0.0


@jit
def sum_rounds(counts: PosteriorCounts) -> None:
    """Set the rounds and those without a click to the sums of the counts in use."""
    segments, items, slots = counts.passes.shape
    clicks, passes = 0.0, 0.0
    for slot in range(slots):
        slot_passes = 0.0
        for segment in range(segments):
            clicks += counts.slot_clicks[IN_USE, segment, slot]
            for item in range(items):
                slot_passes += counts.passes[segment, item, slot]
        passes = max(passes, slot_passes)
    counts.no_clicks, counts.rounds = passes, clicks + passes
