"""Rank things on a page whose slots are not equally visible, and learn from what is clicked."""

from slotwise.choice import MNL
from slotwise.lists import Goal
from slotwise.policies import Setting, policies, policy
from slotwise.ranker import Ranker
from slotwise.rankings import Rankings
from slotwise.simulate import Results, simulate
from slotwise.tally import Tally
from slotwise.typing import EMPTY, NO_CLICK

__all__ = [
    "EMPTY",
    "MNL",
    "NO_CLICK",
    "Goal",
    "Ranker",
    "Rankings",
    "Results",
    "Setting",
    "Tally",
    "policies",
    "policy",
    "simulate",
]
