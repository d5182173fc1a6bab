"""How users choose, and which ranking is best for them."""

from slotwise.choice.goal import Goal
from slotwise.choice.mnl import MNL, best_ranking, best_ranking_by_brute_force, click_probabilities, regret
from slotwise.choice.model import draw, reward
from slotwise.choice.valued import best_list, best_list_by_brute_force, expected_value

__all__ = [
    "MNL",
    "Goal",
    "best_list",
    "best_list_by_brute_force",
    "best_ranking",
    "best_ranking_by_brute_force",
    "click_probabilities",
    "draw",
    "expected_value",
    "regret",
    "reward",
]
