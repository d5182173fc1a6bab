"""Concentration inequalities of Grant and Leslie, as confidence intervals from a tally.

Known position bias, Theorem 1 and Lemma 3: an item's clicks N_j over complete epochs are a sum of geometric variables
with means γ = λ_kα_j, adaptively chosen, so N_j - αΛ_j is a martingale with Λ_j = Σ_k λ_kÑ_kj. All intervals assume
γ ≤ 1, as the paper does.

Unknown position bias: Theorem 2 bounds how far a function of geometric data strays from its mean; Corollary 1 applies
it to Algorithm 1's α. Three assumptions of the corollary do not hold, so trust the measured coverage instead: the
estimate is biased; β is taken at the data and not at its supremum over all data; and the clicks of an epoch are
dependent. The paper states Theorem 2 with the smaller of two exponents. Its proof gives the first up to a certain
deviation and the second, larger one beyond; `theorem_2` follows the proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from slotwise.core.errors import InvalidInput
from slotwise.core.tally import Tally
from slotwise.core.types import FloatArray
from slotwise.estimators import algorithm_1, known_bias, sensitivity
from slotwise.estimators.uncertainty.intervals import Intervals, checked_level

#: p ≥ ½ for every slot, since γ ≤ 1: the M of Corollary 1, which the paper rounds up to 9
WORST_P = 0.5


def theorem_1(tally: Tally, position_bias: ArrayLike, level: float = 0.95) -> Intervals:
    """The α with |N - αΛ| ≤ √(2 Σσ² log C) + 4 log C, where Σσ² = Σ_kÑ_k(γ + γ²) and 2/C = 1 - level.

    σ² is evaluated at the candidate α, so the interval depends on the data only.

    Parameters
    ----------
    tally
        Clicks and passes, slots × items.
    position_bias
        λ, per slot.
    level
        The coverage, in (0, 1).
    """
    log_c = math.log(2.0 / (1.0 - checked_level(level)))
    clicks, exposure, second = _sums(tally, position_bias)

    def slack(alpha: FloatArray) -> FloatArray:
        return np.sqrt(2.0 * (alpha * exposure + alpha**2 * second) * log_c) + 4.0 * log_c

    return _inverted(clicks, exposure, slack, level)


def theorem_1_from_data(tally: Tally, position_bias: ArrayLike, level: float = 0.95) -> Intervals:
    """ᾱ ± (√(8 N log C) + 4 log C)/Λ with 4/C = 1 - level.

    The paper proves it for Σμ ≥ 8 log C + √(8 Σσ² log C), that is after enough epochs; the data do not show when.

    Parameters
    ----------
    tally
        Clicks and passes, slots × items.
    position_bias
        λ, per slot.
    level
        The coverage, in (0, 1).
    """
    log_c = math.log(4.0 / (1.0 - checked_level(level)))
    clicks, exposure, _ = _sums(tally, position_bias)
    with np.errstate(divide="ignore", invalid="ignore"):
        half = (np.sqrt(8.0 * clicks * log_c) + 4.0 * log_c) / exposure
        mean = clicks / exposure
    return _around(mean, half, level)


def lemma_3(tally: Tally, position_bias: ArrayLike) -> Intervals:
    """The α with |ᾱ - α| ≤ √(4αc/Λ) + 4c/Λ, c = log(Jl²/2) after l epochs; level 1 - 4/(Jl).

    Parameters
    ----------
    tally
        Clicks and passes, slots × items, with at least one round without a click.
    position_bias
        λ, per slot.
    """
    c, epochs = _log_term(tally)
    clicks, exposure, _ = _sums(tally, position_bias)

    def slack(alpha: FloatArray) -> FloatArray:
        return np.sqrt(4.0 * alpha * exposure * c) + 4.0 * c

    return _inverted(clicks, exposure, slack, max(0.0, 1.0 - 4.0 / (tally.items * epochs)))


def lemma_3_from_data(tally: Tally, position_bias: ArrayLike) -> Intervals:
    """ᾱ ± (√(8ᾱc/Λ) + 8c/Λ), c = log(Jl²/2) after l epochs; level 1 - 6/(Jl).

    Parameters
    ----------
    tally
        Clicks and passes, slots × items, with at least one round without a click.
    position_bias
        λ, per slot.
    """
    c, epochs = _log_term(tally)
    clicks, exposure, _ = _sums(tally, position_bias)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = clicks / exposure
        half = np.sqrt(8.0 * mean * c / exposure) + 8.0 * c / exposure
    return _around(mean, half, max(0.0, 1.0 - 6.0 / (tally.items * epochs)))


def _sums(tally: Tally, position_bias: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    """N_j, Λ_j = Σ λÑ and Σ λ²Ñ, per item."""
    bias = known_bias(tally, position_bias).position_bias
    return tally.clicks.sum(axis=0).astype(float), bias @ tally.passes, bias**2 @ tally.passes


def _log_term(tally: Tally) -> tuple[float, int]:
    epochs = _complete_epochs(tally)
    return max(0.0, math.log(tally.items * epochs**2 / 2.0)), epochs


def _inverted(
    clicks: FloatArray, exposure: FloatArray, slack: Callable[[FloatArray], FloatArray], level: float
) -> Intervals:
    """The α with |clicks - α·exposure| ≤ slack(α): bisection on either side of the estimate."""
    never = exposure == 0
    safe = np.where(never, 1.0, exposure)
    mean = clicks / safe
    below, low = np.zeros_like(mean), mean.copy()
    high, above = mean.copy(), mean + 1.0
    unbounded = np.ones_like(mean, dtype=bool)
    for _ in range(60):
        unbounded = above * safe - clicks <= slack(above)
        if not unbounded.any():
            break
        above = np.where(unbounded, 2.0 * above, above)
    low = np.where(clicks - below * safe <= slack(below), 0.0, low)
    for _ in range(80):
        middle = (below + low) / 2.0
        held = clicks - middle * safe <= slack(middle)
        low, below = np.where(held, middle, low), np.where(held, below, middle)
        middle = (high + above) / 2.0
        held = middle * safe - clicks <= slack(middle)
        high, above = np.where(held, middle, high), np.where(held, above, middle)
    return Intervals(np.where(never, 0.0, low), np.where(never | unbounded, np.inf, high), level)


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
    return _around(estimate.attractiveness, radius, level)


def corollary_1(tally: Tally) -> Intervals:
    """Algorithm 1's α ± √(36 β² log(Jl²)) after l epochs; level 1 - 2/(Jl²) in the paper.

    Parameters
    ----------
    tally
        Clicks and passes, slots × items, with at least one round without a click.
    """
    epochs = _complete_epochs(tally)
    beta = sensitivity(tally)
    radius = np.sqrt(36.0 * beta**2 * math.log(tally.items * epochs**2))
    return _around(algorithm_1(tally).attractiveness, radius, max(0.0, 1.0 - 2.0 / (tally.items * epochs**2)))


def _check(p: float, **positive: float) -> None:
    for name, value in positive.items():
        if not value > 0:
            raise InvalidInput(f"{name} must be positive, got {value!r}")
    if not 0.0 < p < 1.0:
        raise InvalidInput(f"p must be between 0 and 1, got {p!r}")


def _around(middle: FloatArray, half: FloatArray, level: float) -> Intervals:
    """Return middle ± half, cut off at 0; [0, ∞) if either is not finite, as for an item never shown."""
    finite = np.isfinite(middle) & np.isfinite(half)
    low = np.where(finite, np.maximum(0.0, np.where(finite, middle - half, 0.0)), 0.0)
    return Intervals(low, np.where(finite, middle + half, np.inf), level)


def _complete_epochs(tally: Tally) -> int:
    """Return l, the number of rounds without a click; at least one is required."""
    epochs = int(tally.passes.sum(axis=1).max())
    if epochs < 1:
        raise InvalidInput("the tally must hold at least one complete epoch, got none")
    return epochs
