"""The best list for what is believed, and how likely each item is to be in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from slotwise.core.types import EMPTY, BoolArray, FloatArray, IntArray, Ranking
from slotwise.jit import jit
from slotwise.optimize.dynamic_constraints import PerDecision, impose, per_decision_lists, pins
from slotwise.optimize.list_solver import arrange
from slotwise.posterior.posterior_interface import imagine

#: draws of the probability to be in the best list: as many as this for all items together, within limits
DRAWN_ITEMS = 10_000_000
MIN_DRAWS, MAX_DRAWS = 100, 400
#: the same counts always say the same
SEED = 0


def best_list(
    attractiveness: FloatArray,
    position_bias: FloatArray,
    *,
    values: FloatArray | None = None,
    excluded: IntArray | None = None,
    slots: BoolArray | None = None,
    pinned: Mapping[int, int] | None = None,
) -> Ranking:
    """The list of the largest expected value in these `slots`, `excluded` items left out, EMPTY where nothing is left.

    `pinned` items are in the slots that they map to, all counted from 0.

    >>> best_list(np.array([0.1, 0.4, 0.2]), np.array([0.5, 1.0])).tolist()
    [2, 1]
    >>> best_list(np.array([0.1, 0.4, 0.2]), np.array([0.5, 1.0]), values=np.array([9.0, 1.0, 1.0])).tolist()
    [1, 0]
    >>> best_list(np.array([0.1, 0.4, 0.2]), np.array([0.5, 1.0]), pinned={0: 1}).tolist()
    [1, 0]
    """
    items, left_out = len(attractiveness), np.zeros(0, np.int64) if excluded is None else excluded
    usable = np.arange(len(position_bias)) if slots is None else np.flatnonzero(slots)
    # the slots that are seen least stay empty
    order = usable[np.argsort(-position_bias[usable], kind="stable")][: items - len(left_out)]
    ranking = np.full(len(position_bias), EMPTY)
    if not pinned and (values is None or (values == values[0]).all()):
        allowed = np.arange(items) if excluded is None else np.setdiff1d(np.arange(items), excluded)
        ranking[order] = allowed[np.argsort(-attractiveness[allowed], kind="stable")][: len(order)]
    elif len(order):
        filled = np.sort(order)
        places = {item: int(np.searchsorted(filled, slot)) for item, slot in (pinned or {}).items()}
        lists = _lists(len(filled), items, None, np.ones(items) if values is None else values, left_out, places)
        found = np.zeros(len(filled), np.int64)
        arrange(lists, attractiveness, position_bias[filled], found, np.random.default_rng(SEED))
        ranking[filled] = found
    return ranking


def best_list_chances(
    belief: Any,
    *,
    position_bias: FloatArray | None = None,
    values: FloatArray | None = None,
    excluded: IntArray | None = None,
    draws: int | None = None,
    rng: np.random.Generator | None = None,
) -> FloatArray:
    """The probability of each item to be in the list of the largest expected value, `excluded` ones left out.

    The part of `draws` of (λ, α) from `belief` in whose best list the item is; with a standard error of at most
    ½/√draws. `position_bias` is given if it is known.
    """
    slots, items = len(belief.position_bias), len(belief.shape)
    left_out = np.zeros(0, np.int64) if excluded is None else excluded
    lists = _lists(slots, items, position_bias, np.ones(items) if values is None else values, left_out)
    draws = int(np.clip(DRAWN_ITEMS // items, MIN_DRAWS, MAX_DRAWS)) if draws is None else draws
    rng = np.random.default_rng(SEED) if rng is None else rng
    counts = np.zeros(items)
    _count_best(belief, lists, draws, np.zeros(items), np.zeros(slots, np.int64), counts, rng)
    return counts / draws


def _lists(
    slots: int,
    items: int,
    position_bias: FloatArray | None,
    values: FloatArray,
    excluded: IntArray,
    pinned: Mapping[int, int] | None = None,
) -> PerDecision:
    lists = per_decision_lists(slots, items, position_bias)
    impose(lists, values, excluded, pins(slots, items - len(excluded), pinned))
    return lists


@jit
def _count_best(
    belief: Any,
    lists: Any,
    draws: int,
    attractiveness: FloatArray,
    ranking: Ranking,
    counts: FloatArray,
    rng: np.random.Generator,
) -> None:
    for _ in range(draws):
        imagine(belief, rng)
        for item in range(len(counts)):
            attractiveness[item] = rng.standard_gamma(belief.shape[item]) / belief.rate[item]
        arrange(lists, attractiveness, belief.position_bias, ranking, rng)
        for item in ranking:
            if item != EMPTY:
                counts[item] += 1.0
