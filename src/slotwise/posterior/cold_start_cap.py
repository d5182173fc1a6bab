"""The cold-start cap: the share of slots for items with no counted outcome is limited."""

from __future__ import annotations

import math

import numpy as np

from slotwise.core.types import EMPTY, FloatArray, Ranking
from slotwise.jit import inlined
from slotwise.optimize.list_solver import arrange
from slotwise.posterior.posterior_interface import apply_cold_start_cap
from slotwise.posterior.state import HierarchicalPosterior, PosteriorCounts

#: below any draw of an item with counts, and above the smallest number
NEGLIGIBLE = 1e-200


@apply_cold_start_cap.register(HierarchicalPosterior)
def _apply_cold_start_cap(
    posterior: HierarchicalPosterior, lists: object, index: FloatArray, ranking: Ranking, rng: np.random.Generator
) -> bool:
    # every decision adds `max_share` of its slots to the slots left, so that in the long run new items take that share
    # of all slots. The cap starts with the first list without new items: before that everything is new
    left = posterior.cold_start.slots_left
    if left < math.inf:
        # unused slots accumulate up to one list
        left = min(left + posterior.cold_start.max_share * len(ranking), 1.0 * len(ranking))
    new = _count_new(posterior.counts, ranking)
    is_exceeded = new > left
    if is_exceeded:
        _demote_new(posterior.counts, index, ranking, int(left))
        arrange(lists, index, posterior.position_bias, ranking, rng)
        new = _count_new(posterior.counts, ranking)
    if left == math.inf and new == 0:
        left = 0.0
    # if nothing else is left to show, new items take more
    posterior.cold_start.slots_left = max(0.0, left - new)
    return is_exceeded


@inlined
def _count_new(counts: PosteriorCounts, ranking: Ranking) -> int:
    """Return the number of new items in the list."""
    new = 0
    for slot in range(len(ranking)):
        if ranking[slot] != EMPTY and counts.item_rounds[ranking[slot]] == 0.0:
            new += 1
    return new


@inlined
def _demote_new(counts: PosteriorCounts, index: FloatArray, ranking: Ranking, allowed: int) -> None:
    """Put all new items but the best `allowed` ones of the list after the other items, in the order of their index."""
    # the last allowed one; of equal ones, which there are if nothing is drawn, those in the first slots
    least, last = math.inf, -1
    for _ in range(allowed):
        best = -1
        for slot in range(len(ranking)):
            item = ranking[slot]
            if item != EMPTY and counts.item_rounds[item] == 0.0:
                is_left = index[item] < least or (index[item] == least and slot > last)
                if is_left and (best < 0 or index[item] > index[ranking[best]]):
                    best = slot
        least, last = index[ranking[best]], best
    for item in range(len(index)):
        if counts.item_rounds[item] == 0.0:
            is_allowed = False
            for slot in range(len(ranking)):
                if ranking[slot] == item and (index[item] > least or (index[item] == least and slot <= last)):
                    is_allowed = True
            if not is_allowed:
                index[item] *= NEGLIGIBLE
