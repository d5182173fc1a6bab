"""Which record arranges lists: it depends on whether there is a goal, or rules that change."""

from __future__ import annotations

from typing import Any

from slotwise.choice.changing import changing_lists, changing_pairs
from slotwise.choice.goal import Goal
from slotwise.choice.optimal import optimal
from slotwise.choice.optimal_pairs import optimal_pairs
from slotwise.choice.sorted import assigned, sorted_lists
from slotwise.typing import FloatArray


def arrangement_for(
    slots: int, items: int, position_bias: FloatArray | None, goal: Goal | None = None, changing: bool = False
) -> Any:
    """What to `arrange` and `rearrange` with; `position_bias` if it is known, and then it is what every call gives."""
    if changing:
        return changing_lists(slots, items, position_bias)
    if goal is None:
        return sorted_lists(slots, items, position_bias)
    return optimal(goal, slots, items, position_bias)


def pair_arrangement_for(slots: int, items: int, goal: Goal | None = None, changing: bool = False) -> Any:
    """What to `arrange_pairs` with."""
    if changing:
        return changing_pairs(slots, items)
    return assigned(slots, items) if goal is None else optimal_pairs(goal, slots, items)
