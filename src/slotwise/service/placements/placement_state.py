"""One placement as a worker holds it: its learner, lists drawn ahead, and what was decided by what it believes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from slotwise.core.tally import Tally
from slotwise.core.types import FloatArray, IntArray
from slotwise.ranker import Learner
from slotwise.service.learning.decay import DecayedCounts, Recent
from slotwise.service.learning.learner_factory import by_segment, matrices
from slotwise.service.learning.outcome_window import WHOLE_SHARE
from slotwise.service.learning.period_counts import PeriodCounts
from slotwise.service.schemas.definition import FollowingWindow, PlacementDefinition
from slotwise.service.schemas.segment_rules import VisitorSegments
from slotwise.service.storage.count_rows import PeriodRow, TallyRow
from slotwise.service.storage.decision_types import Arm, IssuedDecision

#: how many lists are drawn at once: a call costs more than a draw where items are few
MAX_DRAWN, DRAWN_ITEMS = 16, 16_000


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
class RedrawnLists:
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
        >>> RedrawnLists(99, pairs).propensities(["a", "b"], "learned")
        (0.5, 0.1)
        >>> RedrawnLists(99, pairs, share=0.2, given=("a", "c")).propensities(["a", "b"], "learned")
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
class PendingPropensities:
    """Of one belief: where it moves, another begins."""

    waiting: dict[Conditions, list[IssuedDecision]] = field(default_factory=dict)
    #: None where drawing was too dear
    drawn: dict[Conditions, RedrawnLists | None] = field(default_factory=dict)
    #: decisions of which it was known as they were made
    known: int = 0
    _count: int = 0

    @property
    def is_of_use(self) -> bool:
        """Whether there is anything to settle."""
        return bool(self.waiting or self.known)

    def note(self, decision: IssuedDecision, conditions: Conditions) -> None:
        """Remember a decision."""
        if self._count < MAX_WAITING:
            self._count += 1
            self.waiting.setdefault(conditions, []).append(decision)

    def take(self, conditions: Conditions) -> list[IssuedDecision]:
        """Those that were made under these conditions, which wait no longer."""
        decisions = self.waiting.pop(conditions)
        self._count -= len(decisions)
        return decisions


@dataclass
class Placement:
    """One placement as this worker knows it; its learner, its revision and what was drawn ahead change."""

    name: str
    definition: PlacementDefinition
    learner: Learner
    #: the learner's items in the order of its tally
    numbers: Mapping[str, int]
    version: int
    revision: int
    segments: VisitorSegments
    #: what the learner was told that no longer grows, by segment: counts under the names of older definitions
    settled: Mapping[int, Tally]
    #: the rows of which clicks said what they brought, by segment, slot and item; only whoever reads the store uses it
    brought: dict[tuple[str, int, str], TallyRow]
    #: how long decisions wait now, but for those that tell of delays
    window_seconds: float
    #: how its counts fade, and what was read of the periods to which something may be added; None where nothing fades
    recent: Recent | None = None
    #: lists that were drawn ahead, for decisions without wishes, by segment; thrown away when something is learned
    drawn: dict[int, list[tuple[str, ...]]] = field(default_factory=dict)
    #: what was decided by what the learner believes now
    ledger: PendingPropensities = field(default_factory=PendingPropensities)

    @cached_property
    def listed(self) -> frozenset[str]:
        """The items that may be shown."""
        return frozenset(item.id for item in self.definition.items)

    def choose(self, exclude: Collection[str], pin: Mapping[str, int], segment: str) -> tuple[str, ...]:
        """A list for a visitor, the first slot first."""
        number = self.segments.number(segment)
        if self.definition.mode == "frozen":
            return self.learner.choose_best(exclude, pin, number)
        if exclude or pin != self.definition.pin:
            return self.learner.choose(exclude, pin, number)
        drawn = self.drawn.get(number)
        if not drawn:
            many = max(1, min(MAX_DRAWN, DRAWN_ITEMS // len(self.numbers)))
            drawn = self.drawn[number] = self.learner.choose_several(many, number, pin=pin)
        return drawn.pop()

    def draw(self, count: int, conditions: Conditions) -> Counter[tuple[int, str]]:
        """How often each item is in each slot, counted from 0, of more lists that `choose` could have given."""
        exclude, pin = conditions.wishes
        return self.learner.count_several(count, self.segments.number(conditions.segment), exclude=exclude, pin=pin)

    def window(self) -> tuple[float, float | None]:
        """Seconds that a decision is to wait, and, where it is one of those that tell of delays, the longest it may."""
        wanted = self.definition.window_seconds
        if not isinstance(wanted, FollowingWindow):
            return wanted, None
        if self.window_seconds >= wanted.at_most or random.random() < WHOLE_SHARE:
            return wanted.at_most, wanted.at_most
        return self.window_seconds, None

    def more(self, rows: Iterable[TallyRow]) -> dict[int, tuple[IntArray, IntArray]] | None:
        """Clicks and passes that the learner has not seen, by segment; None where it has to start anew."""
        rows = list(rows)
        if not all(self.segments.is_current(row.segment) for row in rows):
            return None
        found = {}
        for segment, counted in by_segment(self.segments, rows).items():
            clicks, passes = matrices(counted, self.numbers, self.definition.slots)
            # rows that did not change after that revision are not among them
            touched = (clicks > 0) | (passes > 0)
            before = self.learner.tally(segment)
            if segment in self.settled:
                clicks, passes = clicks + self.settled[segment].clicks, passes + self.settled[segment].passes
            found[segment] = (
                np.where(touched, clicks - before.clicks, 0),
                np.where(touched, passes - before.passes, 0),
            )
        return found

    def more_weighed(
        self, recent: Recent, rows: Iterable[PeriodRow]
    ) -> dict[int, tuple[FloatArray, FloatArray]] | None:
        """The same where counts fade, of rows of periods that changed."""
        added = recent.added(rows)
        if added is None:
            return None
        faded = DecayedCounts(PeriodCounts.of(added), recent.fading)
        return faded.matrices(self.segments, self.numbers, self.definition.slots)

    def absorb(self, more: NewCounts) -> None:
        """Take in what was counted up to a revision of the store's tally."""
        if self.recent is not None:
            self.recent.keep(more.periods)
        for segment, (clicks, passes) in more.counts.items():
            self.learner.update_from_tally(clicks, passes, segment=segment)
        for item, value in more.values.items():
            self.learner.set_value(item, value)
        self.drawn.clear()
        self.ledger = PendingPropensities()
        self.window_seconds = more.window_seconds
        self.revision = more.revision


@dataclass(frozen=True)
class NewCounts:
    """More for a placement to absorb."""

    placement: Placement
    #: clicks and passes by segment
    counts: Mapping[int, tuple[IntArray, IntArray] | tuple[FloatArray, FloatArray]]
    #: what clicks on items are worth from now on, of those for which that changed
    values: Mapping[str, float]
    window_seconds: float
    revision: int
    #: the rows of periods that are among the counts, where these fade
    periods: Sequence[PeriodRow] = ()
