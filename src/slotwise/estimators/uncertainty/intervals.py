"""Intervals around estimates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from slotwise.core.errors import InvalidInput
from slotwise.core.types import FloatArray


@dataclass(frozen=True, eq=False)
class Intervals:
    """An interval per item for its attractiveness, or per slot for its position bias.

    Parameters
    ----------
    low, high
        The ends of each interval.
    level
        The probability that an interval covers its true value.
    """

    low: FloatArray
    high: FloatArray
    level: float

    @property
    def width(self) -> FloatArray:
        """high - low."""
        return self.high - self.low

    def __getitem__(self, which: slice) -> Intervals:
        """Return the intervals of a slice of items or slots."""
        return Intervals(self.low[which], self.high[which], self.level)

    def covers(self, values: ArrayLike) -> Any:
        """Return whether each interval covers the given value."""
        return (self.low <= np.asarray(values)) & (np.asarray(values) <= self.high)


class EstimateIntervals(NamedTuple):
    """The intervals around an estimate.

    Parameters
    ----------
    attractiveness
        An interval per item.
    position_bias
        An interval per slot.
    """

    attractiveness: Intervals
    position_bias: Intervals


#: from estimates, the standard errors of their logarithms and a level to intervals
Around = Callable[[FloatArray, FloatArray, float], Intervals]


def around_logarithm(middle: FloatArray, log_error: FloatArray, level: float) -> Intervals:
    """Return middle · exp(±zσ), with σ the standard error of the logarithm; (0, ∞) if either is not a number."""
    # imported here: it takes half a second, and decisions do not need it
    from scipy.special import ndtri

    is_known = np.isfinite(middle) & np.isfinite(log_error) & (middle > 0)
    with np.errstate(over="ignore"):
        factor = np.exp(ndtri(0.5 + checked_level(level) / 2.0) * np.where(is_known, log_error, 0.0))
    known_middle = np.where(is_known, middle, 0.0)
    return Intervals(known_middle / factor, np.where(is_known, known_middle * factor, np.inf), level)


def around_mean(middle: FloatArray, log_error: FloatArray, level: float) -> Intervals:
    """Return the quantiles of the Gamma distribution with this mean and the standard deviation σ·mean.

    For a small σ it is the interval of `around_logarithm`; for a large σ it reaches down to nearly 0. It always covers
    the mean, for any level; if σ is 0 it is the mean.
    """
    from scipy.special import gammainccinv, gammaincinv

    outside = (1.0 - checked_level(level)) / 2.0
    is_exact = log_error == 0.0
    shape = 1.0 / np.square(np.where(is_exact, 1.0, log_error))
    low, high = (
        np.where(is_exact, middle, middle * quantile(shape, outside) / shape)
        for quantile in (gammaincinv, gammainccinv)
    )
    return Intervals(low, np.maximum(high, middle), level)


def around_scaled_mean(own_error: FloatArray) -> Around:
    """Return the interval function of a product: a Gamma-distributed factor, and a scale whose logarithm is normal.

    The factor has a standard deviation of `own_error` times its mean and the interval of `around_mean`; the scale has
    the remaining variance. On the log scale, the distance of either end from the middle is the root of the sum of the
    two squared distances (Zou and Donner, Construction of confidence limits about effect measures, 2008).

    >>> both = around_scaled_mean(np.array([0.5]))
    >>> both(np.ones(1), np.array([0.5]), 0.95).high.round(2), both(np.ones(1), np.array([1.0]), 0.95).high.round(2)
    (array([2.19]), array([6.49]))
    """

    def around(middle: FloatArray, log_error: FloatArray, level: float) -> Intervals:
        from scipy.special import ndtri

        own = np.minimum(own_error, log_error)
        factor = around_mean(np.ones_like(own), own, level)
        scale = ndtri(0.5 + level / 2.0) * np.sqrt(log_error**2 - own**2)
        with np.errstate(divide="ignore", over="ignore"):
            low, high = (np.exp(np.hypot(np.log(end), scale)) for end in (factor.low, factor.high))
        return Intervals(middle / low, middle * high, level)

    return around


def checked_level(level: float) -> float:
    """Return the level if it is between 0 and 1."""
    if not 0.0 < level < 1.0:
        raise InvalidInput(f"level must be between 0 and 1, got {level!r}")
    return level


#: Newton steps of `limit_without_clicks`; near the solution each doubles the digits
_MAX_STEPS = 60


def limit_without_clicks(weights: FloatArray, passes: FloatArray, level: float) -> FloatArray:
    """Return the upper limit x of each column without clicks: Π_k (1 + weights_k·x)^-passes_k = (1 - level)/2.

    A visit that clicks either on the item in slot k or on nothing clicks on nothing with probability 1/(1 + γ_k), so
    the left side is the probability of no click in all passes: exact, given the weights.
    """
    target = -np.log((1.0 - checked_level(level)) / 2.0)
    exposure = weights @ passes
    with np.errstate(divide="ignore"):
        limit = target / exposure
    finite = np.isfinite(limit)
    # the sum of logarithms is concave and starts below the target, so Newton steps never overshoot
    at, passed = limit[finite], passes[:, finite]
    for _ in range(_MAX_STEPS):
        silence = sum(count * np.log1p(weight * at) for weight, count in zip(weights, passed, strict=True))
        slope = sum(count * weight / (1.0 + weight * at) for weight, count in zip(weights, passed, strict=True))
        step = (target - silence) / slope
        at = at + step
        if not (step > 1e-12 * at).any():
            break
    limit[finite] = at
    return np.asarray(limit)
