"""The interface of list solvers: from estimates to a list, the last step of every policy.

A policy holds a record made by `slotwise.optimize.solver_factory` and calls these generic functions on it: `Sorted` and
`Assigned` maximise clicks, `ForGoal` and `ForGoalPairs` a goal.
"""

from __future__ import annotations

import numpy as np

from slotwise.core.types import FloatArray, IntArray, Ranking
from slotwise.jit import generic


@generic()
def arrange(
    lists: object, attractiveness: FloatArray, position_bias: FloatArray, ranking: Ranking, rng: np.random.Generator
) -> None:
    """Fill `ranking` with the best list for these parameters; items never shown have infinite attractiveness."""


@generic()
def rearrange(
    lists: object, attractiveness: FloatArray, position_bias: FloatArray, ranking: Ranking, rng: np.random.Generator
) -> None:
    """Put the items of `ranking` into their best order; pins stay."""


def _nothing(lists: object, least_index: FloatArray, ranking: Ranking) -> float:  # noqa: ARG001
    return 0.0


@generic(default=_nothing)
def entry(lists: object, least_index: FloatArray, ranking: Ranking) -> float:  # type: ignore[empty-body]
    """Return an index that an item must reach to be in the best list, given lower bounds of all indices.

    Items below it need no exact index. `ranking` is an allowed list. The result is 0 if values or constraints decide.
    """


def _none(lists: object, position_bias: FloatArray, rng: np.random.Generator) -> IntArray:  # noqa: ARG001
    return np.empty(0, np.int64)


@generic(default=_none)
def slots_in_order(  # type: ignore[empty-body]
    lists: object, position_bias: FloatArray, rng: np.random.Generator
) -> IntArray:
    """Return the slots by decreasing bias if the best order is that of attractiveness, and no slots otherwise."""


@generic()
def arrange_pairs(lists: object, weight: FloatArray, ranking: Ranking, rng: np.random.Generator) -> None:
    """Fill `ranking` with the best list if item j in slot k has weight[k, j]; infinite weights are replaced."""
