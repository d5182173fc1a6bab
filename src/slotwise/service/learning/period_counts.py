"""What was counted in each period, by column: there may be hundreds of thousands of rows, to be added up at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from slotwise.core.types import BoolArray, FloatArray, IntArray
from slotwise.service.schemas.segment_rules import VisitorSegments
from slotwise.service.storage.count_rows import PeriodColumns, PeriodRow
from slotwise.service.storage.decision_types import HOUR


@dataclass(frozen=True)
class _Named:
    """A column of texts of which many are the same."""

    names: Sequence[str]
    #: per row, the place of its text among the names
    places: IntArray

    @classmethod
    def of(cls, texts: Sequence[str]) -> Self:
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        return cls(list(places), np.fromiter(map(places.__getitem__, texts), np.int64, len(texts)))

    def of_rows(self, which: BoolArray) -> Self:
        return type(self)(self.names, self.places[which])


@dataclass(frozen=True)
class PeriodCounts:
    """Clicks and passes of one item in one slot, in a period and a segment: a row of each array."""

    start: IntArray
    hours: IntArray
    segment: _Named
    slot: IntArray
    item: _Named
    clicks: IntArray
    passes: IntArray

    @classmethod
    def of_columns(cls, columns: PeriodColumns) -> Self:
        """As a store has them."""
        start, hours, segment, slot, item, clicks, passes = columns
        return cls(
            _whole(start),
            _whole(hours),
            _Named.of(segment),
            _whole(slot),
            _Named.of(item),
            _whole(clicks),
            _whole(passes),
        )

    @classmethod
    def of(cls, rows: Iterable[PeriodRow]) -> Self:
        """Of a few rows."""
        found = [
            (row.period.start, row.period.hours, row.segment, row.slot, row.item, row.clicks, row.passes)
            for row in rows
        ]
        return cls.of_columns(PeriodColumns.of(found))

    @property
    def middle(self) -> FloatArray:
        """When the hour of each row began, or the hours of its day on average; of what was before hours, the end."""
        return self.start + np.maximum(0, self.hours - 1) / 2 * HOUR

    def of_rows(self, which: BoolArray) -> Self:
        """Those rows alone."""
        return type(self)(
            self.start[which],
            self.hours[which],
            self.segment.of_rows(which),
            self.slot[which],
            self.item.of_rows(which),
            self.clicks[which],
            self.passes[which],
        )

    def matrices(
        self, weights: FloatArray, segments: VisitorSegments, numbers: Mapping[str, int], slots: int
    ) -> dict[int, tuple[FloatArray, FloatArray]]:
        """Clicks and passes, slots × items, by segment, each row as much as it weighs.

        What is of other slots or items is left out.
        """
        of_items = np.array([numbers.get(name, -1) for name in self.item.names], np.int64)
        of_segments = np.array([segments.number(name) for name in self.segment.names], np.int64)
        item, segment = of_items[self.item.places], of_segments[self.segment.places]
        known = (item >= 0) & (self.slot < slots)
        size = slots * len(numbers)
        found = {}
        for number in np.unique(segment[known]).tolist():
            mine = known & (segment == number)
            cells = self.slot[mine] * len(numbers) + item[mine]
            clicks, passes = (
                sums(cells, weights[mine] * counts[mine], size).reshape(slots, len(numbers))
                for counts in (self.clicks, self.passes)
            )
            found[number] = clicks, passes
        return found


def sums(cells: IntArray, counts: FloatArray | IntArray, size: int) -> FloatArray:
    """What falls into each of so many cells, added up.

    >>> sums(np.array([0, 2, 0]), np.array([1.0, 5.0, 2.0]), 4).tolist()
    [3.0, 0.0, 5.0, 0.0]
    """
    return np.bincount(cells, counts, size).astype(np.float64)


def _whole(column: Sequence[int]) -> IntArray:
    return np.array(column, np.int64)
