"""Decisions that were made from one state of a placement's belief, until it is known how likely their lists were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from slotwise.service.storage.decision_types import Arm, Decision

#: decisions that wait; of those beyond, nothing will be known
MAX_WAITING: Final = 10_000


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
    #: how likely a decision is held out, and what it shows then
    share: float = 0.0
    given: tuple[str, ...] = ()

    def propensities(self, items: Sequence[str], arm: Arm) -> tuple[float, ...]:
        """Per slot, the probability that the item which is in it would be, before the arm was drawn.

        (1 - share)·q + share·[the holdout has it there]. Of q, the probability in the learned arm, lists drawn again
        are a sample, and a learned decision's own list is one more draw from the same distribution, so that it counts
        too. Then q is never 0, and as any of the draws could have been the one that was shown, 1/q is right on average:
        the mean of [item shown]/q is the probability that any of the draws has the item, for every item however rare.

        >>> pairs = Counter({(0, "a"): 49, (1, "b"): 9})
        >>> DrawnAgain(99, pairs).propensities(["a", "b"], "learned")
        (0.5, 0.1)
        >>> DrawnAgain(99, pairs, share=0.2, given=("a", "c")).propensities(["a", "b"], "learned")
        (0.6, 0.08)
        """
        if arm == "shadow":
            return (1.0,) * len(items)
        own = int(arm == "learned")
        lists, share, given = self.lists + own, self.share, self.given
        found = []
        for slot, item in enumerate(items):
            propensity = (self.pairs.get((slot, item), 0) + own) / lists
            if share:
                propensity = (1.0 - share) * propensity + share * (slot < len(given) and given[slot] == item)
            found.append(round(propensity, 6))
        return tuple(found)


@dataclass
class Ledger:
    """Of one belief: where it moves, another begins."""

    waiting: dict[Conditions, list[Decision]] = field(default_factory=dict)
    #: None where drawing was too dear
    drawn: dict[Conditions, DrawnAgain | None] = field(default_factory=dict)
    #: decisions of which it was known as they were made
    known: int = 0
    _count: int = 0

    @property
    def is_of_use(self) -> bool:
        """Whether there is anything to settle."""
        return bool(self.waiting or self.known)

    def note(self, decision: Decision, conditions: Conditions) -> None:
        """Remember a decision."""
        if self._count < MAX_WAITING:
            self._count += 1
            self.waiting.setdefault(conditions, []).append(decision)

    def take(self, conditions: Conditions) -> list[Decision]:
        """Those that were made under these conditions, which wait no longer."""
        decisions = self.waiting.pop(conditions)
        self._count -= len(decisions)
        return decisions
