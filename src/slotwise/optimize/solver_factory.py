"""The solver for a page: by sorting, by assignment, or under the constraints of a goal or of each decision."""

from __future__ import annotations

from typing import Any

from slotwise.core.goal import Goal
from slotwise.core.types import FloatArray
from slotwise.optimize.assignment import assigned
from slotwise.optimize.dynamic_constraints import per_decision_lists, per_decision_pairs
from slotwise.optimize.fractional_assignment import for_goal_pairs
from slotwise.optimize.fractional_program import for_goal_lists
from slotwise.optimize.sort_solver import sorted_lists


def make_lists(
    slots: int, items: int, position_bias: FloatArray | None, goal: Goal | None = None, rules_per_decision: bool = False
) -> Any:
    """Return the solver for `arrange`.

    Parameters
    ----------
    slots, items
        K and J.
    position_bias
        The bias that every call gives, or None if it is unknown.
    goal
        Values and constraints, or None.
    rules_per_decision
        Whether values and constraints change from decision to decision (`slotwise.optimize.dynamic_constraints`).
    """
    if rules_per_decision:
        return per_decision_lists(slots, items, position_bias)
    if goal is None:
        return sorted_lists(slots, items, position_bias)
    return for_goal_lists(goal, slots, items, position_bias)


def make_pair_lists(slots: int, items: int, goal: Goal | None = None, rules_per_decision: bool = False) -> Any:
    """Return the solver for `arrange_pairs`; the arguments are as in `make_lists`."""
    if rules_per_decision:
        return per_decision_pairs(slots, items)
    return assigned(slots, items) if goal is None else for_goal_pairs(goal, slots, items)
