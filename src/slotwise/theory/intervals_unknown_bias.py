"""Concentration with unknown position bias: Theorem 2 and Corollary 1 of Grant and Leslie.

Theorem 2 bounds how far a function of geometric data strays from its mean; Corollary 1 applies it to Algorithm 1's α.
Three assumptions of the corollary do not hold, so trust the measured coverage instead: the estimate is biased; β is
taken
at the data and not at its supremum over all data; and the clicks of an epoch are dependent. The paper states Theorem 2
with the smaller of two exponents. Its proof gives the first up to a certain deviation and the second, larger one
beyond;
`theorem_2` follows the proof.
"""

from __future__ import annotations

import math

import numpy as np

from slotwise.core.errors import InvalidInput
from slotwise.core.tally import Tally
from slotwise.estimators import algorithm_1, sensitivity
from slotwise.estimators.uncertainty.intervals import Intervals, checked_level
from slotwise.theory.interval_kinds import around, complete_epochs

#: p ≥ ½ for every slot, since γ ≤ 1: the M of Corollary 1, which the paper rounds up to 9
WORST_P = 0.5


def smoothing_constant(p: float) -> float:
    """M = √(1-p) / (p (1 - (1-p)^¼)): M_G of the proof at half of its range.

    Parameters
    ----------
    p
        The smallest parameter of the geometric data, in (0, 1).

    Examples
    --------
    >>> round(smoothing_constant(0.5), 2)
    8.89
    """
    q = 1.0 - p
    return float(math.sqrt(q) / (p * (1.0 - q**0.25)))


def theorem_2(deviation: float, beta_1: float, beta_2: float, p: float = WORST_P) -> float:
    """A bound on P(F ≥ E F + deviation) for a (β_1, β_2)-smooth F of geometric data with parameters at least p.

    exp(-δ²/(4β_1²M)) up to δ = -log(1-p) β_1²M/β_2, and exponential in δ beyond.

    Parameters
    ----------
    deviation
        δ, positive.
    beta_1, beta_2
        The smoothness of F, positive.
    p
        The smallest parameter of the geometric data, in (0, 1).

    Returns
    -------
    float
        A probability.

    Examples
    --------
    >>> round(theorem_2(3.0, beta_1=0.2, beta_2=0.01), 4)
    0.0018
    """
    _check(p, deviation=deviation, beta_1=beta_1, beta_2=beta_2)
    spread = beta_1**2 * smoothing_constant(p)
    steepest = -math.log(1.0 - p) / (2.0 * beta_2)
    slope = min(deviation / (2.0 * spread), steepest)
    return math.exp(slope**2 * spread - slope * deviation)


def theorem_2_radius(level: float, beta_1: float, beta_2: float, p: float = WORST_P) -> float:
    """The deviation that `theorem_2` allows with probability 1 - level, both sides together.

    Parameters
    ----------
    level
        The coverage, in (0, 1).
    beta_1, beta_2
        The smoothness of F, positive.
    p
        The smallest parameter of the geometric data, in (0, 1).
    """
    _check(p, beta_1=beta_1, beta_2=beta_2)
    log_c = math.log(2.0 / (1.0 - checked_level(level)))
    spread = beta_1**2 * smoothing_constant(p)
    gaussian = math.sqrt(4.0 * spread * log_c)
    steepest = -math.log(1.0 - p) / (2.0 * beta_2)
    return gaussian if gaussian / (2.0 * spread) <= steepest else log_c / steepest + steepest * spread


def theorem_2_intervals(tally: Tally, level: float = 0.95) -> Intervals:
    """Algorithm 1's α ± the radius of Theorem 2, with β_1 and β_2 by formula at the data.

    Parameters
    ----------
    tally
        Clicks and passes, slots × items.
    level
        The coverage, in (0, 1).
    """
    estimate = algorithm_1(tally)
    beta_1 = sensitivity(tally)
    # β_2 is the largest single difference; √(β² / Ñ) of the least shown pair bounds it from above
    fewest = np.where(tally.passes > 0, tally.passes, np.inf).min()
    radius = np.array(
        [
            theorem_2_radius(level, beta, beta / math.sqrt(fewest)) if math.isfinite(beta) and beta > 0 else math.inf
            for beta in beta_1
        ]
    )
    return around(estimate.attractiveness, radius, level)


def corollary_1(tally: Tally, *, method: str = "analytic") -> Intervals:
    """Algorithm 1's α ± √(36 β² log(Jl²)) after l epochs; level 1 - 2/(Jl²) in the paper.

    Parameters
    ----------
    tally
        Clicks and passes, slots × items, with at least one round without a click.
    method
        How `slotwise.estimators.sensitivity` computes β.
    """
    epochs = complete_epochs(tally)
    beta = sensitivity(tally, method=method)
    radius = np.sqrt(36.0 * beta**2 * math.log(tally.items * epochs**2))
    return around(algorithm_1(tally).attractiveness, radius, max(0.0, 1.0 - 2.0 / (tally.items * epochs**2)))


def _check(p: float, **positive: float) -> None:
    for name, value in positive.items():
        if not value > 0:
            raise InvalidInput(f"{name} must be positive, got {value!r}")
    if not 0.0 < p < 1.0:
        raise InvalidInput(f"p must be between 0 and 1, got {p!r}")
