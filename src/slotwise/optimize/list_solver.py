"""The interface of list solvers: from estimates to a list, the last step of every policy.

A policy holds a record made by `slotwise.optimize.solver_factory` and calls these generic functions on it: `Sorted` and
`Assigned` maximise clicks, `ForGoal` and `ForGoalPairs` a goal.
"""

from __future__ import annotations

import numpy as np

from slotwise.core.types import FloatArray, Ranking
from slotwise.jit import generic


@generic()
def arrange(
    lists: object, attractiveness: FloatArray, position_bias: FloatArray, ranking: Ranking, rng: np.random.Generator
) -> None:
    """Fill `ranking` with the best list for these parameters; items never shown have infinite attractiveness."""


@generic(default=lambda lists: False)  # noqa: ARG005
def is_free(lists: object) -> bool:  # type: ignore[empty-body]
    """Whether the next list is of the most attractive of all items, without constraints and values."""


@generic()
def arrange_pairs(lists: object, weight: FloatArray, ranking: Ranking, rng: np.random.Generator) -> None:
    """Fill `ranking` with the best list if item j in slot k has weight[k, j]; infinite weights are replaced."""
