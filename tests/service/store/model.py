"""What a store must do, in plain Python: no transactions, no batches, one decision after the other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from slotwise.service.store.contract import DAY, HOUR, Decision, Outcome


@dataclass
class Known:
    """A decision as the model remembers it."""

    decision: Decision
    epoch: int | None
    outcome: Outcome | None = None
    #: when the outcome that stands was reported
    reported: float = 0.0
    final: bool = False
    late: bool = False

    @property
    def kind(self) -> str:
        return self.outcome.kind if self.outcome else "no_click"

    @property
    def value(self) -> float:
        return (self.outcome.value if self.outcome else None) or 0.0

    @property
    def several(self) -> bool:
        return self.outcome is not None and len(set(self.outcome.clicks)) > 1


@dataclass
class Model:
    known: dict[str, Known] = field(default_factory=dict)
    #: compacted, but still counted
    dropped: list[Known] = field(default_factory=list)
    duplicates: int = 0
    conflicts: int = 0
    epoch: Counter[str] = field(default_factory=Counter)
    held: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: what was counted, by placement, beginning, hours, segment, arm and then a counter's name or slot, item and count
    periods: Counter[tuple[Any, ...]] = field(default_factory=Counter)

    #: what was believed at the ends of hours, by placement and their beginning
    ends: dict[tuple[str, int], str] = field(default_factory=dict)

    def note(self, decision: Decision, *what: Any, more: float = 1) -> None:
        start = int(decision.issued // HOUR) * HOUR
        self.periods[decision.placement, start, 1, decision.segment, decision.arm, *what] += more  # type: ignore[assignment]

    def merge(self, before: float) -> int:
        end = before // DAY * DAY
        old = [key for key in self.periods if key[2] == 1 and key[1] < end]
        days = {(key[0], key[1] // DAY) for key in old}
        for key in old:
            self.periods[(key[0], key[1] // DAY * DAY, 24, *key[3:])] += self.periods.pop(key)
        return len(days)

    def issue(self, decision: Decision) -> tuple[str, ...]:
        epoch = None
        items = decision.items
        if decision.holds:
            items = self.held.setdefault(decision.placement, items)
            epoch = self.epoch[decision.placement]
        self.known[decision.id] = Known(replace(decision, items=items), epoch)
        self.note(decision, "issued")
        return items

    def report(self, id: str, outcome: Outcome, now: float) -> str:
        if id not in self.known:
            return "unknown_decision"
        known = self.known[id]
        if any(item not in known.decision.items for item in outcome.clicks):
            return "unknown_item"
        in_time = now < known.decision.deadline
        if in_time and known.outcome == outcome:
            self.note(known.decision, "duplicates")
            self.duplicates += 1
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
        self.conflicts += 1
        return "conflict"

    def finalise(self, now: float) -> int:
        due = [known for known in self.known.values() if not known.final and known.decision.deadline <= now]
        for known in due:
            known.final = True
        for known in due:
            self._count(known)
            name, passed = known.decision.placement, known.kind == "no_click"
            if passed and known.epoch is not None and known.epoch == self.epoch[name]:
                self.epoch[name] += 1
                self.held.pop(name, None)
        return len(due)

    def _count(self, known: Known) -> None:
        self.note(known.decision, known.kind)
        self.note(known.decision, "silent", more=known.outcome is None)
        self.note(known.decision, "several", more=known.several)
        self.note(known.decision, "value", more=known.value)
        self.note(known.decision, "squares", more=known.value**2)
        for slot, item in enumerate(known.decision.items if known.kind != "not_shown" else ()):
            clicked = known.outcome is not None and known.outcome.item == item
            self.note(known.decision, slot, item, "clicks", more=clicked)
            self.note(known.decision, slot, item, "passes", more=known.kind == "no_click")
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
        old = [id for id, known in self.known.items() if known.final and known.decision.deadline < before]
        self.dropped += [self.known.pop(id) for id in old]
        return len(old)

    def tally(self) -> dict[tuple[str, str, int, str], tuple[float, ...]]:
        clicks, passes, shows, valued = (Counter[tuple[str, str, int, str]]() for _ in range(4))
        value, squares = (Counter[tuple[str, str, int, str]]() for _ in range(2))
        for known in [*self.known.values(), *self.dropped]:
            if not known.final or known.kind == "not_shown":
                continue
            for slot, item in enumerate(known.decision.items):
                pair = known.decision.placement, known.decision.segment, slot, item
                shows[pair] += 1
                passes[pair] += known.kind == "no_click"
                if known.outcome is not None and known.outcome.item == item:
                    clicks[pair] += 1
                    valued[pair] += known.outcome.value is not None
                    value[pair] += known.value  # type: ignore[assignment]
                    squares[pair] += known.value**2  # type: ignore[assignment]
        counts = (clicks, passes, shows, valued, value, squares)
        return {pair: tuple(count[pair] for count in counts) for pair in shows}

    def counted(self) -> Counter[str]:
        found = Counter[str](duplicates=self.duplicates, conflicts=self.conflicts)
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
