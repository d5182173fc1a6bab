"""Estimators of attractiveness and position bias from a tally or from rankings, one per file.

Importing the package registers every estimator of the folder.
"""

from slotwise.core.registry import import_modules
from slotwise.estimators.algorithm_1_sweeps import algorithm_1
from slotwise.estimators.estimate import Estimate
from slotwise.estimators.estimator_registry import EstimatorEntry, estimator, estimators
from slotwise.estimators.gamma_priors import GammaPrior
from slotwise.estimators.identifiability import groups, is_identifiable
from slotwise.estimators.iterative_scaling import scaling
from slotwise.estimators.known_bias_estimator import known_bias
from slotwise.estimators.maximum_a_posteriori_estimator import maximum_a_posteriori
from slotwise.estimators.maximum_likelihood_estimator import maximum_likelihood
from slotwise.estimators.uncertainty.intervals import EstimateIntervals, Intervals
from slotwise.estimators.uncertainty.sensitivity import sensitivity

import_modules(__name__, __path__, "slotwise.estimators")

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
