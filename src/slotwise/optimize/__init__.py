"""Which list to show: what a list is for, and the best one for given parameters."""

from slotwise.core.goal import Goal
from slotwise.optimize.goal_value import best_list, best_list_by_brute_force, expected_value

__all__ = ["Goal", "best_list", "best_list_by_brute_force", "expected_value"]
