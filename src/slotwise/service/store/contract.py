"""What the service asks of a store, whichever database it is.

One store object is one connection, used by one thread at a time. Whatever several objects, threads, processes or
machines do to the same database, every decision is counted once. Times are seconds since 1970, given by the caller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from slotwise.service.store.decisions import Arm, Decision, Logged, Receipt, Report
from slotwise.service.store.rows import (
    LAST,
    ArmCounts,
    Counters,
    HistoryRow,
    ItemClicks,
    PeriodColumns,
    PeriodCounters,
    PeriodRow,
    TallyRow,
)

#: what became of a definition that was put: `stale` where the placement is not at the version that was expected
PutVerdict = Literal["created", "changed", "same", "stale"]
DropVerdict = Literal["dropped", "stale", "unknown"]


@dataclass(frozen=True, slots=True)
class Version:
    """Which state of a placement the store holds: its definition changes with `version`, its tally with `revision`."""

    placement: str
    version: int
    revision: int


class Put(NamedTuple):
    """What became of a definition, and the version that the placement is at now: 0 where there is none."""

    verdict: PutVerdict
    version: int


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a placement's definition; the store says which version it made."""

    time: float
    #: in the caller's words
    what: str
    version: int = 0


@dataclass(frozen=True)
class Portable:
    """A placement as it is carried from store to store: all but its pending decisions."""

    name: str
    definition: str
    tally: Sequence[TallyRow] = ()
    #: by segment and arm
    counters: Mapping[tuple[str, Arm], Counters] = field(default_factory=dict)
    periods: Sequence[PeriodRow] = ()
    period_counters: Sequence[PeriodCounters] = ()
    changes: Sequence[Change] = ()


class Store(Protocol):
    """Durable placements, decisions and tallies: when a method returns, what it did is on disk."""

    #: seconds after which a transaction is given up, with `StoreUnavailable` or `CommitInDoubt`
    patience: float

    def secret(self) -> bytes:
        """What tokens are signed with; made when the store is."""

    def put_placement(self, name: str, definition: str, change: Change | None = None, *, at: int | None = None) -> Put:
        """Create or change, and list the change; a list that was held is let go.

        With `at`, only where the placement is at that version, 0 being that there is none.
        """

    def drop_placement(self, name: str, *, at: int | None = None) -> DropVerdict:
        """Delete all there is of a placement, in one transaction."""

    def drop_final(self, name: str, after: str, at_most: int) -> str | None:
        """Of the next decisions by id, drop those of a placement that are final; the last id that was looked at.

        In pieces and ahead of `drop_placement`, whose transaction then is short. Tally and counters stay.
        """

    def changes(self, name: str, at_most: int) -> list[Change]:
        """Of the definition, the newest first."""

    def snapshot(self) -> AbstractContextManager[None]:
        """What is read within it is of one moment."""

    def versions(self) -> list[Version]:
        """Every placement, in order of name."""

    def version(self, name: str) -> Version | None:
        """The one placement."""

    def definition(self, name: str) -> str:
        """As it was put."""

    def tally(self, name: str, since: int = 0) -> list[TallyRow]:
        """The rows that changed after revision `since`, as they are now."""

    def counters(self) -> dict[str, dict[Arm, Counters]]:
        """By placement and arm."""

    def counters_of(self, name: str) -> dict[tuple[str, Arm], Counters]:
        """Of one placement, by segment and arm."""

    def reported(self, name: str) -> tuple[int, float | None]:
        """How many decisions have an outcome and wait for their deadline, and the first of these deadlines."""

    def delays(self, name: str, at_most: float) -> dict[int, int]:
        """Clicks of decisions that waited for `at_most` seconds, by the number of their delay (`delays.number_of`)."""

    def period_tally(self, name: str, *, after: int = 0, since: int = 0, until: int = LAST) -> list[PeriodRow]:
        """The rows that changed after a revision, of periods that start from `since` on and before `until`."""

    def period_columns(self, name: str, since: int = 0) -> PeriodColumns:
        """All rows of periods that start from `since` on, by column and in no order."""

    def period_counters(self, name: str, since: int = 0, until: int = LAST) -> list[PeriodCounters]:
        """What became of decisions, by period, segment and arm, in order of period."""

    def arm_counts(self, name: str, since: int, until: int, *, by_segment: bool) -> list[ArmCounts]:
        """What the arms came to in periods that start from `since` on and before `until`."""

    def item_clicks(self, name: str, since: int, until: int, *, by_segment: bool) -> list[ItemClicks]:
        """What was clicked in these periods, where it is known in which arm."""

    def history(self, name: str, since: int, until: int, *, by_day: bool) -> list[HistoryRow]:
        """Clicks and shows per period, slot and item, of all segments and arms; hours added up to days if wanted."""

    def history_counters(self, name: str, since: int, until: int, *, by_day: bool) -> list[PeriodCounters]:
        """What became of decisions, by period, segment and arm, in order; hours are added up to days if wanted."""

    def keep_end(self, name: str, start: int, believed: str) -> None:
        """What was believed at the end of the hour that began then; the first that is said stays."""

    def ended(self, name: str, start: int) -> bool:
        """Whether something was counted in the hour that began then of which no end is kept."""

    def period_ends(self, name: str, since: int = 0, until: int = LAST) -> list[tuple[int, str]]:
        """What was believed at the ends of hours, by their beginnings, in order."""

    def merge_hours(self, before: float, at_most: int) -> int:
        """Add up the hours of days that ended before then, a placement's day at a time; how many days there were."""

    def write(self, decisions: Sequence[Decision], reports: Sequence[Report]) -> tuple[list[Decision], list[Receipt]]:
        """Issue and record, all in one transaction; the decisions come back as they are to be shown."""

    def fill_propensities(self, found: Sequence[tuple[str, Sequence[float]]]) -> None:
        """Keep with decisions, given by their ids, how likely each of their items was to be in its slot."""

    def logged(self, id: str) -> Logged | None:
        """One decision, final or not."""

    def log(self, after: str, before: str, at_most: int, placement: str | None = None) -> list[Logged]:
        """The first final decisions whose ids are between these two, in order of id, which is that of time."""

    def count_pending(self, after: str, before: str, placement: str | None = None) -> int:
        """How many decisions with ids between these two are not final."""

    def finalise(self, now: float, at_most: int) -> int:
        """Count decisions past their deadline, each exactly once; how many there were."""

    def compact(self, before: float, at_most: int) -> int:
        """Drop final decisions whose deadline was before; how many there were. Tally and counters stay."""

    def carry_out(self, name: str) -> Portable:
        """A placement to carry to another store."""

    def carry_in(self, placement: Portable) -> None:
        """A placement from another store; refused if there is one of that name."""

    def probe(self) -> None:
        """Write something, or raise."""

    def close(self) -> None:
        """Let go of the database."""
