"""Rewards: what the click and the events of a decision are worth, by the terms under which it was issued."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from pydantic_core import from_json

from slotwise.service.storage.decision_types import Event, Outcome
from slotwise.service.storage.sql_base import read, written

#: the name of a click among the events of a reward
CLICK: Final = "click"
#: events of one decision, apart from those of its outcome
MAX_EVENTS: Final = 100


@lru_cache(maxsize=1024)
def worth_of(reward: str) -> Mapping[str, float | None]:
    """Return the value of each event, from the text of a column; None is the value that the event brings."""
    worth: dict[str, float | None] = from_json(reward)
    return worth


def decision_value(reward: str | None, outcome: Outcome | None, events: Sequence[Event]) -> float | None:
    """The value of a decision; None if there is none, or the reported value of its click without a reward.

    >>> reward, purchase = '{"click": 0.5, "cart": 2, "purchase": null}', Event("purchase", 39.0)
    >>> decision_value(reward, Outcome("clicked", "tea"), []), decision_value(reward, None, [])
    (0.5, None)
    >>> decision_value(reward, Outcome("clicked", "tea", events=(Event("cart"),)), [purchase])
    41.5
    """
    if reward is None:
        return None if outcome is None else outcome.value
    counted = [*(() if outcome is None else outcome.events), *events]
    if outcome is not None and outcome.kind == "clicked":
        counted.append(Event(CLICK, outcome.value))
    worth = worth_of(reward)
    # a definition without a click says that it is worth nothing by itself
    parts = [(event.value or 0.0) if (fixed := worth.get(event.name, 0.0)) is None else fixed for event in counted]
    return sum(parts) if parts else None


def event_names(outcome: Outcome | None, events: Sequence[Event]) -> set[str]:
    """The names of all events of a decision."""
    return {event.name for event in (*(() if outcome is None else outcome.events), *events)}


def fault_of(reward: str | None, events: Sequence[Event]) -> str | None:
    """The reason why a decision cannot have these events, or None."""
    if not events:
        return None
    if reward is None:
        return f"events must be omitted: the placement had no reward when the list was issued, got {events[0].name!r}"
    worth = worth_of(reward)
    for event in events:
        if event.name == CLICK:
            return "events: a click is reported as the outcome, and is no further event"
        if event.name not in worth:
            names = sorted(worth.keys() - {CLICK})
            return f"events must be events of the placement's reward, {names}, got {event.name!r}"
        if worth[event.name] is None and event.value is None:
            return f"events: {event.name!r} must have a value, which is what it is worth"
    return None


def events_text(events: Sequence[Event]) -> str | None:
    """Events as the text of a column; None if there are none."""
    return written(events) if events else None


def events_of(text: str | None) -> tuple[Event, ...]:
    """Events from the text of a column."""
    return tuple(Event(*fields) for fields in read(text)) if text else ()
