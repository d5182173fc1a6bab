"""What every interval function answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from slotwise.errors import InvalidInput
from slotwise.tally import Tally
from slotwise.typing import FloatArray


@dataclass(frozen=True, eq=False)
class Intervals:
    """An interval per item for its attractiveness."""

    low: FloatArray
    high: FloatArray
    #: the probability, according to the paper, with which one item's interval holds its true value
    level: float

    @property
    def width(self) -> FloatArray:
        """high - low."""
        return self.high - self.low

    def covers(self, attractiveness: Any) -> Any:
        """Whether each item's interval holds the given value."""
        return (self.low <= np.asarray(attractiveness)) & (np.asarray(attractiveness) <= self.high)


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


def checked_level(level: float) -> float:
    """A probability, neither 0 nor 1."""
    if not 0.0 < level < 1.0:
        raise InvalidInput(f"level must be between 0 and 1, got {level!r}")
    return level
