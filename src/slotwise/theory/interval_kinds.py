"""What the interval functions of the paper share."""

from __future__ import annotations

import numpy as np

from slotwise.core.errors import InvalidInput
from slotwise.core.tally import Tally
from slotwise.core.types import FloatArray
from slotwise.estimators.uncertainty.intervals import Intervals


def around(middle: FloatArray, half: FloatArray, level: float) -> Intervals:
    """middle ± half, not below 0; anything at all where either is not a number, as for an item never shown."""
    known = np.isfinite(middle) & np.isfinite(half)
    low = np.where(known, np.maximum(0.0, np.where(known, middle - half, 0.0)), 0.0)
    return Intervals(low, np.where(known, middle + half, np.inf), level)


def complete_epochs(tally: Tally) -> int:
    """l: the no-clicks, of which there must be one."""
    epochs = int(tally.passes.sum(axis=1).max())
    if epochs < 1:
        raise InvalidInput("the tally must hold at least one complete epoch, got none")
    return epochs
