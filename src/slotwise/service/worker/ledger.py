"""Decisions that were made from one state of a placement's belief, until it is known how likely their lists were."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from slotwise.service.store.contract import Decision

#: decisions that wait; of those beyond, nothing will be known
MOST_WAITING: Final = 10_000


class Conditions(NamedTuple):
    """What a list was chosen under, beside the belief."""

    segment: str = ""
    exclude: tuple[str, ...] = ()
    #: items and their slots, which count from 1
    pin: tuple[tuple[str, int], ...] = ()

    @property
    def wishes(self) -> tuple[tuple[str, ...], dict[str, int]]:
        """What to leave out, and what must be where."""
        return self.exclude, dict(self.pin)


NO_CONDITIONS: Final = Conditions()


@dataclass(frozen=True, slots=True)
class DrawnAgain:
    """How often each item was in each slot, counted from 0, in lists drawn under the same conditions."""

    lists: int
    pairs: Counter[tuple[int, str]]


@dataclass
class Ledger:
    """Of one belief: where it moves, another begins."""

    waiting: dict[Conditions, list[Decision]] = field(default_factory=dict)
    #: None where drawing was too dear
    drawn: dict[Conditions, DrawnAgain | None] = field(default_factory=dict)
    _count: int = 0

    def note(self, decision: Decision, conditions: Conditions) -> None:
        """Remember a decision."""
        if self._count < MOST_WAITING:
            self._count += 1
            self.waiting.setdefault(conditions, []).append(decision)

    def take(self, conditions: Conditions) -> list[Decision]:
        """Those that were made under these conditions, which wait no longer."""
        decisions = self.waiting.pop(conditions)
        self._count -= len(decisions)
        return decisions
