"""From what a policy believes to the list that it shows: the one step that every policy ends with.

A policy holds a record made by `slotwise.choice.arrangement` and calls these generic functions on it. Which record it
is decides what the best list is: `Sorted` and `Assigned` for clicks, `Optimal` and `OptimalPairs` for a goal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.compiled import generic
from slotwise.typing import FloatArray, Ranking


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


@generic()
def arrange_pairs(lists: Any, weight: FloatArray, ranking: Ranking, rng: np.random.Generator) -> None:
    """Fill `ranking` with the best list where item j in slot k weighs weight[k, j]; infinite weights are replaced."""
