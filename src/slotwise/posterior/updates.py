"""Updates of the hierarchical posterior: by rounds, by tallies, by pending rounds, and by the end of a period."""

from __future__ import annotations

import math

from slotwise.core.types import EMPTY, NO_CLICK, FloatArray, Ranking
from slotwise.jit import jit
from slotwise.posterior.counts import add_round, add_tally, fold_rarest
from slotwise.posterior.forgetting import end_period
from slotwise.posterior.hyperparameters import refit
from slotwise.posterior.posterior_interface import expect, hold_still, settle, update, update_by_tally
from slotwise.posterior.state import IN_USE, HierarchicalPosterior

#: what is learned of all is learned anew when the data have grown by this part
GROWTH = 0.02


@expect.register(HierarchicalPosterior)
def _expect(belief: HierarchicalPosterior, ranking: Ranking) -> None:
    fly(belief, ranking, 1.0)


@settle.register(HierarchicalPosterior)
def _settle(belief: HierarchicalPosterior, ranking: Ranking) -> None:
    fly(belief, ranking, -1.0)


@jit
def fly(belief: HierarchicalPosterior, ranking: Ranking, rounds: float) -> None:
    """Count rounds that wait for their outcome."""
    belief.pending.rounds += rounds
    belief.is_current = False
    for slot in range(len(ranking)):
        if ranking[slot] != EMPTY:
            belief.pending.by_slot[belief.segment, ranking[slot], slot] += rounds


@update.register(HierarchicalPosterior)
def _update(belief: HierarchicalPosterior, ranking: Ranking, clicked: int) -> None:
    take_in(belief, ranking, clicked)


@jit
def take_in(belief: HierarchicalPosterior, ranking: Ranking, clicked: int) -> None:
    """Learn from one round; compiled once, and not once for each policy."""
    weight = add_round(belief.counts, belief.segments, belief.segment, ranking, clicked)
    belief.forgetting.rounds_left -= 1.0
    rate, position_bias = belief.rate, belief.position_bias
    for slot in range(len(ranking)):
        if ranking[slot] != EMPTY:
            rate[ranking[slot]] += position_bias[slot] * weight
    if clicked != NO_CLICK:
        belief.shape[ranking[clicked]] += 1.0


@update_by_tally.register(HierarchicalPosterior)
def _absorb(belief: HierarchicalPosterior, clicks: FloatArray, passes: FloatArray) -> None:
    take_in_tally(belief, clicks, passes)


@jit
def take_in_tally(belief: HierarchicalPosterior, clicks: FloatArray, passes: FloatArray) -> None:
    """Learn from a tally, and refit the hyperparameters if they are out of date."""
    counts, forgetting = belief.counts, belief.forgetting
    forgetting.rounds_left -= add_tally(counts, belief.segment, clicks, passes)
    # now and not at the next decision, which a visitor waits for
    if counts.rounds >= belief.refit_at:
        if forgetting.rounds_left <= 0.0:
            finish_period(belief)
        keep_house(belief, 5)
    belief.draw.decisions_left = 0
    belief.is_current = False
    if counts.rounds > 0.0 and belief.cold_start.slots_left == math.inf:
        belief.cold_start.slots_left = 0.0
    settle_on_means(belief)


@jit
def finish_period(belief: HierarchicalPosterior) -> None:
    """Decay the counts, and draw and refit at the next decision if those in use changed."""
    if end_period(belief.forgetting, belief.counts, belief.bias, belief.items, belief.segments):
        belief.refit_at = 0.0
        belief.draw.decisions_left = 0
        belief.is_current = False


@jit
def settle_on_means(belief: HierarchicalPosterior) -> None:
    """Set position bias, shape and rate for the current segment at the means of all that is drawn for a decision."""
    counts, items, segments, segment = belief.counts, belief.items, belief.segments, belief.segment
    number_of_segments, number_of_items, slots = counts.passes.shape
    for slot in range(slots):
        belief.position_bias[slot] = segments.mean_bias[segment, slot]
    for item in range(number_of_items):
        shape, rate = items.shape, items.shape / items.mean[item]
        belief.draw.prior_rate[item] = rate
        if number_of_segments > 1:
            mean = segments.level[item] * items.segment_mean[segment, item]
            shape, rate = segments.similarity, segments.similarity / mean
        for slot in range(slots):
            rate += belief.position_bias[slot] * counts.passes[segment, item, slot]
        belief.shape[item] = shape + counts.clicks[IN_USE, segment, item]
        belief.rate[item] = rate


@jit
def keep_house(belief: HierarchicalPosterior, times: int) -> None:
    """Make room in the table of lists and refit the hyperparameters, which not every round needs."""
    counts = belief.counts
    if counts.lists.count > 0 and counts.lists.count == len(counts.lists.lists):
        fold_rarest(counts, belief.segments)
    for _ in range(times):
        refit(counts, belief.bias, belief.items, belief.segments)
    belief.refit_at = counts.rounds * (1.0 + GROWTH) + 1e-9


@hold_still.register(HierarchicalPosterior)
def _hold_still(belief: HierarchicalPosterior, still: bool) -> None:
    # hyperparameters are fitted once to the tallies of many segments, and not once with each of them
    belief.refit_at = math.inf if still else 0.0
