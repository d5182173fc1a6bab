"""Estimators: functions of a tally or of rankings, one a file; their errors; how much one more click moves them.

Every module of this folder is imported, and registers what it defines.
"""

from slotwise.estimate.algorithm_1 import algorithm_1
from slotwise.estimate.composite import composite
from slotwise.estimate.identifiability import groups, is_identifiable
from slotwise.estimate.intervals import EstimateIntervals, Intervals
from slotwise.estimate.known_bias import known_bias
from slotwise.estimate.maximum_a_posteriori import maximum_a_posteriori
from slotwise.estimate.maximum_likelihood import maximum_likelihood
from slotwise.estimate.priors import GammaPrior
from slotwise.estimate.registry import EstimatorEntry, estimator, estimators
from slotwise.estimate.result import Estimate
from slotwise.estimate.scaling import scaling
from slotwise.estimate.sensitivity import sensitivity
from slotwise.registry import import_modules

import_modules(__name__, __path__)

#: the estimators of attractiveness and unknown position bias from the data alone, by id; each takes `Rankings`, and all
#: that need no more a `Tally` as well
ESTIMATORS = {entry.id: entry.estimate for entry in estimators() if entry.needs_data_only}

__all__ = [
    "ESTIMATORS",
    "Estimate",
    "EstimateIntervals",
    "EstimatorEntry",
    "GammaPrior",
    "Intervals",
    "algorithm_1",
    "composite",
    "estimator",
    "estimators",
    "groups",
    "is_identifiable",
    "known_bias",
    "maximum_a_posteriori",
    "maximum_likelihood",
    "scaling",
    "sensitivity",
]
