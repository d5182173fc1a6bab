"""Estimators: functions of a tally, one a file, and how much one more click moves them."""

from slotwise.estimate.algorithm_1 import algorithm_1
from slotwise.estimate.identifiability import groups, is_identifiable
from slotwise.estimate.known_bias import known_bias
from slotwise.estimate.result import Estimate
from slotwise.estimate.scaling import scaling
from slotwise.estimate.sensitivity import sensitivity

#: the estimators of attractiveness and unknown position bias from a tally alone, by name
ESTIMATORS = {"algorithm-1": algorithm_1, "scaling": scaling}

__all__ = [
    "ESTIMATORS",
    "Estimate",
    "algorithm_1",
    "groups",
    "is_identifiable",
    "known_bias",
    "scaling",
    "sensitivity",
]
