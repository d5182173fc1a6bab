"""How users choose, one model a file. Every module of this folder is imported, and registers what it defines."""

from slotwise.choice.cascade import Cascade
from slotwise.choice.dependent_click import DependentClick
from slotwise.choice.mixture import mixture
from slotwise.choice.mnl import MNL, draw_many
from slotwise.choice.model import (
    best_ranking,
    best_ranking_by_brute_force,
    click_probabilities,
    click_rates,
    draw,
    draw_clicks,
    first_click,
    may_click_several,
    probability_of,
    regret,
    reward,
)
from slotwise.choice.position_based import PositionBased
from slotwise.choice.registry import ChoiceModelEntry, choice_model, choice_models
from slotwise.choice.user_browsing import UserBrowsing
from slotwise.registry import import_modules

import_modules(__name__, __path__)

__all__ = [
    "MNL",
    "Cascade",
    "ChoiceModelEntry",
    "DependentClick",
    "PositionBased",
    "UserBrowsing",
    "best_ranking",
    "best_ranking_by_brute_force",
    "choice_model",
    "choice_models",
    "click_probabilities",
    "click_rates",
    "draw",
    "draw_clicks",
    "draw_many",
    "first_click",
    "may_click_several",
    "mixture",
    "probability_of",
    "regret",
    "reward",
]
