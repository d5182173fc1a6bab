"""The result of an estimator: attractiveness and position bias with their standard errors and intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from slotwise.core import validation
from slotwise.core.io import frame
from slotwise.core.result_tables import TABLES, Table, records, text_table
from slotwise.core.types import BoolArray, FloatArray, IntArray
from slotwise.estimators.uncertainty.intervals import (
    Around,
    EstimateIntervals,
    Intervals,
    around_logarithm,
    limit_without_clicks,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """The parts from which standard errors and intervals are computed, on demand."""

    #: the standard errors of log α and log λ, NaN where there is none
    log_errors: Callable[[], tuple[FloatArray, FloatArray]]
    #: the passes, slots × items, and the items and slots that were passed and never clicked
    passes: FloatArray
    silent_items: BoolArray
    silent_slots: BoolArray
    #: whether the iteration converged for all parameters that have a finite estimate
    at_rest: bool
    #: the parts that the data compare with each other, for each slot and for each item
    parts: Callable[[], tuple[IntArray, IntArray]]
    #: the standard error of Σ_j c_j log α_j + Σ_k e_k log λ_k, for c and e
    log_error_of: Callable[[FloatArray, FloatArray], float]
    #: from α and the standard error of its logarithm to its interval
    around: Around = around_logarithm
    #: the same for λ
    around_slots: Around = around_logarithm


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """Attractiveness per item and position bias per slot.

    Parameters
    ----------
    attractiveness
        α, per item; NaN for an item that was never shown.
    position_bias
        λ, per slot, relative to the first slot unless it was given.
    converged
        Whether the iteration converged with finite values for everything that was clicked; False without any click.
    identifiable
        Whether the data determine every parameter: see `slotwise.estimators.identifiability`.
    sweeps
        The number of sweeps over the data.
    uncertainty
        The parts of standard errors and intervals.

    Examples
    --------
    >>> from slotwise import Tally
    >>> from slotwise.estimators import scaling
    >>> estimate = scaling(Tally(np.array([[30, 12], [8, 21]]), np.array([[50, 50], [50, 50]])))
    >>> estimate
    <Estimate of 2 items and 2 slots: attractiveness 0.3904 to 0.4496, position bias 0.6905 to 1>
    >>> print(estimate.summary())
    item attractiveness    low   high
       0         0.4496 0.2945 0.6864
       1         0.3904 0.2517 0.6057
    <BLANKLINE>
    slot position_bias    low  high
       1             1      1     1
       2        0.6905 0.4298 1.109
    """

    attractiveness: FloatArray
    position_bias: FloatArray
    converged: bool
    identifiable: bool
    sweeps: int
    uncertainty: Uncertainty

    @property
    def attractiveness_error(self) -> FloatArray:
        """The standard error of α, per item; NaN if the data do not determine it, as for an item without clicks."""
        return self.attractiveness * self._log_errors[0]

    @property
    def position_bias_error(self) -> FloatArray:
        """The standard error of λ, per slot: 0 for the first slot and for a known bias, NaN as above."""
        return self.position_bias * self._log_errors[1]

    def intervals(self, level: float = 0.95) -> EstimateIntervals:
        """Return intervals of α and of λ.

        They are symmetric on the log scale; those of a posterior are Gamma quantiles. The interval of an item or slot
        that was shown and never clicked begins at 0 and ends where no click would have a probability of (1 - level)/2,
        given the other parameters. It is (0, ∞) if the data do not determine the parameter, or the iteration did not
        converge.

        Parameters
        ----------
        level
            The probability that an interval covers the true value.

        Examples
        --------
        >>> from slotwise import Tally
        >>> from slotwise.estimators import scaling
        >>> estimate = scaling(Tally(np.array([[30, 12], [8, 21]]), np.array([[50, 50], [50, 50]])))
        >>> alpha, bias = estimate.intervals(0.9)
        >>> alpha.low.round(2), alpha.high.round(2), bias.low.round(2), bias.high.round(2)
        (array([0.32, 0.27]), array([0.64, 0.56]), array([1.  , 0.46]), array([1.  , 1.03]))
        """
        of_items, of_slots = self._log_errors
        alpha = self.uncertainty.around(self.attractiveness, of_items, level)
        bias = self.uncertainty.around_slots(self.position_bias, of_slots, level)
        if self.uncertainty.at_rest:
            uncertainty = self.uncertainty
            passes = uncertainty.passes
            alpha = _limit_silent(alpha, uncertainty.silent_items, self.position_bias, passes)
            bias = _limit_silent(bias, uncertainty.silent_slots, self.attractiveness, passes.T)
        return EstimateIntervals(alpha, bias)

    def columns(self, table: Table, level: float = 0.95) -> dict[str, Any]:
        """Return the columns of `to_frame` by name; items count from 0, slots from 1."""
        intervals = self.intervals(level)
        if table == "items":
            limits = intervals.attractiveness
            numbers, name, values = np.arange(len(limits.low)), "attractiveness", self.attractiveness
        else:
            limits = intervals.position_bias
            numbers, name, values = np.arange(len(limits.low)) + 1, "position_bias", self.position_bias
        return {table[:-1]: numbers, name: values, "low": limits.low, "high": limits.high}

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Return plain lists and numbers that JSON can hold, None for a number that is not finite."""
        return {
            **{table: records(self.columns(table, level)) for table in TABLES},
            "converged": self.converged,
            "identifiable": self.identifiable,
            "sweeps": self.sweeps,
        }

    def to_frame(self, table: Table = "items", level: float = 0.95) -> pd.DataFrame:
        """Return a data frame with a row per item or per slot.

        Parameters
        ----------
        table
            "items" or "slots".
        level
            The level of the intervals.
        """
        validation.one_of("table", table, TABLES)
        return frame(self.columns(table, level))

    def summary(self, level: float = 0.95) -> str:
        """Return the estimates and their intervals as text, and a line for each reason not to trust them."""
        tables = [text_table(self.columns(table, level)) for table in TABLES]
        warnings = ["The iteration did not converge."] * (not self.converged)
        warnings += ["The data do not compare all slots and items with each other."] * (not self.identifiable)
        return "\n\n".join([*tables, *warnings])

    def __repr__(self) -> str:
        alpha, bias = _range(self.attractiveness), _range(self.position_bias)
        sizes = f"{len(self.attractiveness)} items and {len(self.position_bias)} slots"
        trust = ("" if self.converged else ", not converged") + ("" if self.identifiable else ", not identifiable")
        return f"<Estimate of {sizes}: attractiveness {alpha}, position bias {bias}{trust}>"

    def log_error_of(self, weights: FloatArray) -> float:
        """Return the standard error of Σ_kj w_kj log γ_kj, γ_kj = λ_kα_j, for weights w, slots × items.

        It includes the covariances of the parameters. It is NaN if a pair with weight joins parts that the data do not
        compare; within such parts γ is determined even if α and λ are not.

        >>> from slotwise import Tally
        >>> from slotwise.estimators import scaling
        >>> estimate = scaling(Tally(np.array([[30, 12], [8, 21]]), np.array([[50, 50], [50, 50]])))
        >>> round(estimate.log_error_of(np.array([[0.6, 0.0], [0.0, 0.4]])), 3)
        0.156
        """
        slots, items = self.parts
        used = np.nonzero(weights)
        if not self.uncertainty.at_rest or (slots[used[0]] != items[used[1]]).any():
            return float("nan")
        return self.uncertainty.log_error_of(weights.sum(axis=0), weights.sum(axis=1))

    @cached_property
    def parts(self) -> tuple[IntArray, IntArray]:
        """The parts that the data compare with each other, numbered, for each slot and for each item."""
        return self.uncertainty.parts()

    @cached_property
    def _log_errors(self) -> tuple[FloatArray, FloatArray]:
        if not self.uncertainty.at_rest:
            return np.full_like(self.attractiveness, np.nan), np.full_like(self.position_bias, np.nan)
        return self.uncertainty.log_errors()


def _limit_silent(intervals: Intervals, silent: BoolArray, weights: FloatArray, passes: FloatArray) -> Intervals:
    """Return the intervals with a finite upper end for items or slots without clicks."""
    if not silent.any():
        return intervals
    high = intervals.high.copy()
    high[silent] = limit_without_clicks(
        np.where(np.isfinite(weights), weights, 0.0), passes[:, silent], intervals.level
    )
    return Intervals(intervals.low, high, intervals.level)


def _range(values: FloatArray) -> str:
    finite = values[np.isfinite(values)]
    return f"{finite.min():.4g} to {finite.max():.4g}" if len(finite) else "unknown"
