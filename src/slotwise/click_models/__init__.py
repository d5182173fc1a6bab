"""Click models: how users choose, one model per file. Importing the package registers every model of the folder."""

from slotwise.click_models.base import (
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
from slotwise.click_models.cascade import Cascade
from slotwise.click_models.dependent_click import DependentClick
from slotwise.click_models.mixture_model import mixture
from slotwise.click_models.mnl import MNL, draw_many
from slotwise.click_models.model_registry import ChoiceModelEntry, choice_model, choice_models
from slotwise.click_models.position_based import PositionBased
from slotwise.click_models.user_browsing import UserBrowsing
from slotwise.core.registry import import_modules

import_modules(__name__, __path__, "slotwise.click_models")

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
