"""What an engineer holds: named items, one policy, what was seen, and what it says."""

from slotwise.ranker.estimates import Estimates, ItemEstimate
from slotwise.ranker.learner import Learner
from slotwise.ranker.ranker import Ranker, Ranking

__all__ = ["Estimates", "ItemEstimate", "Learner", "Ranker", "Ranking"]
