"""The best list given attractiveness and position bias, and the posterior probability of each item to be in it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from slotwise.core.types import EMPTY, BoolArray, FloatArray, IntArray, Ranking
from slotwise.jit import jit
from slotwise.optimize.dynamic_constraints import (
    PerDecision,
    PerDecisionPairs,
    impose,
    per_decision_lists,
    per_decision_pairs,
    pins,
)
from slotwise.optimize.list_solver import arrange, arrange_pairs
from slotwise.posterior.posterior_interface import GammaPosterior, draw_pair_odds, draw_parameters

#: draws times items of `best_list_probabilities`, and limits of the number of draws
DRAWN_ITEMS = 10_000_000
MIN_DRAWS, MAX_DRAWS = 100, 400
#: equal counts give equal results
SEED = 0


def best_list(
    attractiveness: FloatArray,
    position_bias: FloatArray,
    *,
    values: FloatArray | None = None,
    excluded: IntArray | None = None,
    slots: BoolArray | None = None,
    pinned: Mapping[int, int] | None = None,
    odds: FloatArray | None = None,
) -> Ranking:
    """Return the list with the largest expected value, EMPTY in slots for which no item is left.

    Parameters
    ----------
    attractiveness, position_bias
        α per item and λ per slot.
    values
        The value of a click on each item; without them all clicks count 1.
    excluded
        Items that are left out.
    slots
        Whether each slot may be filled; without it all may.
    pinned
        Items by number, from 0, with the slot from 0 that each must be in.
    odds
        The odds of each pair, slots × items, if they are not the products λα.

    Examples
    --------
    >>> best_list(np.array([0.1, 0.4, 0.2]), np.array([0.5, 1.0])).tolist()
    [2, 1]
    >>> best_list(np.array([0.1, 0.4, 0.2]), np.array([0.5, 1.0]), values=np.array([9.0, 1.0, 1.0])).tolist()
    [1, 0]
    >>> best_list(np.array([0.1, 0.4, 0.2]), np.array([0.5, 1.0]), pinned={0: 1}).tolist()
    [1, 0]
    """
    items, omitted = len(attractiveness), np.zeros(0, np.int64) if excluded is None else excluded
    usable = np.arange(len(position_bias)) if slots is None else np.flatnonzero(slots)
    # the slots with the smallest position bias stay empty
    order = usable[np.argsort(-position_bias[usable], kind="stable")][: items - len(omitted)]
    ranking = np.full(len(position_bias), EMPTY)
    if odds is not None:
        filled = np.sort(order)
        places = {item: int(np.searchsorted(filled, slot)) for item, slot in (pinned or {}).items()}
        pairs = per_decision_pairs(len(filled), items)
        impose(pairs, np.ones(items) if values is None else values, omitted, pins(len(filled), len(order), places))
        arranged = np.zeros(len(filled), np.int64)
        arrange_pairs(pairs, np.ascontiguousarray(odds[filled]), arranged, np.random.default_rng(SEED))
        ranking[filled] = arranged
    elif not pinned and (values is None or (values == values[0]).all()):
        allowed = np.arange(items) if excluded is None else np.setdiff1d(np.arange(items), excluded)
        ranking[order] = allowed[np.argsort(-attractiveness[allowed], kind="stable")][: len(order)]
    elif len(order):
        filled = np.sort(order)
        places = {item: int(np.searchsorted(filled, slot)) for item, slot in (pinned or {}).items()}
        lists = _lists(len(filled), items, None, np.ones(items) if values is None else values, omitted, places)
        arranged = np.zeros(len(filled), np.int64)
        arrange(lists, attractiveness, position_bias[filled], arranged, np.random.default_rng(SEED))
        ranking[filled] = arranged
    return ranking


def best_list_probabilities(
    posterior: GammaPosterior,
    *,
    position_bias: FloatArray | None = None,
    values: FloatArray | None = None,
    excluded: IntArray | None = None,
    draws: int | None = None,
    rng: np.random.Generator | None = None,
) -> FloatArray:
    """Return the posterior probability of each item to be in the list with the largest expected value.

    Parameters
    ----------
    posterior
        Draws of λ and α are from this posterior, and change it.
    position_bias
        λ per slot if it is known.
    values, excluded
        The value of a click on each item, and items that are left out.
    draws
        The number of draws; the standard error of a probability is at most ½/√draws.
    rng
        The generator of the draws.
    """
    slots, items = len(posterior.position_bias), len(posterior.shape)
    omitted = np.zeros(0, np.int64) if excluded is None else excluded
    worth = np.ones(items) if values is None else values
    lists = _lists(slots, items, position_bias, worth, omitted)
    pairs = per_decision_pairs(slots, items)
    impose(pairs, worth, omitted, pins(slots, items - len(omitted)))
    draws = int(np.clip(DRAWN_ITEMS // items, MIN_DRAWS, MAX_DRAWS)) if draws is None else draws
    rng = np.random.default_rng(SEED) if rng is None else rng
    counts = np.zeros(items)
    odds = np.zeros((slots, items))
    _count_best(posterior, lists, pairs, draws, np.zeros(items), odds, np.zeros(slots, np.int64), counts, rng)
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
    posterior: GammaPosterior,
    lists: PerDecision,
    pairs: PerDecisionPairs,
    draws: int,
    attractiveness: FloatArray,
    odds: FloatArray,
    ranking: Ranking,
    counts: FloatArray,
    rng: np.random.Generator,
) -> None:
    for _ in range(draws):
        draw_parameters(posterior, rng)
        for item in range(len(counts)):
            attractiveness[item] = rng.standard_gamma(posterior.shape[item]) / posterior.rate[item]
        if draw_pair_odds(posterior, attractiveness, odds, rng):
            arrange_pairs(pairs, odds, ranking, rng)
        else:
            arrange(lists, attractiveness, posterior.position_bias, ranking, rng)
        for item in ranking:
            if item != EMPTY:
                counts[item] += 1.0
