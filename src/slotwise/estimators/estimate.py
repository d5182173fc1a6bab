"""What every estimator answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from slotwise.core.types import BoolArray, FloatArray, IntArray
from slotwise.estimators.uncertainty.intervals import (
    Around,
    EstimateIntervals,
    Intervals,
    around_logarithm,
    limit_without_clicks,
)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What an estimate is uncertain by; computed when it is asked for."""

    #: the standard errors of log α and log λ, NaN where there is none
    log_errors: Callable[[], tuple[FloatArray, FloatArray]]
    #: the passes, slots × items, and which items and slots stood in them without a single click
    passes: FloatArray
    silent_items: BoolArray
    silent_slots: BoolArray
    #: whether the iteration came to rest for all that has a finite answer
    at_rest: bool
    #: the parts that the data compare with each other, for each slot and for each item
    parts: Callable[[], tuple[IntArray, IntArray]]
    #: the standard error of Σ_j c_j log α_j + Σ_k e_k log λ_k, for c and e
    log_error_of: Callable[[FloatArray, FloatArray], float]
    #: from α and the standard error of its logarithm to its interval
    around: Around = around_logarithm
    #: the same for λ
    around_slots: Around = around_logarithm


@dataclass(frozen=True, eq=False)
class Estimate:
    """Attractiveness and position bias, with an honest word on whether to trust them."""

    #: α, per item; NaN for an item that was never shown
    attractiveness: FloatArray
    #: λ, per slot, relative to the first slot unless it was given
    position_bias: FloatArray
    #: whether the iteration came to rest, with finite values for all that was clicked; never without any click
    converged: bool
    #: whether the data determine every parameter: see `slotwise.estimators.identifiability`
    identifiable: bool
    #: how many sweeps over the data it took
    sweeps: int
    #: what the standard errors and intervals are made of
    evidence: Evidence = field(repr=False)

    @property
    def attractiveness_error(self) -> FloatArray:
        """The standard error of α, per item; NaN where the data do not give one, as without any click."""
        return self.attractiveness * self._log_errors[0]

    @property
    def position_bias_error(self) -> FloatArray:
        """The standard error of λ, per slot: 0 for the first slot and for a bias that was given, NaN as above."""
        return self.position_bias * self._log_errors[1]

    def intervals(self, level: float = 0.95) -> EstimateIntervals:
        """Intervals that are symmetric on the log scale, for α and for λ; of what is believed, Gamma quantiles.

        An item or slot that was shown and never clicked has an interval from 0 up to where its silence would have had a
        probability of (1 - level)/2, the other parameters taken as estimated. What the data do not determine, or an
        iteration that did not come to rest has left anywhere, has (0, ∞).

        >>> from slotwise import Tally
        >>> from slotwise.estimators import scaling
        >>> estimate = scaling(Tally(np.array([[30, 12], [8, 21]]), np.array([[50, 50], [50, 50]])))
        >>> alpha, bias = estimate.intervals(0.9)
        >>> alpha.low.round(2), alpha.high.round(2), bias.low.round(2), bias.high.round(2)
        (array([0.32, 0.27]), array([0.64, 0.56]), array([1.  , 0.46]), array([1.  , 1.03]))
        """
        of_items, of_slots = self._log_errors
        alpha = self.evidence.around(self.attractiveness, of_items, level)
        bias = self.evidence.around_slots(self.position_bias, of_slots, level)
        if self.evidence.at_rest:
            known = self.evidence
            alpha = _silenced(alpha, known.silent_items, self.position_bias, known.passes)
            bias = _silenced(bias, known.silent_slots, self.attractiveness, known.passes.T)
        return EstimateIntervals(alpha, bias)

    def log_error_of(self, weights: FloatArray) -> float:
        """The standard error of Σ_kj w_kj log γ_kj, γ_kj = λ_kα_j, for weights w, slots × items.

        Unlike the errors of the parameters one by one it takes into account how they vary together. NaN where a pair
        with weight joins parts that the data do not compare; within such parts γ is determined even if α and λ are not.

        >>> from slotwise import Tally
        >>> from slotwise.estimators import scaling
        >>> estimate = scaling(Tally(np.array([[30, 12], [8, 21]]), np.array([[50, 50], [50, 50]])))
        >>> round(estimate.log_error_of(np.array([[0.6, 0.0], [0.0, 0.4]])), 3)
        0.156
        """
        slots, items = self.parts
        used = np.nonzero(weights)
        if not self.evidence.at_rest or (slots[used[0]] != items[used[1]]).any():
            return float("nan")
        return self.evidence.log_error_of(weights.sum(axis=0), weights.sum(axis=1))

    @cached_property
    def parts(self) -> tuple[IntArray, IntArray]:
        """The parts that the data compare with each other, numbered, for each slot and for each item."""
        return self.evidence.parts()

    @cached_property
    def _log_errors(self) -> tuple[FloatArray, FloatArray]:
        if not self.evidence.at_rest:
            return np.full_like(self.attractiveness, np.nan), np.full_like(self.position_bias, np.nan)
        return self.evidence.log_errors()


def _silenced(intervals: Intervals, silent: BoolArray, weights: FloatArray, passes: FloatArray) -> Intervals:
    """The intervals with an upper end, where there was never a click, that the silence allows."""
    if not silent.any():
        return intervals
    high = intervals.high.copy()
    high[silent] = limit_without_clicks(
        np.where(np.isfinite(weights), weights, 0.0), passes[:, silent], intervals.level
    )
    return Intervals(intervals.low, high, intervals.level)
