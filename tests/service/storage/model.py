"""What a store must do, in plain Python: no transactions, no batches, one decision after the other."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from slotwise.service.storage.decision_types import DAY, HOUR, Arm, Event, IssuedDecision, Outcome


@dataclass
class Known:
    """A decision as the model remembers it."""

    decision: IssuedDecision
    outcome: Outcome | None = None
    #: when the outcome that stands was reported
    reported: float = 0.0
    final: bool = False
    late: bool = False
    propensities: tuple[float, ...] | None = None
    #: by event_id, in the order in which they came
    events: dict[str | None, Event] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return self.outcome.kind if self.outcome else "no_click"

    @property
    def value(self) -> float:
        """What it brought: by the reward under which it was issued, or as it was reported."""
        reported = (self.outcome.value if self.outcome else None) or 0.0
        if self.decision.reward is None:
            return reported
        worth = json.loads(self.decision.reward.text)
        total = worth.get("click", 0.0) if self.kind == "clicked" else 0.0
        for event in self.all_events:
            total += (event.value or 0.0) if worth[event.name] is None else worth[event.name]
        return float(total)

    @property
    def all_events(self) -> list[Event]:
        return [*(self.outcome.events if self.outcome else ()), *self.events.values()]

    @property
    def is_valued(self) -> bool:
        """Whether its click has a value, which may be 0."""
        return self.decision.reward is not None or (self.outcome is not None and self.outcome.value is not None)

    @property
    def clicks(self) -> set[str]:
        return set() if self.outcome is None else set(self.outcome.clicks)

    @property
    def several(self) -> bool:
        return len(self.clicks) > 1

    def passes(self, item: str) -> bool:
        """Nothing was clicked, or several items: all of a list that was mostly clicked are passed, else the others."""
        if not self.several:
            return self.kind == "no_click"
        return item not in self.clicks or len(self.clicks) > len(self.decision.items) / 2


@dataclass
class Placement:
    """A placement as the model remembers it."""

    definition: str
    version: int
    #: the versions that changes made, the newest last
    changes: list[int] = field(default_factory=list)
    #: by key: what was asked for, and the decision's id
    keys: dict[str, tuple[str, str]] = field(default_factory=dict)
    #: by visitor: the terms, the items, the arm, the end, and the decision that they were for
    lists: dict[str, tuple[str, tuple[str, ...], Arm, float, str]] = field(default_factory=dict)
    repeats: Counter[str] = field(default_factory=Counter)


@dataclass
class Alert:
    """The last state of a topic, and when its message is sent."""

    state: str
    message: str | None
    since: float
    next_try: float | None
    attempts: int = 0


@dataclass
class Model:
    placements: dict[str, Placement] = field(default_factory=dict)
    #: where the versions of those that were deleted ended
    gone: Counter[str] = field(default_factory=Counter)
    known: dict[str, Known] = field(default_factory=dict)
    #: compacted, but still counted
    dropped: list[Known] = field(default_factory=list)
    #: what was counted, by placement, beginning, hours, segment, arm and then a counter's name or slot, item and count
    periods: Counter[tuple[Any, ...]] = field(default_factory=Counter)

    alerts: dict[tuple[str, str], Alert] = field(default_factory=dict)
    #: what was believed at the ends of hours, by placement and their beginning
    ends: dict[tuple[str, int], str] = field(default_factory=dict)

    def note(self, decision: IssuedDecision, *what: Any, more: float = 1) -> None:
        start = int(decision.issued // HOUR) * HOUR
        self.periods[decision.placement, start, 1, decision.segment, decision.arm, *what] += more  # type: ignore[assignment]

    def merge(self, before: float) -> int:
        end = before // DAY * DAY
        old = [key for key in self.periods if key[2] == 1 and key[1] < end]
        days = {(key[0], key[1] // DAY) for key in old}
        for key in old:
            self.periods[(key[0], key[1] // DAY * DAY, 24, *key[3:])] += self.periods.pop(key)
        return len(days)

    def note_state(self, name: str, topic: str, state: str, message: str | None, now: float) -> None:
        alert = self.alerts.get((name, topic))
        if name in self.placements and (alert is None or alert.state != state):
            self.alerts[name, topic] = Alert(state, message, now, None if message is None else now)

    def claim_alerts(self, now: float) -> set[tuple[str, ...]]:
        """Messages are sent for an hour, with pauses that double."""
        due = {key: alert for key, alert in self.alerts.items() if alert.next_try is not None and alert.next_try <= now}
        for alert in due.values():
            alert.next_try = None if now - alert.since > HOUR else now + 5.0 * 2.0**alert.attempts
            alert.attempts += 1
        return {(*key, alert.state, alert.message or "") for key, alert in due.items()}

    def finish_alert(self, name: str, topic: str, state: str) -> None:
        alert = self.alerts.get((name, topic))
        if alert is not None and alert.state == state:
            alert.next_try = None

    def put(self, name: str, definition: str, at: int | None) -> tuple[str, int]:
        found = self.placements.get(name)
        version = found.version if found else 0
        if at is not None and at != version:
            return "stale", version
        if found is None:
            version = self.gone[name] + 1
            self.placements[name] = Placement(definition, version, changes=[version])
            return "created", version
        if found.definition == definition:
            return "same", version
        found.definition, found.version = definition, version + 1
        found.changes.append(found.version)
        return "changed", found.version

    def drop(self, name: str, at: int | None) -> str:
        found = self.placements.get(name)
        if found is None:
            return "unknown"
        if at is not None and at != found.version:
            return "stale"
        self.gone[name] = found.version
        del self.placements[name]
        self.known = {id: known for id, known in self.known.items() if known.decision.placement != name}
        self.dropped = [known for known in self.dropped if known.decision.placement != name]
        self.periods = Counter({key: count for key, count in self.periods.items() if key[0] != name})
        self.alerts = {key: alert for key, alert in self.alerts.items() if key[0] != name}
        self.ends = {key: text for key, text in self.ends.items() if key[0] != name}
        return "dropped"

    def issue(self, decision: IssuedDecision) -> IssuedDecision:
        placement = self.placements.get(decision.placement)
        if placement is None:
            return replace(decision, fate="unknown_placement")
        if decision.once is not None:
            request, id = placement.keys.get(decision.once.key, ("", ""))
            if id in self.known and decision.issued < self.known[id].decision.deadline:
                if request != decision.once.request:
                    return replace(decision, fate="other_request")
                return replace(self.known[id].decision, fate="repeated")
            placement.keys[decision.once.key] = decision.once.request, decision.id
        shown = self._seen_before(placement, decision)
        self.known[decision.id] = Known(shown)
        self.note(shown, "issued")
        return shown

    def _seen_before(self, placement: Placement, decision: IssuedDecision) -> IssuedDecision:
        sticky = decision.sticky
        if sticky is None:
            return decision
        if sticky.visitor in placement.lists:
            terms, items, arm, until, id = placement.lists[sticky.visitor]
            may_be_shown = all(item in sticky.allowed for item in items) and len(items) == len(decision.items)
            as_pinned = all(items[slot - 1 : slot] == (item,) for item, slot in sticky.pinned.items())
            if terms == sticky.terms and decision.issued < until and may_be_shown and as_pinned:
                return replace(decision, items=items, arm=arm, list_of=id)
        placement.lists[sticky.visitor] = sticky.terms, decision.items, decision.arm, sticky.until, decision.id
        return decision

    def fill(self, id: str, propensities: tuple[float, ...]) -> None:
        if id in self.known and self.known[id].decision.list_of is None:
            self.known[id].propensities = propensities

    def propensities(self, id: str) -> tuple[float, ...] | None:
        # a list that is shown again was drawn as it was the first time
        first = self.known.get(self.known[id].decision.list_of or id)
        return first.propensities if first else None

    def report(self, id: str, outcome: Outcome, now: float) -> str:
        if id not in self.known:
            return "unknown_decision"
        known = self.known[id]
        if not self._may_have(known, outcome.events) or (known.events and outcome.kind == "not_shown"):
            return "invalid_event"
        if any(item not in known.decision.items for item in outcome.clicks):
            return "unknown_item"
        in_time = now < known.decision.deadline
        if in_time and known.outcome == outcome:
            self.note(known.decision, "duplicates")
            self.placements[known.decision.placement].repeats["duplicates"] += 1
            return "duplicate"
        changes = known.outcome is not None and known.outcome.kind == "no_click" and outcome.kind == "clicked"
        new = known.outcome is None or changes
        if not in_time or (new and known.final):
            if not known.late:
                self.note(known.decision, "late")
            known.late = True
            return "late"
        if new:
            known.outcome, known.reported = outcome, now
            return "recorded"
        self.note(known.decision, "conflicts")
        self.placements[known.decision.placement].repeats["conflicts"] += 1
        return "conflict"

    def _may_have(self, known: Known, events: tuple[Event, ...]) -> bool:
        if not events:
            return True
        if known.decision.reward is None:
            return False
        worth = json.loads(known.decision.reward.text)
        return all(
            event.name in worth and event.name != "click" and (worth[event.name] is not None or event.value is not None)
            for event in events
        )

    def add_events(self, id: str, events: tuple[Event, ...], now: float) -> str:
        if id not in self.known:
            return "unknown_decision"
        known = self.known[id]
        if not self._may_have(known, events) or known.kind == "not_shown":
            return "invalid_event"
        assert known.decision.reward is not None
        if now >= known.decision.reward.until:
            return "late"
        after = dict(known.events)
        for event in events:
            if after.setdefault(event.event_id, event) != event:
                return "conflict"
        if len(after) == len(known.events):
            return "duplicate"
        value, names = known.value, {event.name for event in known.all_events}
        known.events = after
        if known.final:
            self.note(known.decision, "value", more=known.value - value)
            self.note(known.decision, "squares", more=known.value**2 - value**2)
            for name in {event.name for event in known.all_events} - names:
                self._note_event(known, name)
        return "recorded"

    def _note_event(self, known: Known, name: str) -> None:
        start = int(known.decision.issued // HOUR) * HOUR
        self.periods[known.decision.placement, start, 1, "event", known.decision.arm, name] += 1

    def finalise(self, now: float) -> int:
        due = [known for known in self.known.values() if not known.final and known.decision.deadline <= now]
        for known in due:
            known.final = True
        for known in due:
            self._count(known)
        return len(due)

    def _count(self, known: Known) -> None:
        self.note(known.decision, known.kind)
        self.note(known.decision, "silent", more=known.outcome is None)
        self.note(known.decision, "several", more=known.several)
        self.note(known.decision, "value", more=known.value)
        self.note(known.decision, "squares", more=known.value**2)
        for name in {event.name for event in known.all_events}:
            self._note_event(known, name)
        for slot, item in enumerate(known.decision.items if known.kind != "not_shown" else ()):
            self.note(known.decision, slot, item, "clicks", more=item in known.clicks)
            self.note(known.decision, slot, item, "passes", more=known.passes(item))
            self.note(known.decision, slot, item, "shows")

    def waiting(self, name: str) -> tuple[int, float | None]:
        deadlines = [
            known.decision.deadline
            for known in self.known.values()
            if known.decision.placement == name and known.outcome is not None and not known.final
        ]
        return len(deadlines), min(deadlines, default=None)

    def delays(self, name: str, at_most: float) -> list[float]:
        return [
            known.reported - known.decision.issued
            for known in [*self.known.values(), *self.dropped]
            if known.decision.placement == name and known.decision.waits_seconds == at_most
            if known.final and known.kind == "clicked"
        ]

    def compact(self, before: float) -> int:
        def end(decision: IssuedDecision) -> float:
            return decision.deadline if decision.reward is None else decision.reward.until

        old = [id for id, known in self.known.items() if known.final and end(known.decision) < before]
        self.dropped += [self.known.pop(id) for id in old]
        return len(old)

    def drop_final(self, name: str) -> None:
        old = [id for id, known in self.known.items() if known.final and known.decision.placement == name]
        self.dropped += [self.known.pop(id) for id in old]

    def tally(self) -> dict[tuple[str, str, int, str], tuple[float, ...]]:
        clicks, passes, shows, valued = (Counter[tuple[str, str, int, str]]() for _ in range(4))
        value, squares = (Counter[tuple[str, str, int, str]]() for _ in range(2))
        for known in [*self.known.values(), *self.dropped]:
            if not known.final or known.kind == "not_shown":
                continue
            for slot, item in enumerate(known.decision.items):
                pair = known.decision.placement, known.decision.segment, slot, item
                shows[pair] += 1
                passes[pair] += known.passes(item)
                clicks[pair] += item in known.clicks
                if known.outcome is not None and known.outcome.item == item:
                    valued[pair] += known.is_valued
                    value[pair] += known.value  # type: ignore[assignment]
                    squares[pair] += known.value**2  # type: ignore[assignment]
        counts = (clicks, passes, shows, valued, value, squares)
        return {pair: tuple(count[pair] for count in counts) for pair in shows}

    def counted(self) -> Counter[str]:
        found = sum((placement.repeats for placement in self.placements.values()), Counter[str]())
        for known in [*self.known.values(), *self.dropped]:
            found["issued"] += 1
            found["late"] += known.late
            if known.final:
                found[known.kind] += 1
                found["silent"] += known.outcome is None
                found["several"] += known.several
                found["value"] += known.value  # type: ignore[assignment]
                found["squares"] += known.value**2  # type: ignore[assignment]
        return +found
