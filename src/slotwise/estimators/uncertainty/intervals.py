"""What every interval function answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from slotwise.core.errors import InvalidInput
from slotwise.core.types import FloatArray


@dataclass(frozen=True, eq=False)
class Intervals:
    """An interval per item for its attractiveness, or per slot for its position bias."""

    low: FloatArray
    high: FloatArray
    #: the probability with which one interval is meant to hold its true value
    level: float

    @property
    def width(self) -> FloatArray:
        """high - low."""
        return self.high - self.low

    def __getitem__(self, which: slice) -> Intervals:
        """Those of some items or slots."""
        return Intervals(self.low[which], self.high[which], self.level)

    def covers(self, values: Any) -> Any:
        """Whether each interval holds the given value."""
        return (self.low <= np.asarray(values)) & (np.asarray(values) <= self.high)


class EstimateIntervals(NamedTuple):
    """The intervals around an estimate."""

    attractiveness: Intervals
    position_bias: Intervals


#: from estimates, the standard errors of their logarithms and a level to intervals
Around = Callable[[FloatArray, FloatArray, float], Intervals]


def around_logarithm(middle: FloatArray, log_error: FloatArray, level: float) -> Intervals:
    """middle · exp(±zσ), σ being the standard error of the logarithm; (0, ∞) where either is not a number."""
    # here, for it takes long to import, and decisions need none of it
    from scipy.special import ndtri

    known = np.isfinite(middle) & np.isfinite(log_error) & (middle > 0)
    with np.errstate(over="ignore"):
        factor = np.exp(ndtri(0.5 + checked_level(level) / 2.0) * np.where(known, log_error, 0.0))
    known_middle = np.where(known, middle, 0.0)
    return Intervals(known_middle / factor, np.where(known, known_middle * factor, np.inf), level)


def around_mean(middle: FloatArray, log_error: FloatArray, level: float) -> Intervals:
    """From quantile to quantile of the Gamma distribution with this mean, and a standard deviation of σ·mean.

    Where σ is small it is the interval of `around_logarithm`; where it is not, an interval of what may well be next to
    nothing reaches down to there. It always holds the mean, however low the level; where σ is 0 it is the mean.
    """
    from scipy.special import gammainccinv, gammaincinv

    outside = (1.0 - checked_level(level)) / 2.0
    known = log_error == 0.0
    shape = 1.0 / np.square(np.where(known, 1.0, log_error))
    low, high = (
        np.where(known, middle, middle * quantile(shape, outside) / shape) for quantile in (gammaincinv, gammainccinv)
    )
    return Intervals(low, np.maximum(high, middle), level)


def around_scaled_mean(own_error: FloatArray) -> Around:
    """The interval of a product: a Gamma-distributed factor, and a scale whose logarithm is normal.

    The first has a standard deviation of `own_error` times its mean, and its interval is that of `around_mean`; the
    second has what is left of the variance. On the log scale, either end is as far from the middle as the root of the
    sum of the squares of how far it is for each (Zou and Donner, Construction of confidence limits about effect
    measures, 2008).

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
    """A probability, neither 0 nor 1."""
    if not 0.0 < level < 1.0:
        raise InvalidInput(f"level must be between 0 and 1, got {level!r}")
    return level


#: sweeps of `limit_without_clicks`; each doubles the digits, after a few to come near
_MAX_STEPS = 60


def limit_without_clicks(weights: FloatArray, passes: FloatArray, level: float) -> FloatArray:
    """The largest x that the silence of each column still allows: Π_k (1 + weights_k·x)^-passes_k = (1 - level)/2.

    Of the visits that clicked either on the item in slot k or on nothing, each clicked on nothing with probability
    1/(1 + γ_k), so the left side is the probability of no click in that many passes: exact, given the weights.
    """
    target = -np.log((1.0 - checked_level(level)) / 2.0)
    exposure = weights @ passes
    with np.errstate(divide="ignore"):
        limit = target / exposure
    finite = np.isfinite(limit)
    # the sum of logarithms is concave and starts below the target, so that Newton steps never pass the solution
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
