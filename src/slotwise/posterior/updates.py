"""Updates of the hierarchical posterior: by rounds, by tallies, by pending rounds, and by the end of a period."""

from __future__ import annotations

import math

from slotwise.click_models.base import first_click
from slotwise.core.tally import is_most
from slotwise.core.types import EMPTY, NO_CLICK, BoolArray, FloatArray, Ranking
from slotwise.jit import inlined, jit
from slotwise.posterior.counts import add_round, add_several_clicks, add_tally, fold_rarest
from slotwise.posterior.feature_regression import evidence_part
from slotwise.posterior.forgetting import end_period
from slotwise.posterior.hyperparameters import level_weight, refit, sum_passes, use_segment
from slotwise.posterior.pair_effects import check_pairs, pair_weight
from slotwise.posterior.posterior_interface import (
    add_pending,
    defer_refits,
    remove_pending,
    update,
    update_by_clicks,
    update_by_tally,
)
from slotwise.posterior.state import IN_USE, HierarchicalPosterior

#: hyperparameters are refitted when the counts have grown by this part
GROWTH = 0.02
#: refits after a large change of the counts
REFITS = 5


@add_pending.register(HierarchicalPosterior)
def _add_pending(posterior: HierarchicalPosterior, ranking: Ranking) -> None:
    _count_pending(posterior, ranking, 1.0)


@remove_pending.register(HierarchicalPosterior)
def _remove_pending(posterior: HierarchicalPosterior, ranking: Ranking) -> None:
    _count_pending(posterior, ranking, -1.0)


@jit
def _count_pending(posterior: HierarchicalPosterior, ranking: Ranking, rounds: float) -> None:
    """Add to the pending rounds with this list."""
    pending, items, segments, segment = posterior.pending, posterior.items, posterior.segments, posterior.segment
    pending.rounds += rounds
    posterior.is_current = False
    use_segment(items, segments, segment)
    for slot in range(len(ranking)):
        item = ranking[slot]
        if item != EMPTY:
            pending.by_slot[segment, item, slot] += rounds
            part = evidence_part(items, segments, segment, item)
            pending.level_passes[item, slot] += rounds * part * level_weight(segments, segment, item, slot)


@update.register(HierarchicalPosterior)
def _update(posterior: HierarchicalPosterior, ranking: Ranking, clicked: int) -> None:
    learn_round(posterior, ranking, clicked)


@jit
def learn_round(posterior: HierarchicalPosterior, ranking: Ranking, clicked: int) -> None:
    """Learn from one round; compiled once, and not once for each policy."""
    items, segments, segment = posterior.items, posterior.segments, posterior.segment
    use_segment(items, segments, segment)
    weight = add_round(posterior.counts, segments, segment, ranking, clicked)
    posterior.forgetting.rounds_left -= 1.0
    for slot in range(len(ranking)):
        if ranking[slot] != EMPTY:
            _pass_item(posterior, ranking[slot], slot, weight)
    if clicked != NO_CLICK:
        _click_item(posterior, ranking[clicked], clicked)


@inlined
def _pass_item(posterior: HierarchicalPosterior, item: int, slot: int, weight: float) -> None:
    """Add a pass to the current draw and to the sums over segments."""
    segments = posterior.segments
    weight *= pair_weight(posterior.counts, item, slot)
    posterior.rate[item] += posterior.position_bias[slot] * weight
    if len(segments.is_used) > 1:
        segments.level_passes[item, slot] += weight * level_weight(segments, posterior.segment, item, slot)


@inlined
def _click_item(posterior: HierarchicalPosterior, item: int, slot: int) -> None:
    """Add a click to the current draw and to the sums over segments."""
    segments, weight = posterior.segments, pair_weight(posterior.counts, item, slot)
    posterior.shape[item] += weight
    if len(segments.is_used) > 1:
        segments.level_clicks[item] += weight
        segments.evidence_clicks[item] += weight * evidence_part(posterior.items, segments, posterior.segment, item)


@update_by_clicks.register(HierarchicalPosterior)
def _update_by_clicks(posterior: HierarchicalPosterior, ranking: Ranking, clicks: BoolArray) -> None:
    learn_clicks_of_round(posterior, ranking, clicks)


@jit
def learn_clicks_of_round(posterior: HierarchicalPosterior, ranking: Ranking, clicks: BoolArray) -> None:
    """Learn from one round with any number of clicks."""
    clicked, shown = 0, 0
    for slot in range(len(ranking)):
        clicked += clicks[slot]
        shown += ranking[slot] != EMPTY
    if clicked <= 1:
        learn_round(posterior, ranking, first_click(clicks))
        return
    use_segment(posterior.items, posterior.segments, posterior.segment)
    passes_clicked = is_most(clicked, shown)
    add_several_clicks(posterior.counts, posterior.segment, ranking, clicks, passes_clicked)
    posterior.forgetting.rounds_left -= 1.0
    for slot in range(len(ranking)):
        if ranking[slot] != EMPTY:
            if passes_clicked or not clicks[slot]:
                _pass_item(posterior, ranking[slot], slot, 1.0)
            if clicks[slot]:
                _click_item(posterior, ranking[slot], slot)


@update_by_tally.register(HierarchicalPosterior)
def _update_by_tally(posterior: HierarchicalPosterior, clicks: FloatArray, passes: FloatArray) -> None:
    learn_tally(posterior, clicks, passes)


@jit
def learn_tally(posterior: HierarchicalPosterior, clicks: FloatArray, passes: FloatArray) -> None:
    """Learn from a tally, and refit the hyperparameters if they are out of date."""
    counts, forgetting = posterior.counts, posterior.forgetting
    use_segment(posterior.items, posterior.segments, posterior.segment)
    forgetting.rounds_left -= add_tally(counts, posterior.segment, clicks, passes)
    _add_to_levels(posterior, clicks, passes)
    # now and not at the next decision, which a visitor waits for
    if counts.rounds >= posterior.refit_at:
        if forgetting.rounds_left <= 0.0:
            finish_period(posterior)
        refresh(posterior, REFITS)
    posterior.draw.decisions_left = 0
    posterior.is_current = False
    if counts.rounds > 0.0 and posterior.cold_start.slots_left == math.inf:
        posterior.cold_start.slots_left = 0.0
    use_means(posterior)


@inlined
def _add_to_levels(posterior: HierarchicalPosterior, clicks: FloatArray, passes: FloatArray) -> None:
    """Add a tally of the current segment to the sums over segments."""
    (slots, number_of_items), items, segments = clicks.shape, posterior.items, posterior.segments
    for slot in range(slots):
        for item in range(number_of_items):
            part = evidence_part(items, segments, posterior.segment, item)
            weight = pair_weight(posterior.counts, item, slot)
            segments.level_clicks[item] += weight * clicks[slot, item]
            segments.evidence_clicks[item] += weight * part * clicks[slot, item]
            weight *= level_weight(segments, posterior.segment, item, slot)
            segments.level_passes[item, slot] += weight * passes[slot, item]


@jit
def finish_period(posterior: HierarchicalPosterior) -> None:
    """Decay the counts, and draw and refit at the next decision if those in use changed."""
    if end_period(posterior.forgetting, posterior.counts, posterior.items, posterior.segments):
        posterior.refit_at = 0.0
        posterior.draw.decisions_left = 0
        posterior.is_current = False


@jit
def use_means(posterior: HierarchicalPosterior) -> None:
    """Set position bias, shape and rate for the current segment at the means, without a draw."""
    counts, items, segments, segment = posterior.counts, posterior.items, posterior.segments, posterior.segment
    number_of_segments, number_of_items, slots = counts.passes.shape
    for slot in range(slots):
        posterior.position_bias[slot] = segments.mean_bias[segment, slot]
    for item in range(number_of_items):
        shape, rate = items.shape, items.shape / items.mean[item]
        posterior.draw.prior_rate[item] = rate
        if number_of_segments > 1:
            mean = segments.level[item] * items.segment_mean[segment, item]
            shape, rate = segments.similarity, segments.similarity / mean
        for slot in range(slots):
            rate += posterior.position_bias[slot] * counts.passes[segment, item, slot]
        posterior.shape[item] = shape + counts.clicks[IN_USE, segment, item]
        posterior.rate[item] = rate / posterior.forgetting.changes.ratio[item]


@jit
def refresh(posterior: HierarchicalPosterior, times: int) -> None:
    """Make room in the table of lists and refit the hyperparameters: maintenance that not every round needs."""
    counts = posterior.counts
    if counts.lists.count > 0 and counts.lists.count == len(counts.lists.lists):
        fold_rarest(counts, posterior.segments)
    for _ in range(times):
        refit(counts, posterior.bias, posterior.items, posterior.segments)
    if check_pairs(counts, posterior.segments):
        for _ in range(REFITS):
            refit(counts, posterior.bias, posterior.items, posterior.segments)
    if posterior.pending.rounds > 0.0:
        pending = posterior.pending
        sum_passes(posterior.items, posterior.segments, pending.by_slot, pending.level_passes, True)
    posterior.refit_at = counts.rounds * (1.0 + GROWTH) + 1e-9


@defer_refits.register(HierarchicalPosterior)
def _defer_refits(posterior: HierarchicalPosterior, deferred: bool) -> None:
    # hyperparameters are fitted once to the tallies of many segments, and not once with each of them
    posterior.refit_at = math.inf if deferred else 0.0
