"""The click rate that an estimate expects of lists, and how sure it is.

A list with S = Σ_k γ_k is clicked with probability r = S/(1 + S), so that log S is the logit of r. To first order its
error is that of the mean of log γ_k, weighted by γ_k/S, given how the parameters vary together.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtri

from slotwise.core.types import EMPTY, FloatArray, IntArray
from slotwise.estimators import Estimate
from slotwise.estimators.uncertainty.intervals import limit_without_clicks

#: of every interval that is reported
LEVEL = 0.95


class Rate(NamedTuple):
    """A click rate with an interval; NaN where it is not known."""

    click_rate: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float | None]:
        """Return plain numbers; None for a number that is not finite."""
        return {name: value if math.isfinite(value) else None for name, value in self._asdict().items()}


#: a click rate that the log does not determine
UNKNOWN = Rate(math.nan, 0.0, 1.0)


def expected_rate(estimate: Estimate, lists: IntArray, chances: FloatArray, level: float = 0.95) -> Rate:
    """The click rate of showing each of `lists`, a row each, EMPTY where there is nothing, with its probability.

    An item or slot that was never clicked adds nothing to the rate, and to the interval's upper end what its silence
    still allows. Where a pair of the lists cannot be compared with the others, the interval goes up to 1.

    >>> from slotwise import Tally
    >>> from slotwise.estimators import scaling
    >>> estimate = scaling(Tally(np.array([[30, 12], [8, 21]]), np.array([[50, 50], [50, 50]])))
    >>> [round(value, 2) for value in expected_rate(estimate, np.array([[0, 1]]), np.ones(1))]
    [0.42, 0.35, 0.49]
    """
    is_known, silent = _pairs(estimate, lists)
    unsaid = (lists != EMPTY) & ~is_known & ~silent
    with np.errstate(invalid="ignore"):
        gamma = np.where(is_known, estimate.position_bias * estimate.attractiveness[np.maximum(lists, 0)], 0.0)
    total = gamma.sum(axis=1)
    rates = total / (1.0 + total)
    middle = float(chances @ rates)
    low = high = middle
    if 0.0 < middle < 1.0:
        weights = np.zeros((len(estimate.position_bias), len(estimate.attractiveness)))
        list_weights = chances * rates * (1.0 - rates) / (middle * (1.0 - middle))
        shares = np.divide(gamma, total[:, None], out=np.zeros_like(gamma), where=total[:, None] > 0)
        row, slot = np.nonzero(is_known & (gamma > 0))
        np.add.at(weights, (slot, lists[row, slot]), (list_weights[:, None] * shares)[row, slot])
        low, high = _around(middle, estimate.log_error_of(weights), level)
    if silent.any():
        high = _with_silence(estimate, lists, chances, silent, high, level)
    if unsaid.any() or math.isnan(low):
        return Rate(math.nan if unsaid.any() else middle, 0.0 if math.isnan(low) else low, 1.0)
    return Rate(middle, low, high)


def around(middle: float, logit_error: float, level: float = 0.95) -> Rate:
    """A rate with an interval that is symmetric on the logit scale."""
    return Rate(middle, *_around(middle, logit_error, level))


def wilson(rate: float, count: float, level: float) -> tuple[float, float]:
    """The score interval of a proportion, which does not shrink to a point at 0 or 1."""
    z = float(ndtri(0.5 + level / 2.0)) ** 2
    middle = (rate + z / (2.0 * count)) / (1.0 + z / count)
    far = math.sqrt(z * (rate * (1.0 - rate) / count + z / (4.0 * count**2))) / (1.0 + z / count)
    return max(0.0, middle - far), min(1.0, middle + far)


def _around(middle: float, logit_error: float, level: float) -> tuple[float, float]:
    far = float(ndtri(0.5 + level / 2.0)) * logit_error
    return float(expit(logit(middle) - far)), float(expit(logit(middle) + far))


def _pairs(estimate: Estimate, lists: IntArray) -> tuple[np.ndarray, np.ndarray]:
    """Which places of the lists have odds that the data determine, and which were never clicked but are bounded."""
    slot_parts, item_parts = estimate.parts
    filled, items = lists != EMPTY, np.maximum(lists, 0)
    uncertainty = estimate.uncertainty
    tied = slot_parts == slot_parts[0]
    item_tied, item_silent = item_parts[items] == slot_parts[0], uncertainty.silent_items[items]
    quiet = (item_silent & (tied | uncertainty.silent_slots)) | (uncertainty.silent_slots & item_tied)
    is_known = (slot_parts == item_parts[items]) & np.isfinite(estimate.attractiveness[items])
    silent = filled & quiet & ~is_known
    return filled & is_known & ~silent, silent


def _with_silence(
    estimate: Estimate, lists: IntArray, chances: FloatArray, silent: np.ndarray, high: float, level: float
) -> float:
    if not estimate.uncertainty.at_rest:
        return 1.0
    slot, item = np.nonzero(silent)[1], lists[silent]
    extra = np.zeros(lists.shape)
    extra[silent] = _limits(estimate, level, slot, item)
    odds = high / (1.0 - high) + float(chances @ extra.sum(axis=1)) if high < 1.0 else math.inf
    return odds / (1.0 + odds) if math.isfinite(odds) else 1.0


def _limits(estimate: Estimate, level: float, slots: IntArray, items: IntArray) -> FloatArray:
    """The largest odds that silence allows each of these pairs, as in `Estimate.intervals`, for these alone."""
    uncertainty = estimate.uncertainty
    bias, alpha = (
        np.where(np.isfinite(estimates), estimates, 0.0)
        for estimates in (estimate.position_bias, estimate.attractiveness)
    )
    weights, values = bias[slots], alpha[items]
    quiet = uncertainty.silent_items[items]
    values[quiet] = limit_without_clicks(bias, uncertainty.passes[:, items[quiet]], level)
    quiet = uncertainty.silent_slots[slots]
    weights[quiet] = limit_without_clicks(alpha, uncertainty.passes[slots[quiet]].T, level) if quiet.any() else 0.0
    return np.asarray(weights * values)
