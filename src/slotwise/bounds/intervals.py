"""What every interval function answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

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
