"""What the service asks of a store, whichever database it is.

One store object is one connection, used by one thread at a time. Whatever several objects, threads, processes or
machines do to the same database, every decision is counted once. Times are seconds since 1970, given by the caller.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Container, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, Protocol

Arm = Literal["learned", "holdout", "shadow"]
Kind = Literal["clicked", "no_click", "not_shown"]
#: what became of a decision that was to be issued: it was; its key had been used, and that decision is given back; its
#: key had been used for another request; its placement was deleted a moment ago
Fate = Literal["issued", "repeated", "other_request", "unknown_placement"]
#: what became of a definition that was put: `stale` where the placement is not at the version that was expected
PutVerdict = Literal["created", "changed", "same", "stale"]
DropVerdict = Literal["dropped", "stale", "unknown"]
Verdict = Literal["recorded", "duplicate", "conflict", "late", "unknown_decision", "unknown_item"]

_ID: Final = re.compile(r"[0-9a-f]{32}", re.ASCII)


def new_id(now: float) -> str:
    """An id that nobody guesses; ids sort by the time they were made.

    >>> len(new_id(0.0)), new_id(1.0) < new_id(2.0)
    (32, True)
    """
    return least_id(now) + secrets.token_hex(10)


def is_id(text: str) -> bool:
    """Whether a decision can be called so."""
    return _ID.fullmatch(text) is not None


def least_id(now: float) -> str:
    """What all ids made from `now` on are greater than: milliseconds since 1970."""
    return f"{max(0, int(now * 1000)):012x}"


@dataclass(frozen=True, slots=True)
class Once:
    """A caller's key for a decision: within the decision's window, the same key is the same decision."""

    key: str
    #: a digest of what was asked for: with the same key it must be the same
    request: str


@dataclass(frozen=True, slots=True)
class Sticky:
    """Who is to see the same list, and for how long."""

    #: a keyed digest: who it is cannot be told from it
    visitor: str
    #: a digest of the terms under which a list was made: under other terms a new one is made
    terms: str
    until: float
    #: what may be shown: a list with something else in it is replaced
    allowed: Container[str]
    #: items to the slots in which they must be, counted from 1
    pinned: Mapping[str, int] = field(default_factory=dict)

    def allows(self, items: Sequence[str], slots: int) -> bool:
        """Whether a list from before can be shown again where `slots` items are to be shown now."""
        return (
            len(items) == slots
            and all(item in self.allowed for item in items)
            and all(slot <= slots and items[slot - 1] == item for item, slot in self.pinned.items())
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """One list issued for one page view."""

    #: made by `new_id`
    id: str
    placement: str
    #: by slot
    items: tuple[str, ...]
    arm: Arm
    issued: float
    deadline: float
    #: whether it shows the list that its placement holds; `items` then are what to hold where nothing is held
    holds: bool = False
    #: of the definition that it was made from: a list of an older one is shown this once and never held
    version: int = 1
    once: Once | None = None
    #: where it is given, `items` and `arm` are for a visitor who has no list yet
    sticky: Sticky | None = None
    fate: Fate = "issued"
    #: for whom, as `slotwise.service.worker.segments` writes it; "" where nothing is known of the visitor
    segment: str = ""
    #: the longest window of its placement where it is one of those that wait for all of it; their clicks tell of delays
    waits_seconds: float | None = None
    #: by slot, the probability that its item would be there, where that is known as it is issued
    propensities: tuple[float, ...] | None = None
    #: the decision that its list was drawn for, where a visitor sees that again
    list_of: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a list: a click on one of its items, no click, or that nobody saw it."""

    kind: Kind
    #: what was clicked first, which is what counts
    item: str | None = None
    #: what was clicked after it, in that order
    then: tuple[str, ...] = ()
    #: what the click brought, where that was said
    value: float | None = None

    @property
    def clicks(self) -> tuple[str, ...]:
        """Everything that was clicked, in order."""
        return () if self.item is None else (self.item, *self.then)


@dataclass(frozen=True, slots=True)
class Report:
    """An outcome on its way in."""

    decision: str
    outcome: Outcome
    now: float


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the store made of a report, and the decision as it was found."""

    verdict: Verdict
    items: tuple[str, ...] = ()
    #: what had been recorded before
    recorded: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Logged:
    """A decision, and what has become of it."""

    decision: Decision
    #: None where nothing was reported, which is a no-click once it is final
    outcome: Outcome | None
    #: whether it is past its deadline, and counted
    final: bool
    #: whether an outcome came after the deadline
    late: bool = False
    #: by slot, the probability that its item would be there; None where that is not known, or not yet
    propensities: tuple[float, ...] | None = None


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


HOUR: Final = 3600
DAY: Final = 24 * HOUR


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """When decisions were issued: an hour or a day, UTC, or with no length all that was before its start."""

    #: seconds since 1970
    start: int
    hours: int = 1


def hour_of(time: float) -> int:
    """The beginning of its hour.

    >>> hour_of(7300.5)
    7200
    """
    return int(time // HOUR) * HOUR


@dataclass(frozen=True, slots=True)
class PeriodRow:
    """What a tally's row counts, of the decisions of one arm that were issued in a period."""

    period: Period
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


class HistoryRow(NamedTuple):
    """One item in one slot, over all decisions that were issued in a period and that somebody saw."""

    period: Period
    slot: int
    item: str
    clicks: int
    shows: int


@dataclass(frozen=True, slots=True)
class PeriodCounters:
    """What became of the decisions of one segment and arm that were issued in a period."""

    period: Period
    segment: str
    arm: Arm
    counters: Counters


class ArmCounts(NamedTuple):
    """What the decisions of one arm that were issued in a period came to."""

    period: Period
    #: "" where all segments were asked for together
    segment: str
    arm: Arm
    clicked: int
    no_click: int
    value: float
    squares: float


class ItemClicks(NamedTuple):
    """Clicks on an item, in whichever slot, of the decisions of one arm that were issued in a period."""

    period: Period
    segment: str
    arm: Arm
    item: str
    clicks: int


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
