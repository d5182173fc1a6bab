"""Items without a counted outcome may take no more than a part of the slots: a page keeps what it knows to be good."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.core.types import EMPTY, FloatArray, Ranking
from slotwise.jit import inlined
from slotwise.optimize.list_solver import arrange
from slotwise.posterior.posterior_interface import hold_back, is_new
from slotwise.posterior.state import Counts, HierarchicalPosterior


@is_new.register(HierarchicalPosterior)
def _is_new(belief: HierarchicalPosterior, item: int) -> bool:
    return bool(belief.cold_start.slots_left < math.inf and belief.counts.item_rounds[item] == 0.0)


@hold_back.register(HierarchicalPosterior)
def _hold_back(
    belief: HierarchicalPosterior, lists: Any, index: FloatArray, ranking: Ranking, rng: np.random.Generator
) -> bool:
    # in the long run they take `new_items_at_most` of all slots: every decision adds that part of its slots to what
    # they have left. As long as every list has some, from the first on, all is new and there is nothing to keep
    left = belief.cold_start.slots_left
    if left < math.inf:
        # unused slots are not saved up for more than a list
        left = min(left + belief.cold_start.max_share * len(ranking), 1.0 * len(ranking))
    new = _count_new(belief.counts, ranking)
    too_many = new > left
    if too_many:
        _keep_best_new(belief.counts, index, ranking, int(left))
        arrange(lists, index, belief.position_bias, ranking, rng)
        new = _count_new(belief.counts, ranking)
    if left == math.inf and new == 0:
        left = 0.0
    # where nothing else is left to show they take what they must
    belief.cold_start.slots_left = max(0.0, left - new)
    return too_many


@inlined
def _count_new(counts: Counts, ranking: Ranking) -> int:
    new = 0
    for slot in range(len(ranking)):
        if ranking[slot] != EMPTY and counts.item_rounds[ranking[slot]] == 0.0:
            new += 1
    return new


@inlined
def _keep_best_new(counts: Counts, index: FloatArray, ranking: Ranking, kept: int) -> None:
    """Leave the best `kept` of the list's new items their index, and put all other new ones behind everything."""
    # the last that is kept; of equal ones, which there are where nothing is drawn, those in the first slots
    least, last = math.inf, -1
    for _ in range(kept):
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
            is_kept = False
            for slot in range(len(ranking)):
                if ranking[slot] == item and (index[item] > least or (index[item] == least and slot <= last)):
                    is_kept = True
            if not is_kept:
                index[item] = 0.0
