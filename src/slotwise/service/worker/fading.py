"""Counts that fade: each period's weigh 0.5^(age/half-life), by the hour."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from slotwise.service.store.rows import HOUR, Period, PeriodRow
from slotwise.typing import FloatArray


@dataclass(frozen=True)
class Fading:
    """How fast counts fade, and the hour from which their age is counted, so that weights change once an hour."""

    #: None where nothing fades
    half_life_hours: float | None
    hour: int

    def weight(self, period: Period) -> float:
        """What a count of that period weighs now.

        >>> Fading(2.0, 10 * HOUR).weight(Period(10 * HOUR)), Fading(2.0, 10 * HOUR).weight(Period(8 * HOUR))
        (1.0, 0.5)
        """
        if self.half_life_hours is None:
            return 1.0
        hours = (self.hour - middle(period)) / HOUR
        return float(0.5 ** (max(0.0, hours) / self.half_life_hours))


def middle(period: Period) -> float:
    """When its hour began, or the hours of its day on average; of what was before there were hours, the end.

    >>> middle(Period(7200)), middle(Period(0, 24)) / HOUR, middle(Period(7200, 0))
    (7200.0, 11.5, 7200.0)
    """
    return period.start + max(0, period.hours - 1) / 2 * HOUR


def is_over(period: Period, longest_window: float, hour: int) -> bool:
    """Whether all decisions that were issued in a period were due to be counted when that hour began."""
    return period.start + period.hours * HOUR + longest_window <= hour


class Faded(NamedTuple):
    """Counts by period, and how they fade."""

    rows: Sequence[PeriodRow]
    fading: Fading


#: what tells the rows of a placement apart
_Key = tuple[Period, str, str, int, str]


@dataclass(frozen=True)
class Recent:
    """How counts fade, and the rows of periods to which something may be added, as they were last read."""

    fading: Fading
    longest_window: float
    rows: dict[_Key, PeriodRow]

    @classmethod
    def of(cls, faded: Faded, longest_window: float) -> Recent:
        """Those of all rows."""
        recent = cls(faded.fading, longest_window, {})
        recent.keep(faded.rows)
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

    def _may_grow(self, period: Period) -> bool:
        return period.hours == 1 and not is_over(period, self.longest_window, self.fading.hour)


def _key(row: PeriodRow) -> _Key:
    return row.period, row.segment, row.arm, row.slot, row.item


def weighed(
    rows: Iterable[PeriodRow], fading: Fading, numbers: Mapping[str, int], slots: int
) -> tuple[FloatArray, FloatArray]:
    """Clicks and passes, slots × items, each as much as it weighs; what is of other slots or items is left out."""
    clicks, passes = np.zeros((2, slots, len(numbers)))
    weights: dict[Period, float] = {}
    for row in rows:
        number = numbers.get(row.item)
        if number is not None and row.slot < slots:
            weight = weights.get(row.period)
            if weight is None:
                weight = weights[row.period] = fading.weight(row.period)
            clicks[row.slot, number] += weight * row.clicks
            passes[row.slot, number] += weight * row.passes
    return clicks, passes
