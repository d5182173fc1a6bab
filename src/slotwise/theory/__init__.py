"""The paper's confidence intervals and bounds on regret, as functions."""

from slotwise.estimators.uncertainty.intervals import Intervals
from slotwise.theory.paper_intervals import (
    corollary_1,
    lemma_3,
    lemma_3_from_data,
    smoothing_constant,
    theorem_1,
    theorem_1_from_data,
    theorem_2,
    theorem_2_intervals,
    theorem_2_radius,
)
from slotwise.theory.regret_bounds import (
    RegretBounds,
    compute_regret_bounds,
    hard_instance,
    hardest_gap,
    hardest_problem,
    lower_bound,
    lower_bound_shape,
    upper_bound_known_bias,
    upper_bound_unknown_bias,
)

__all__ = [
    "Intervals",
    "RegretBounds",
    "compute_regret_bounds",
    "corollary_1",
    "hard_instance",
    "hardest_gap",
    "hardest_problem",
    "lemma_3",
    "lemma_3_from_data",
    "lower_bound",
    "lower_bound_shape",
    "smoothing_constant",
    "theorem_1",
    "theorem_1_from_data",
    "theorem_2",
    "theorem_2_intervals",
    "theorem_2_radius",
    "upper_bound_known_bias",
    "upper_bound_unknown_bias",
]
