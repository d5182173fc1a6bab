"""What rounds, tallies and time do to the counts of a belief for pages as they are."""

from __future__ import annotations

import math

from slotwise.core.tally import count_no_clicks
from slotwise.core.types import EMPTY, NO_CLICK, FloatArray, Ranking
from slotwise.jit import jit
from slotwise.posterior.factory import IN_USE, TRIED, Lived
from slotwise.posterior.forgetting import end_period
from slotwise.posterior.hyperparameters import refresh, weight_of
from slotwise.posterior.list_counts import GIVEN_UP, are_rare, give_up, is_given_up, number_of
from slotwise.posterior.posterior_interface import expect, hold_still, settle, update, update_by_tally

#: what is learned of all is learned anew when the data have grown by this part
GROWTH = 0.02


@expect.register(Lived)
def _expect(belief: Lived, ranking: Ranking) -> None:
    fly(belief, ranking, 1.0)


@settle.register(Lived)
def _settle(belief: Lived, ranking: Ranking) -> None:
    fly(belief, ranking, -1.0)


@jit
def fly(belief: Lived, ranking: Ranking, rounds: float) -> None:
    """Count rounds that wait for their outcome."""
    belief.in_flight += rounds
    belief.at_hand = False
    for slot in range(len(ranking)):
        if ranking[slot] != EMPTY:
            belief.flying[belief.segment, ranking[slot], slot] += rounds


@update.register(Lived)
def _update(belief: Lived, ranking: Ranking, clicked: int) -> None:
    take_in(belief, ranking, clicked)


@jit
def take_in(belief: Lived, ranking: Ranking, clicked: int) -> None:
    """One round; compiled once, and not once for each policy."""
    segment, kinds = belief.segment, min(belief.clicks.shape[0], TRIED)
    passes, counted, rate, position_bias = belief.passes, belief.counted, belief.rate, belief.position_bias
    belief.rounds += 1.0
    belief.memory.left -= 1.0
    weight, is_listed = (1.0 if clicked == NO_CLICK else 0.0), False
    if len(belief.seen.lists) > 0:
        mean, mean_bias, total = belief.mean, belief.mean_bias, 1.0
        for slot in range(len(ranking)):
            if ranking[slot] != EMPTY:
                total += mean_bias[segment, slot] * mean[segment, ranking[slot]]
        weight = 1.0 / total
        # where the table is full, the round is folded as it comes
        number = number_of(belief.seen, segment, ranking)
        is_listed = number >= 0
        if is_listed:
            for kind in range(kinds):
                belief.seen.rounds[kind, number] += 1.0
    belief.no_clicks += weight
    for slot in range(len(ranking)):
        item = ranking[slot]
        if item != EMPTY:
            counted[item] += 1.0
            passes[segment, item, slot] += weight
            rate[item] += position_bias[slot] * weight
            if not is_listed:
                for kind in range(kinds):
                    belief.folded[kind, segment, item, slot] += weight
    if clicked != NO_CLICK:
        belief.shape[ranking[clicked]] += 1.0
        for kind in range(kinds):
            belief.clicks[kind, segment, ranking[clicked]] += 1.0
            belief.slot_clicks[kind, segment, clicked] += 1.0


@jit
def fold_rarest(belief: Lived) -> None:
    """Make room in the table: the rarest lists become passes at the estimates of the moment."""
    seen, folded = belief.seen, belief.folded
    rare, left = are_rare(seen, IN_USE), int(GIVEN_UP * seen.count) + 1
    for number in range(seen.count):
        if is_given_up(seen, IN_USE, rare, number, left):
            left -= 1
            segment, total = seen.lists[number, 0], weight_of(belief, number)
            for slot in range(folded.shape[3]):
                item = seen.lists[number, slot + 1]
                if item != EMPTY:
                    for kind in range(len(folded)):
                        folded[kind, segment, item, slot] += seen.rounds[kind, number] / total
    give_up(seen, IN_USE, rare)


@update_by_tally.register(Lived)
def _absorb(belief: Lived, clicks: FloatArray, passes: FloatArray) -> None:
    take_in_tally(belief, clicks, passes)


@jit
def take_in_tally(belief: Lived, clicks: FloatArray, passes: FloatArray) -> None:
    """A whole tally."""
    segment, (slots, items) = belief.segment, clicks.shape
    kinds, rounds = min(belief.clicks.shape[0], TRIED), 0.0
    for slot in range(slots):
        for item in range(items):
            rounds += clicks[slot, item]
            for kind in range(kinds):
                belief.clicks[kind, segment, item] += clicks[slot, item]
                belief.slot_clicks[kind, segment, slot] += clicks[slot, item]
                belief.folded[kind, segment, item, slot] += passes[slot, item]
            belief.passes[segment, item, slot] += passes[slot, item]
            belief.counted[item] += clicks[slot, item] + passes[slot, item]
    no_clicks = count_no_clicks(passes)
    rounds += no_clicks
    belief.rounds += rounds
    belief.no_clicks += no_clicks
    belief.memory.left -= rounds
    # now and not at the next decision, which someone waits for
    if belief.rounds >= belief.outdated:
        if belief.memory.left <= 0.0:
            end_period(belief)
        keep_house(belief, 5)
    belief.wait = 0
    belief.at_hand = False
    if belief.rounds > 0.0 and belief.slots_for_new == math.inf:
        belief.slots_for_new = 0.0
    settle_on_means(belief)


@jit
def settle_on_means(belief: Lived) -> None:
    """Position bias, shape and rate for the segment at hand, at the means of all that is drawn for a decision."""
    segments, items, slots = belief.passes.shape
    segment = belief.segment
    for slot in range(slots):
        belief.position_bias[slot] = belief.mean_bias[segment, slot]
    for item in range(items):
        shape, rate = belief.item_shape, belief.item_shape / belief.item_mean[item]
        belief.prior_rate[item] = rate
        if segments > 1:
            shape, rate = belief.own_taste, belief.own_taste / (belief.level[item] * belief.own_mean[segment, item])
        for slot in range(slots):
            rate += belief.position_bias[slot] * belief.passes[segment, item, slot]
        belief.shape[item] = shape + belief.clicks[IN_USE, segment, item]
        belief.rate[item] = rate


@jit
def keep_house(belief: Lived, times: int) -> None:
    """What need not be done in every round: make room for lists, learn anew what is learned of all."""
    if belief.seen.count > 0 and belief.seen.count == len(belief.seen.lists):
        fold_rarest(belief)
    for _ in range(times):
        refresh(belief)
    belief.outdated = belief.rounds * (1.0 + GROWTH) + 1e-9


@hold_still.register(Lived)
def _hold_still(belief: Lived, still: bool) -> None:
    # what is learned of all segments together is learned once from the tallies of many, and not once with each of them
    belief.outdated = math.inf if still else 0.0
