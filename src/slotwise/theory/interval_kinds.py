"""Helpers that the interval functions of the paper share."""

from __future__ import annotations

import numpy as np

from slotwise.core.errors import InvalidInput
from slotwise.core.tally import Tally
from slotwise.core.types import FloatArray
from slotwise.estimators.uncertainty.intervals import Intervals


def around(middle: FloatArray, half: FloatArray, level: float) -> Intervals:
    """Return middle ± half, cut off at 0; [0, ∞) if either is not finite, as for an item never shown."""
    finite = np.isfinite(middle) & np.isfinite(half)
    low = np.where(finite, np.maximum(0.0, np.where(finite, middle - half, 0.0)), 0.0)
    return Intervals(low, np.where(finite, middle + half, np.inf), level)


def complete_epochs(tally: Tally) -> int:
    """Return l, the number of rounds without a click; at least one is required."""
    epochs = int(tally.passes.sum(axis=1).max())
    if epochs < 1:
        raise InvalidInput("the tally must hold at least one complete epoch, got none")
    return epochs
