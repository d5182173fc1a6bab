"""What must hold of events: written from `reward-events.md` and the service's contract."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tests.service.simulation.model_types import Event, Placement, Reported, Row, must
from tests.service.simulation.requests import Delivery

DAY = 86_400.0


def as_event(event: Iterable[object]) -> Event:
    name, value, event_id = event
    return name, value, event_id  # type: ignore[return-value]


def faults(row: Row, events: Iterable[Event]) -> set[str]:
    """The verdict on events that can be none of the decision's, if there are some."""
    worth = row.reward or {}
    wrong = any(
        name not in worth or name == "click" or (worth[name] is None and value is None) for name, value, _ in events
    )
    return {"invalid_event"} if wrong else set()


def verdicts(row: Row, events: tuple[Event, ...], now: float, *, by_token: bool) -> set[str]:
    """What a report of later events may be answered in this state: if it is refused, for any of the reasons."""
    refusals = faults(row, events)
    if row.outcome.kind == "not_shown":
        refusals.add("invalid_event")
    known = {event_id: (name, value, event_id) for name, value, event_id in row.events}
    if any(known.get(event[2], event) != event for event in events):
        refusals.add("conflict")
    if now >= (row.deadline if by_token else row.events_until or 0.0):
        refusals.add("late")
    if refusals:
        return refusals
    return {"duplicate"} if all(event in row.events for event in events) else {"recorded"}


class Rewards:
    """The events of all decisions."""

    def __init__(self) -> None:
        #: reports of events by decision, and how many of them were answered as recorded
        self._reports: dict[str, list[Delivery]] = {}
        self._recorded: Counter[str] = Counter()

    def arrived(self, id: str, delivery: Delivery) -> None:
        self._reports.setdefault(id, []).append(delivery)

    def issued(self, row: Row, placement: Placement, rewards: list[dict[str, float | None] | None]) -> None:
        """A decision has the reward of a definition, and accepts events for its days."""
        must(row.reward in rewards, "a reward that was never defined", row)
        until = None if placement.reward is None else max(row.deadline, row.issued + placement.reward_days * DAY)
        must(row.events_until == until, "events are accepted until another time", until, row)
        must(not row.events, "a new decision with events", row)

    def changed(self, before: Row, after: Row) -> None:
        """Events were added, each of which was reported in time, and with all others of its report."""
        must(after.events[: len(before.events)] == before.events, "an event was lost", before, after)
        new = {*after.events[len(before.events) :]}
        must(len({event[2] for event in after.events}) == len(after.events), "an event twice", after)
        must(before.outcome.kind != "not_shown", "events of a list that was not shown", before, after)
        for delivery in self._reports.get(after.id, ()):
            assert delivery.request.later is not None
            events = {as_event(event) for event in delivery.request.later[1]}
            until = after.deadline if delivery.request.by_token else after.events_until
            in_time = delivery.now is not None and until is not None and delivery.now < until
            if in_time and not delivery.is_refused and events <= {*after.events}:
                new -= events
        must(not new, "events that nobody reported in time, or a part of a report", new, after)

    def recorded(self, row: Row) -> None:
        """A report of events was answered as recorded: each adds one event at least."""
        self._recorded[row.id] += 1
        must(self._recorded[row.id] <= len(row.events), "events recorded twice", row)


def outcome_faults(row: Row, outcome: Reported) -> set[str]:
    """The verdicts on an outcome that can never be the decision's."""
    refusals = faults(row, outcome.events)
    if not {*outcome.clicks} <= {*row.items}:
        refusals.add("unknown_item")
    if outcome.kind == "not_shown" and row.events:
        refusals.add("invalid_event")
    return refusals
