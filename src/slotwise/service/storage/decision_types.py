"""Decisions, outcomes, reports and receipts."""

from __future__ import annotations

import re
import secrets
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

Arm = Literal["learned", "holdout", "shadow"]
Kind = Literal["clicked", "no_click", "not_shown"]
#: the result of issuing a decision: issued; its key was used before, and the earlier decision is returned; its key was
#: used for another request; its placement was deleted
Fate = Literal["issued", "repeated", "other_request", "unknown_placement"]
#: the store's answer to a report
Verdict = Literal["recorded", "duplicate", "conflict", "late", "unknown_decision", "unknown_item", "invalid_event"]

_ID: Final = re.compile(r"[0-9a-f]{32}", re.ASCII)


HOUR: Final = 3600
DAY: Final = 24 * HOUR


def hour_of(time: float) -> int:
    """The start of the hour of a time.

    >>> hour_of(7300.5)
    7200
    """
    return int(time // HOUR) * HOUR


def new_id(now: float) -> str:
    """A random id; ids sort by time.

    >>> len(new_id(0.0)), new_id(1.0) < new_id(2.0)
    (32, True)
    """
    return least_id(now) + secrets.token_hex(10)


def is_id(text: str) -> bool:
    """Whether a text is a valid id of a decision."""
    return _ID.fullmatch(text) is not None


def least_id(now: float) -> str:
    """A lower bound of all ids from `now` on: milliseconds since 1970."""
    return f"{max(0, int(now * 1000)):012x}"


@dataclass(frozen=True, slots=True)
class Once:
    """An idempotency key: within a decision's window, the same key gives the same decision."""

    key: str
    #: a hash of the request, which must be the same for the same key
    request: str


@dataclass(frozen=True, slots=True)
class Sticky:
    """A returning visitor, and the constraints on the list that is shown again."""

    #: a keyed hash of the visitor
    visitor: str
    #: a hash of the terms of a list: under other terms a new list is drawn
    terms: str
    until: float
    #: items that may be shown: a list with another item is replaced
    allowed: Container[str]
    #: pinned items to slots, counted from 1
    pinned: Mapping[str, int] = field(default_factory=dict)

    def allows(self, items: Sequence[str], slots: int) -> bool:
        """Whether an earlier list can be shown again in this many slots."""
        return (
            len(items) == slots
            and all(item in self.allowed for item in items)
            and all(slot <= slots and items[slot - 1] == item for item, slot in self.pinned.items())
        )


class HourlyCap(NamedTuple):
    """A visitor or a network, as a keyed hash, and how many of their decisions in an hour are learned from."""

    visitor: str
    at_most: int


Features = Mapping[str, float | str]


class CandidateTerms(NamedTuple):
    """Candidates of a decision that are no items of the placement, and how many such items it learns."""

    #: by id
    features: Mapping[str, Features]
    at_most: int


class RewardTerms(NamedTuple):
    """The values of a decision's events, and the end of their acceptance."""

    #: JSON: by name a number, or null for the value that the event brings
    text: str
    until: float


class Event(NamedTuple):
    """An event after a view, such as a purchase."""

    name: str
    value: float | None = None
    #: the reporter's id of the event; None in an outcome, whose events are reported together
    event_id: str | None = None


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
    #: if given, `items` and `arm` are for a visitor without a list
    sticky: Sticky | None = None
    fate: Fate = "issued"
    #: the segment's text (`slotwise.service.schemas.segment_rules`); "" without context
    segment: str = ""
    #: the placement's maximum window if the decision waits for it to measure delays
    waits_seconds: float | None = None
    #: by slot, the probability of its item, if it is known when the decision is issued
    propensities: tuple[float, ...] | None = None
    #: the decision that its list was drawn for, if a visitor sees it again
    list_of: str | None = None
    caps: tuple[HourlyCap, ...] = ()
    #: whether it is beyond one of the caps, and not learned from
    capped: bool = False
    reward: RewardTerms | None = None
    candidates: CandidateTerms | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a list: a click, no click, or not shown.

    Parameters
    ----------
    kind
        `"clicked"`, `"no_click"` or `"not_shown"`.
    item
        The first clicked item, which the value is of.
    then
        Items that were clicked after it, in order.
    value
        The reported value of the click.
    events
        Events that are reported with it.
    """

    kind: Kind
    item: str | None = None
    then: tuple[str, ...] = ()
    value: float | None = None
    events: tuple[Event, ...] = ()

    @property
    def clicks(self) -> tuple[str, ...]:
        """All clicked items, in order."""
        return () if self.item is None else (self.item, *self.then)


@dataclass(frozen=True, slots=True)
class Report:
    """A reported outcome, or without one, later events."""

    decision: str
    outcome: Outcome | None
    now: float
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Receipt:
    """The verdict on a report, and the decision's items and earlier outcome."""

    verdict: Verdict
    items: tuple[str, ...] = ()
    #: the outcome that was recorded before
    recorded: Outcome | None = None
    #: the reason of `invalid_event`, or the id of an event in conflict
    why: str | None = None


@dataclass(frozen=True, slots=True)
class LoggedDecision:
    """A decision with its outcome."""

    decision: IssuedDecision
    #: None without a report, which is a no-click once it is final
    outcome: Outcome | None
    #: whether it is past its deadline, and counted
    final: bool
    #: whether an outcome came after the deadline
    late: bool = False
    #: by slot, the probability of its item; None if it is unknown
    propensities: tuple[float, ...] | None = None
    #: events after the outcome
    events: tuple[Event, ...] = ()
    #: what it brought; None if nothing is known
    value: float | None = None
