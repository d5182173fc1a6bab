"""Decay of counts: a period's counts have the weight 0.5^(age/half-life), updated every hour."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from slotwise.core.types import FloatArray
from slotwise.service.learning.period_counts import PeriodCounts
from slotwise.service.schemas.segment_rules import VisitorSegments
from slotwise.service.storage.count_rows import CountPeriod, PeriodRow
from slotwise.service.storage.decision_types import HOUR


@dataclass(frozen=True)
class Decay:
    """The half-life of counts, and the hour from which their age is counted; weights change once an hour."""

    #: in hours; None if counts do not decay
    half_life: float | None
    hour: int

    def weights(self, counts: PeriodCounts) -> FloatArray:
        """The current weight of each row's counts.

        >>> rows = [PeriodRow(CountPeriod(hour * HOUR), "", "learned", 0, "a", 1, 0, 1) for hour in (10, 8)]
        >>> Decay(2.0, 10 * HOUR).weights(PeriodCounts.of(rows)).tolist()
        [1.0, 0.5]
        """
        if self.half_life is None:
            return np.ones(len(counts.start))
        hours = np.maximum(0.0, self.hour - counts.middle) / HOUR
        weights: FloatArray = 0.5 ** (hours / self.half_life)
        return weights


def is_over(period: CountPeriod, longest_window: float, hour: int) -> bool:
    """Whether all decisions of a period had passed their deadline when the hour began."""
    return period.start + period.hours * HOUR + longest_window <= hour


def may_grow_since(longest_window: float, hour: int) -> int:
    """The earliest start of a period whose counts may still grow."""
    return int(hour - longest_window) - HOUR


class DecayedCounts(NamedTuple):
    """Counts by period, and their decay."""

    counts: PeriodCounts
    decay: Decay

    def matrices(
        self, segments: VisitorSegments, numbers: Mapping[str, int], slots: int
    ) -> dict[int, tuple[FloatArray, FloatArray]]:
        """Weighted clicks and passes, slots × items, by segment; see `PeriodCounts.matrices`."""
        return self.counts.matrices(self.decay.weights(self.counts), segments, numbers, slots)


#: the key of a placement's row
_Key = tuple[CountPeriod, str, str, int, str]


@dataclass
class RecentCounts:
    """The decay of counts, and the rows of periods that may still grow, as they were last read."""

    decay: Decay
    longest_window: float
    rows: dict[_Key, PeriodRow]

    @classmethod
    def of(cls, rows: Iterable[PeriodRow], decay: Decay, longest_window: float) -> RecentCounts:
        """The rows of periods that may still grow; other rows are ignored."""
        recent = cls(decay, longest_window, {})
        recent.keep(rows)
        return recent

    def keep(self, rows: Iterable[PeriodRow]) -> None:
        """Store rows in place of their earlier versions."""
        self.rows.update((_key(row), row) for row in rows if self._may_grow(row.period))

    def added(self, rows: Iterable[PeriodRow]) -> list[PeriodRow] | None:
        """The growth of changed rows since they were last read; None if it is unknown.

        It is unknown if an old period grew, or if hours were merged into a day.
        """
        added = []
        for row in rows:
            if not self._may_grow(row.period):
                return None
            earlier = self.rows.get(_key(row))
            if earlier is not None:
                growth = [now - then for now, then in zip(row.counts(), earlier.counts(), strict=True)]
                if min(growth) < 0:
                    return None
                row = replace(row, clicks=growth[0], passes=growth[1], shows=growth[2])
            added.append(row)
        return added

    def _may_grow(self, period: CountPeriod) -> bool:
        return period.hours == 1 and not is_over(period, self.longest_window, self.decay.hour)


def _key(row: PeriodRow) -> _Key:
    return row.period, row.segment, row.arm, row.slot, row.item
