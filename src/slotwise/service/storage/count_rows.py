"""Rows of the tally and of counters, over all time and by period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Final, Literal, NamedTuple, Self

from slotwise.service.storage.decision_types import Arm


@dataclass(frozen=True, slots=True)
class TallyRow:
    """Counts of an item in a slot, counted from 0, over the final decisions of a segment that were seen."""

    slot: int
    item: str
    clicks: int = 0
    passes: int = 0
    #: how often it was there
    shows: int = 0
    #: clicks with a value, the sum of the values, and of their squares
    valued: int = 0
    value: float = 0.0
    squares: float = 0.0
    segment: str = ""


#: the names of the counts, in the order of the fields
TALLY_COUNTS: Final = ("clicks", "passes", "shows", "valued", "value", "squares")


@dataclass(frozen=True, slots=True)
class Counters:
    """Numbers of decisions by outcome."""

    issued: int = 0
    clicked: int = 0
    no_click: int = 0
    #: decisions of `no_click` without a report
    silent: int = 0
    not_shown: int = 0
    #: decisions beyond the hourly cap of their visitor or network, whatever their outcome
    capped: int = 0
    #: decisions with an outcome after their deadline; this and the next two do not affect learning
    late: int = 0
    duplicates: int = 0
    conflicts: int = 0
    #: decisions of `clicked` with clicks on more than one item
    several: int = 0
    #: the sum of the reported values, and of their squares
    value: float = 0.0
    squares: float = 0.0

    @property
    def final(self) -> int:
        """Decisions past their deadline, which are counted."""
        return self.clicked + self.no_click + self.not_shown + self.capped

    @property
    def pending(self) -> int:
        """Decisions before their deadline."""
        return self.issued - self.final

    def all(self) -> tuple[float, ...]:
        """All counters, in the order of `COUNTERS`."""
        return tuple(getattr(self, name) for name in COUNTERS)

    def __add__(self, other: Counters) -> Counters:
        return Counters(*(first + second for first, second in zip(self.all(), other.all(), strict=True)))  # type: ignore[arg-type]


#: later than any time
LAST: Final = 2**62
#: the names of all counters
COUNTERS = tuple(Counters.__dataclass_fields__)


@dataclass(frozen=True, slots=True, order=True)
class CountPeriod:
    """An hour or a day, UTC, in which decisions were issued; with 0 hours, imported counts as of that time."""

    #: seconds since 1970
    start: int
    hours: int = 1


@dataclass(frozen=True, slots=True)
class PeriodRow:
    """Counts of an item in a slot, of the decisions of one arm and period."""

    period: CountPeriod
    segment: str
    #: empty in imported counts
    arm: Arm | Literal[""]
    slot: int
    item: str
    clicks: int
    passes: int
    shows: int

    def counts(self) -> tuple[int, int, int]:
        """Clicks, passes and shows."""
        return self.clicks, self.passes, self.shows


class PeriodColumns(NamedTuple):
    """Rows of periods by column, without arms and shows: fast for many rows."""

    start: Sequence[int]
    hours: Sequence[int]
    segment: Sequence[str]
    slot: Sequence[int]
    item: Sequence[str]
    clicks: Sequence[int]
    passes: Sequence[int]

    @classmethod
    def of(cls, rows: Sequence[tuple[Any, ...]]) -> Self:
        """Columns from rows with these fields in this order."""
        return cls(*(zip(*rows, strict=True) if rows else repeat((), len(cls._fields))))


class HistoryRow(NamedTuple):
    """Counts of an item in a slot, over the decisions of a period that were seen."""

    period: CountPeriod
    slot: int
    item: str
    clicks: int
    shows: int


@dataclass(frozen=True, slots=True)
class PeriodCounters:
    """Counters of one segment, arm and period."""

    period: CountPeriod
    segment: str
    arm: Arm
    counters: Counters


class ArmCounts(NamedTuple):
    """Outcomes of one arm and period."""

    period: CountPeriod
    #: "" for all segments together
    segment: str
    arm: Arm
    clicked: int
    no_click: int
    value: float
    squares: float


class ItemClicks(NamedTuple):
    """Clicks on an item in any slot, of one arm and period."""

    period: CountPeriod
    segment: str
    arm: Arm
    item: str
    clicks: int


class EventCounts(NamedTuple):
    """Final decisions of one arm and period that have an event of this name."""

    period: CountPeriod
    arm: Arm
    event: str
    decisions: int
