"""Counts that fade: each period's weigh 0.5^(age/half-life), by the hour."""

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
    """How fast counts fade, and the hour from which their age is counted, so that weights change once an hour."""

    #: None where nothing fades
    half_life_hours: float | None
    hour: int

    def weights(self, counts: PeriodCounts) -> FloatArray:
        """What a count of each row weighs now.

        >>> rows = [PeriodRow(CountPeriod(hour * HOUR), "", "learned", 0, "a", 1, 0, 1) for hour in (10, 8)]
        >>> Decay(2.0, 10 * HOUR).weights(PeriodCounts.of(rows)).tolist()
        [1.0, 0.5]
        """
        if self.half_life_hours is None:
            return np.ones(len(counts.start))
        hours = np.maximum(0.0, self.hour - counts.middle) / HOUR
        weights: FloatArray = 0.5 ** (hours / self.half_life_hours)
        return weights


def is_over(period: CountPeriod, longest_window: float, hour: int) -> bool:
    """Whether all decisions that were issued in a period were due to be counted when that hour began."""
    return period.start + period.hours * HOUR + longest_window <= hour


def may_grow_since(longest_window: float, hour: int) -> int:
    """From when on a period must have begun for anything to be added to it."""
    return int(hour - longest_window) - HOUR


class DecayedCounts(NamedTuple):
    """Counts by period, and how they fade."""

    counts: PeriodCounts
    fading: Decay

    def matrices(
        self, segments: VisitorSegments, numbers: Mapping[str, int], slots: int
    ) -> dict[int, tuple[FloatArray, FloatArray]]:
        """Clicks and passes, slots × items, by segment, each as much as it weighs; see `PeriodCounts.matrices`."""
        return self.counts.matrices(self.fading.weights(self.counts), segments, numbers, slots)


#: what tells the rows of a placement apart
_Key = tuple[CountPeriod, str, str, int, str]


@dataclass
class Recent:
    """How counts fade, and the rows of periods to which something may be added, as they were last read."""

    fading: Decay
    longest_window: float
    rows: dict[_Key, PeriodRow]

    @classmethod
    def of(cls, rows: Iterable[PeriodRow], fading: Decay, longest_window: float) -> Recent:
        """Those of them, whichever others there are."""
        recent = cls(fading, longest_window, {})
        recent.keep(rows)
        return recent

    def keep(self, rows: Iterable[PeriodRow]) -> None:
        """Remember them, in place of what they were before."""
        self.rows.update((_key(row), row) for row in rows if self._may_grow(row.period))

    def added(self, rows: Iterable[PeriodRow]) -> list[PeriodRow] | None:
        """What rows that changed have more than they had; None where that cannot be told.

        It cannot where something was added to an old period, or hours were merged into a day.
        """
        found = []
        for row in rows:
            if not self._may_grow(row.period):
                return None
            before = self.rows.get(_key(row))
            if before is not None:
                more = [now - then for now, then in zip(row.counts(), before.counts(), strict=True)]
                if min(more) < 0:
                    return None
                row = replace(row, clicks=more[0], passes=more[1], shows=more[2])
            found.append(row)
        return found

    def _may_grow(self, period: CountPeriod) -> bool:
        return period.hours == 1 and not is_over(period, self.longest_window, self.fading.hour)


def _key(row: PeriodRow) -> _Key:
    return row.period, row.segment, row.arm, row.slot, row.item
