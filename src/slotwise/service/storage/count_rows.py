"""What is counted of decisions, over all time and by period: the rows of tallies and counters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Final, Literal, NamedTuple, Self

from slotwise.service.storage.decision_types import Arm


@dataclass(frozen=True, slots=True)
class TallyRow:
    """One item in one slot, counted from 0, over all final decisions of a segment that somebody saw."""

    slot: int
    item: str
    clicks: int = 0
    passes: int = 0
    #: how often it stood there, whatever was clicked
    shows: int = 0
    #: the clicks that said what they brought, what that was together, and the sum of its squares
    valued: int = 0
    value: float = 0.0
    squares: float = 0.0
    segment: str = ""


#: what a row counts, in the order of its fields
TALLY_COUNTS: Final = ("clicks", "passes", "shows", "valued", "value", "squares")


@dataclass(frozen=True, slots=True)
class Counters:
    """How many decisions of one arm came to what."""

    issued: int = 0
    clicked: int = 0
    no_click: int = 0
    #: those of `no_click` about which nothing was reported
    silent: int = 0
    not_shown: int = 0
    #: decisions with an outcome after their deadline; this and the next two are never learned
    late: int = 0
    duplicates: int = 0
    conflicts: int = 0
    #: those of `clicked` with clicks on more than one item
    several: int = 0
    #: what the clicks brought, where that was said, and the sum of its squares
    value: float = 0.0
    squares: float = 0.0

    @property
    def final(self) -> int:
        """Past their deadline, and counted."""
        return self.clicked + self.no_click + self.not_shown

    @property
    def pending(self) -> int:
        """Waiting for their deadline."""
        return self.issued - self.final

    def all(self) -> tuple[float, ...]:
        """Every one, in the order of their names."""
        return tuple(getattr(self, name) for name in COUNTERS)

    def __add__(self, other: Counters) -> Counters:
        return Counters(*(mine + more for mine, more in zip(self.all(), other.all(), strict=True)))  # type: ignore[arg-type]


#: a time that never comes
LAST: Final = 2**62
#: the names of all of them
COUNTERS = tuple(Counters.__dataclass_fields__)


@dataclass(frozen=True, slots=True, order=True)
class CountPeriod:
    """When decisions were issued: an hour or a day, UTC; with no length, what was counted elsewhere, as of then."""

    #: seconds since 1970
    start: int
    hours: int = 1


@dataclass(frozen=True, slots=True)
class PeriodRow:
    """What a tally's row counts, of the decisions of one arm that were issued in a period."""

    period: CountPeriod
    segment: str
    #: empty in what was counted before arms were told apart
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
    """Rows of periods by column, without arms and shows, where there are too many to make something of each."""

    start: Sequence[int]
    hours: Sequence[int]
    segment: Sequence[str]
    slot: Sequence[int]
    item: Sequence[str]
    clicks: Sequence[int]
    passes: Sequence[int]

    @classmethod
    def of(cls, rows: Sequence[tuple[Any, ...]]) -> Self:
        """Of rows with these fields in this order."""
        return cls(*(zip(*rows, strict=True) if rows else repeat((), len(cls._fields))))


class HistoryRow(NamedTuple):
    """One item in one slot, over all decisions that were issued in a period and that somebody saw."""

    period: CountPeriod
    slot: int
    item: str
    clicks: int
    shows: int


@dataclass(frozen=True, slots=True)
class PeriodCounters:
    """What became of the decisions of one segment and arm that were issued in a period."""

    period: CountPeriod
    segment: str
    arm: Arm
    counters: Counters


class ArmCounts(NamedTuple):
    """What the decisions of one arm that were issued in a period came to."""

    period: CountPeriod
    #: "" where all segments were asked for together
    segment: str
    arm: Arm
    clicked: int
    no_click: int
    value: float
    squares: float


class ItemClicks(NamedTuple):
    """Clicks on an item, in whichever slot, of the decisions of one arm that were issued in a period."""

    period: CountPeriod
    segment: str
    arm: Arm
    item: str
    clicks: int
