"""How users choose."""

from slotwise.choice.mnl import MNL, best_ranking, best_ranking_by_brute_force, click_probabilities, draw_many, regret
from slotwise.choice.model import draw, reward

__all__ = [
    "MNL",
    "best_ranking",
    "best_ranking_by_brute_force",
    "click_probabilities",
    "draw",
    "draw_many",
    "regret",
    "reward",
]
