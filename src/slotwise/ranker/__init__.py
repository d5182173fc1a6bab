"""Rank named items in a Python process: the `Ranker`, and the `Learner` that it shares with the service."""

from slotwise.ranker.estimates import Estimates, ItemEstimate
from slotwise.ranker.learner import Learner
from slotwise.ranker.ranker import Ranker, Ranking

__all__ = ["Estimates", "ItemEstimate", "Learner", "Ranker", "Ranking"]
