"""Estimators: functions of a tally or of rankings, one a file; their errors; how much one more click moves them."""

from slotwise.estimate.algorithm_1 import algorithm_1
from slotwise.estimate.composite import composite
from slotwise.estimate.identifiability import groups, is_identifiable
from slotwise.estimate.intervals import EstimateIntervals, Intervals
from slotwise.estimate.known_bias import known_bias
from slotwise.estimate.maximum_a_posteriori import maximum_a_posteriori
from slotwise.estimate.maximum_likelihood import maximum_likelihood
from slotwise.estimate.priors import GammaPrior
from slotwise.estimate.result import Estimate
from slotwise.estimate.scaling import scaling
from slotwise.estimate.sensitivity import sensitivity

#: the estimators of attractiveness and unknown position bias from the data alone, by name; each takes `Rankings`, and
#: all but maximum likelihood a `Tally` as well
ESTIMATORS = {
    "algorithm-1": algorithm_1,
    "scaling": scaling,
    "composite": composite,
    "maximum-likelihood": maximum_likelihood,
}

__all__ = [
    "ESTIMATORS",
    "Estimate",
    "EstimateIntervals",
    "GammaPrior",
    "Intervals",
    "algorithm_1",
    "composite",
    "groups",
    "is_identifiable",
    "known_bias",
    "maximum_a_posteriori",
    "maximum_likelihood",
    "scaling",
    "sensitivity",
]
