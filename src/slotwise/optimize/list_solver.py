"""From what a policy believes to the list that it shows: the one step that every policy ends with.

A policy holds a record made by `slotwise.optimize.solver_factory` and calls these generic functions on it. Which
record it
is decides what the best list is: `Sorted` and `Assigned` for clicks, `ForGoal` and `ForGoalPairs` for a goal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.core.types import FloatArray, IntArray, Ranking
from slotwise.jit import generic


@generic()
def arrange(
    lists: Any, attractiveness: FloatArray, position_bias: FloatArray, ranking: Ranking, rng: np.random.Generator
) -> None:
    """Fill `ranking` with the best list for these parameters; items never shown are infinitely attractive."""


@generic()
def rearrange(
    lists: Any, attractiveness: FloatArray, position_bias: FloatArray, ranking: Ranking, rng: np.random.Generator
) -> None:
    """Put the items that `ranking` holds into their best order: none is dropped, none added, and pins stay."""


def _nothing(lists: Any, least_index: FloatArray, ranking: Ranking) -> float:  # noqa: ARG001
    return 0.0


@generic(default=_nothing)
def entry(lists: Any, least_index: FloatArray, ranking: Ranking) -> float:  # type: ignore[empty-body]
    """An index that items must reach to be in the best list, given a lower bound on every index and an allowed list.

    Whoever has a lower one need not be computed. Where values or constraints decide it is 0.
    """


def _none(lists: Any, position_bias: FloatArray, rng: np.random.Generator) -> IntArray:  # noqa: ARG001
    return np.empty(0, np.int64)


@generic(default=_none)
def slots_in_order(  # type: ignore[empty-body]
    lists: Any, position_bias: FloatArray, rng: np.random.Generator
) -> IntArray:
    """The slots by decreasing bias, where the best order is that of attractiveness; where more decides, none."""


@generic()
def arrange_pairs(lists: Any, weight: FloatArray, ranking: Ranking, rng: np.random.Generator) -> None:
    """Fill `ranking` with the best list where item j in slot k weighs weight[k, j]; infinite weights are replaced."""
