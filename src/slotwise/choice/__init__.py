"""How users choose, one model a file. Every module of this folder is imported, and registers what it defines."""

import importlib
import pkgutil

from slotwise.choice.mnl import MNL, draw_many
from slotwise.choice.model import (
    best_ranking,
    best_ranking_by_brute_force,
    click_probabilities,
    draw,
    regret,
    reward,
)
from slotwise.choice.registry import ChoiceModelEntry, choice_model, choice_models

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = [
    "MNL",
    "ChoiceModelEntry",
    "best_ranking",
    "best_ranking_by_brute_force",
    "choice_model",
    "choice_models",
    "click_probabilities",
    "draw",
    "draw_many",
    "regret",
    "reward",
]
