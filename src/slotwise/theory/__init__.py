"""The paper's bounds on regret, as functions."""

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
    "RegretBounds",
    "compute_regret_bounds",
    "hard_instance",
    "hardest_gap",
    "hardest_problem",
    "lower_bound",
    "lower_bound_shape",
    "upper_bound_known_bias",
    "upper_bound_unknown_bias",
]
