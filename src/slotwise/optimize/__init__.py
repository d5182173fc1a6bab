"""List optimisation: the best list for given parameters, values and constraints."""

from slotwise.core.goal import Goal
from slotwise.optimize.goal_value import best_list, expected_value

__all__ = ["Goal", "best_list", "expected_value"]
