"""The typical list of the recent visitors."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

#: visitors
MAX_LISTS: Final = 60


class Place(NamedTuple):
    """An item in its slot, with its share of the recent lists there."""

    item: str
    share: float


class RecentLists:
    """The recent lists.

    >>> recent = RecentLists()
    >>> for shown in (["tea", "milk"], ["tea", "milk"], ["milk", "tea"]):
    ...     recent.add(shown)
    >>> [place.item for place in recent.typical()], round(recent.typical()[0].share, 2)
    (['tea', 'milk'], 0.67)
    """

    def __init__(self) -> None:
        self._lists: deque[tuple[str, ...]] = deque(maxlen=MAX_LISTS)

    def add(self, shown: Sequence[str]) -> None:
        """Add a list."""
        self._lists.append(tuple(shown))

    def typical(self) -> list[Place]:
        """Return the list of distinct items that agrees with most slots of the recent lists."""
        items = sorted({item for shown in self._lists for item in shown})
        slots = max(map(len, self._lists), default=0)
        counts = np.zeros((slots, len(items)))
        numbers = {item: number for number, item in enumerate(items)}
        for shown in self._lists:
            for slot, item in enumerate(shown):
                counts[slot, numbers[item]] += 1.0
        chosen = linear_sum_assignment(counts, maximize=True)
        return [
            Place(items[number], float(counts[slot, number]) / len(self._lists))
            for slot, number in zip(*chosen, strict=True)
        ]
