"""Counts by period in columns, for fast sums over hundreds of thousands of rows."""

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
class _TextColumn:
    """A column of texts with many repetitions."""

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
    segment: _TextColumn
    slot: IntArray
    item: _TextColumn
    clicks: IntArray
    passes: IntArray

    @classmethod
    def of_columns(cls, columns: PeriodColumns) -> Self:
        """From a store's columns."""
        start, hours, segment, slot, item, clicks, passes = columns
        return cls(
            _whole(start),
            _whole(hours),
            _TextColumn.of(segment),
            _whole(slot),
            _TextColumn.of(item),
            _whole(clicks),
            _whole(passes),
        )

    @classmethod
    def of(cls, rows: Iterable[PeriodRow]) -> Self:
        """From rows."""
        columns = [
            (row.period.start, row.period.hours, row.segment, row.slot, row.item, row.clicks, row.passes)
            for row in rows
        ]
        return cls.of_columns(PeriodColumns.of(columns))

    @property
    def middle(self) -> FloatArray:
        """The start of each row's hour, or the mean start of its day's hours; the end of counts without periods."""
        return self.start + np.maximum(0, self.hours - 1) / 2 * HOUR

    def of_rows(self, which: BoolArray) -> Self:
        """The selected rows."""
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
        """Weighted clicks and passes, slots × items, by segment.

        Other slots and items are left out.
        """
        of_items = np.array([numbers.get(name, -1) for name in self.item.names], np.int64)
        of_segments = np.array([segments.number(name) for name in self.segment.names], np.int64)
        item, segment = of_items[self.item.places], of_segments[self.segment.places]
        is_used = (item >= 0) & (self.slot < slots)
        size = slots * len(numbers)
        by_segment = {}
        for number in np.unique(segment[is_used]).tolist():
            selected = is_used & (segment == number)
            cells = self.slot[selected] * len(numbers) + item[selected]
            clicks, passes = (
                sums(cells, weights[selected] * counts[selected], size).reshape(slots, len(numbers))
                for counts in (self.clicks, self.passes)
            )
            by_segment[number] = clicks, passes
        return by_segment


def sums(cells: IntArray, counts: FloatArray | IntArray, size: int) -> FloatArray:
    """Sums of counts by cell.

    >>> sums(np.array([0, 2, 0]), np.array([1.0, 5.0, 2.0]), 4).tolist()
    [3.0, 0.0, 5.0, 0.0]
    """
    return np.bincount(cells, counts, size).astype(np.float64)


def _whole(column: Sequence[int]) -> IntArray:
    return np.array(column, np.int64)
