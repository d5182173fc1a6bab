"""What a store must do, in plain Python: no transactions, no batches, one decision after the other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from slotwise.service.store.contract import Decision, Outcome


@dataclass
class Known:
    """A decision as the model remembers it."""

    decision: Decision
    epoch: int | None
    outcome: Outcome | None = None
    final: bool = False
    late: bool = False


@dataclass
class Model:
    known: dict[str, Known] = field(default_factory=dict)
    #: compacted, but still counted
    dropped: list[Known] = field(default_factory=list)
    duplicates: int = 0
    conflicts: int = 0
    epoch: Counter[str] = field(default_factory=Counter)
    held: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def issue(self, decision: Decision) -> tuple[str, ...]:
        epoch = None
        items = decision.items
        if decision.holds:
            items = self.held.setdefault(decision.placement, items)
            epoch = self.epoch[decision.placement]
        shown = Decision(decision.id, decision.placement, items, decision.arm, decision.issued, decision.deadline)
        self.known[decision.id] = Known(shown, epoch)
        return items

    def report(self, id: str, outcome: Outcome, now: float) -> str:
        if id not in self.known:
            return "unknown_decision"
        known = self.known[id]
        if outcome.kind == "clicked" and outcome.item not in known.decision.items:
            return "unknown_item"
        in_time = now < known.decision.deadline
        if in_time and known.outcome == outcome:
            self.duplicates += 1
            return "duplicate"
        changes = known.outcome is not None and known.outcome.kind == "no_click" and outcome.kind == "clicked"
        new = known.outcome is None or changes
        if not in_time or (new and known.final):
            known.late = True
            return "late"
        if new:
            known.outcome = outcome
            return "recorded"
        self.conflicts += 1
        return "conflict"

    def finalise(self, now: float) -> int:
        due = [known for known in self.known.values() if not known.final and known.decision.deadline <= now]
        for known in due:
            known.final = True
        for known in due:
            name, silent = known.decision.placement, known.outcome is None or known.outcome.kind == "no_click"
            if silent and known.epoch is not None and known.epoch == self.epoch[name]:
                self.epoch[name] += 1
                self.held.pop(name, None)
        return len(due)

    def compact(self, before: float) -> int:
        old = [id for id, known in self.known.items() if known.final and known.decision.deadline < before]
        self.dropped += [self.known.pop(id) for id in old]
        return len(old)

    def tally(self) -> dict[tuple[str, int, str], tuple[int, int, int]]:
        clicks, passes, shows = (Counter[tuple[str, int, str]]() for _ in range(3))
        for known in [*self.known.values(), *self.dropped]:
            kind = known.outcome.kind if known.outcome else "no_click"
            if not known.final or kind == "not_shown":
                continue
            for slot, item in enumerate(known.decision.items):
                pair = known.decision.placement, slot, item
                shows[pair] += 1
                passes[pair] += kind == "no_click"
                clicks[pair] += known.outcome == Outcome("clicked", item)
        return {pair: (clicks[pair], passes[pair], shows[pair]) for pair in shows}

    def counted(self) -> Counter[str]:
        found = Counter[str](duplicates=self.duplicates, conflicts=self.conflicts)
        for known in [*self.known.values(), *self.dropped]:
            found["issued"] += 1
            found["late"] += known.late
            if known.final:
                found[known.outcome.kind if known.outcome else "no_click"] += 1
                found["silent"] += known.outcome is None
        return +found
