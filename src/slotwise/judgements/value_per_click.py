"""The value of a click on a document, shrunk toward the mean of the log.

A cell with n clicks of mean value y has

    v = m + s (y - m),   s = τ² / (τ² + σ²/n),

where m is the mean value of all clicks, σ² the variance within cells and τ² the variance between them (a one-way
analysis of variance; Searle, Casella and McCulloch, Variance Components, 1992). A document without clicks has v = m.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slotwise.core.errors import InvalidInput
from slotwise.core.types import FloatArray
from slotwise.judgements.log_cells import CellCounts

#: the smallest value of a click relative to the mean, so that every document has a rank
MIN_VALUE = 1e-6


@dataclass(frozen=True, eq=False)
class ClickValues:
    """The value of a click by cell.

    Parameters
    ----------
    mean
        m: the mean value of all clicks.
    relative
        v / m of each cell.
    uncertainty
        The posterior variance of v, relative to its square.
    """

    mean: float
    relative: FloatArray
    uncertainty: FloatArray


def click_values(counts: CellCounts) -> ClickValues:
    """Estimate the value of a click on each document.

    Parameters
    ----------
    counts
        Counts with values.

    Raises
    ------
    InvalidInput
        If the log has no values, or none above 0.

    Examples
    --------
    >>> counts = CellCounts(
    ...     ("tea",), np.array([50.0]), np.zeros(2, np.int64), ("assam", "mint"), np.array([[50.0, 0.0], [0.0, 50.0]]),
    ...     np.array([[20.0, 0.0], [0.0, 20.0]]), {}, np.array([[10.0, 2.0], [10.0, 2.0]]),
    ... )
    >>> values = click_values(counts)
    >>> round(values.mean, 2), values.relative.round(2).tolist()
    (0.3, [1.59, 0.41])
    """
    if counts.values is None:
        raise InvalidInput("judgements by value need values: weights of events (ubi, ga4), or a column of values")
    clicks, (sums, squares) = counts.clicks.sum(axis=0), counts.values
    if not sums.sum() > 0.0:
        raise InvalidInput("judgements by value need a value above 0, got none in the log")
    number, mean = float(clicks.sum()), float(sums.sum() / clicks.sum())
    seen = clicks > 0.0
    n = np.where(seen, clicks, 1.0)
    freedom = number - float(seen.sum())
    within = float((squares - sums**2 / n)[seen].sum()) / max(1.0, freedom)
    off = np.where(seen, sums / n - mean, 0.0)
    size = number - float((clicks**2).sum()) / number
    between = (float(clicks @ off**2) - (float(seen.sum()) - 1.0) * within) / max(1e-12, size) if freedom > 0.0 else 0.0
    between = max(0.0, between)
    share = np.where(seen, between / np.maximum(between + within / n, 1e-300), 0.0)
    value = np.maximum(mean + share * off, MIN_VALUE * mean)
    return ClickValues(mean, value / mean, between * (1.0 - share) / value**2)
