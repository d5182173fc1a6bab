"""A decision, what may come of it, and what the store says to that."""

from __future__ import annotations

import re
import secrets
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

Arm = Literal["learned", "holdout", "shadow"]
Kind = Literal["clicked", "no_click", "not_shown"]
#: what became of a decision that was to be issued: it was; its key had been used, and that decision is given back; its
#: key had been used for another request; its placement was deleted a moment ago
Fate = Literal["issued", "repeated", "other_request", "unknown_placement"]
#: what the store says to an outcome
Verdict = Literal["recorded", "duplicate", "conflict", "late", "unknown_decision", "unknown_item"]

_ID: Final = re.compile(r"[0-9a-f]{32}", re.ASCII)


HOUR: Final = 3600
DAY: Final = 24 * HOUR


def hour_of(time: float) -> int:
    """The beginning of its hour.

    >>> hour_of(7300.5)
    7200
    """
    return int(time // HOUR) * HOUR


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
class IssuedDecision:
    """One list issued for one page view."""

    #: made by `new_id`
    id: str
    placement: str
    #: by slot
    items: tuple[str, ...]
    arm: Arm
    issued: float
    deadline: float
    once: Once | None = None
    #: where it is given, `items` and `arm` are for a visitor who has no list yet
    sticky: Sticky | None = None
    fate: Fate = "issued"
    #: for whom, as `slotwise.service.schemas.segment_rules` writes it; "" where nothing is known of the visitor
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
class LoggedDecision:
    """A decision, and what has become of it."""

    decision: IssuedDecision
    #: None where nothing was reported, which is a no-click once it is final
    outcome: Outcome | None
    #: whether it is past its deadline, and counted
    final: bool
    #: whether an outcome came after the deadline
    late: bool = False
    #: by slot, the probability that its item would be there; None where that is not known, or not yet
    propensities: tuple[float, ...] | None = None
