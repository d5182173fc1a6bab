"""Concentration with known position bias: Theorem 1 and Lemma 3 of Grant and Leslie, as intervals from a tally.

An item's clicks N_j over complete epochs are a sum of geometric variables with means γ = λ_kα_j, adaptively chosen, so
N_j - αΛ_j is a martingale with Λ_j = Σ_k λ_kÑ_kj. All intervals assume γ ≤ 1, as the paper does.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from slotwise.core.tally import Tally
from slotwise.core.types import FloatArray
from slotwise.estimators import known_bias
from slotwise.estimators.uncertainty.intervals import Intervals, checked_level
from slotwise.theory.interval_kinds import around, complete_epochs


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
    return around(mean, half, level)


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
    return around(mean, half, max(0.0, 1.0 - 6.0 / (tally.items * epochs)))


def _sums(tally: Tally, position_bias: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    """N_j, Λ_j = Σ λÑ and Σ λ²Ñ, per item."""
    bias = known_bias(tally, position_bias).position_bias
    return tally.clicks.sum(axis=0).astype(float), bias @ tally.passes, bias**2 @ tally.passes


def _log_term(tally: Tally) -> tuple[float, int]:
    epochs = complete_epochs(tally)
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
