"""Decisions and placements as the model knows them."""

from __future__ import annotations

from typing import Any, NamedTuple

#: name, value, and the reporter's id
Event = tuple[str, float | None, str | None]


class Violation(AssertionError):
    """Something is true that must not be."""


def must(holds: object, what: str, *about: object) -> None:
    if not holds:
        raise Violation(" · ".join([what, *map(str, about)]))


class Reported(NamedTuple):
    """An outcome."""

    kind: str | None = None
    clicked: str | None = None
    then: tuple[str, ...] = ()
    value: float | None = None
    events: tuple[Event, ...] = ()

    @classmethod
    def of(cls, outcome: Any) -> Reported:
        return cls(outcome.kind, outcome.item, tuple(outcome.then), outcome.value, tuple(map(tuple, outcome.events)))

    @property
    def clicks(self) -> tuple[str, ...]:
        return () if self.clicked is None else (self.clicked, *self.then)


NOTHING = Reported()
NO_CLICK = Reported("no_click")
NOT_SHOWN = Reported("not_shown")


class Row(NamedTuple):
    """A decision as it is stored."""

    id: str
    placement: str
    items: tuple[str, ...]
    arm: str
    issued: float
    deadline: float
    segment: str
    list_of: str | None
    capped: bool
    late: bool
    final: bool
    #: what events are worth; None is the value that the event brings
    reward: dict[str, float | None] | None
    events_until: float | None
    events: tuple[Event, ...]
    outcome: Reported


class Placement(NamedTuple):
    """The parts of a definition that the model knows of."""

    slots: int
    items: tuple[str, ...]
    window: float
    sticky: float | None = None
    cap: int | None = None
    reward: dict[str, float | None] | None = None
    reward_days: int = 0


class Shown(NamedTuple):
    """The list that a visitor sees until a time."""

    row: Row
    until: float
