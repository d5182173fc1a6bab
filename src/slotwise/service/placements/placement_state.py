"""A placement in a worker's memory: its learner, lists drawn ahead, and decisions whose propensities are pending."""

from __future__ import annotations

import json
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
from slotwise.service.learning.decay import DecayedCounts, RecentCounts
from slotwise.service.learning.learner_factory import by_segment, matrices
from slotwise.service.learning.outcome_window import FULL_SHARE
from slotwise.service.learning.period_counts import PeriodCounts
from slotwise.service.schemas.definition import FollowingWindow, PlacementDefinition
from slotwise.service.schemas.name_rules import appearance
from slotwise.service.schemas.segment_rules import VisitorSegments
from slotwise.service.storage.candidate_items import CandidateItem
from slotwise.service.storage.count_rows import PeriodRow, TallyRow
from slotwise.service.storage.decision_types import Arm, Features, IssuedDecision

#: lists that are drawn at once: with few items, a call costs more than a draw
MAX_DRAWN, DRAWN_ITEMS = 16, 16_000


#: items × slots × segments from which on learning takes longer than others should wait for
LARGE_CELLS: Final = 20_000
#: decisions with pending propensities; those of further decisions stay unknown
MAX_WAITING: Final = 10_000


class Conditions(NamedTuple):
    """Segment and constraints of a list."""

    segment: str = ""
    exclude: tuple[str, ...] = ()
    #: items and their slots, counted from 1
    pin: tuple[tuple[str, int], ...] = ()
    candidates: tuple[str, ...] | None = None
    #: candidates that are no items of the placement, in the order of the request, with their features
    candidate_items: tuple[tuple[str, tuple[tuple[str, float | str], ...]], ...] = ()

    @property
    def constraints(self) -> tuple[tuple[str, ...], dict[str, int], tuple[str, ...] | None, dict[str, Features]]:
        """Excluded and pinned items, candidates, and candidate items with their features."""
        candidate_items: dict[str, Features] = {item: dict(features) for item, features in self.candidate_items}
        return self.exclude, dict(self.pin), self.candidates, candidate_items


NO_CONDITIONS: Final = Conditions()


@dataclass(frozen=True, slots=True)
class RedrawnLists:
    """How often each item was in each slot, counted from 0, in lists drawn under the same conditions."""

    lists: int
    pairs: Counter[tuple[int, str]]
    #: the holdout share, and the holdout's list
    share: float = 0.0
    control: tuple[str, ...] = ()

    def propensities(self, items: Sequence[str], arm: Arm) -> tuple[float, ...]:
        """Per slot, the probability of its item before the arm is drawn.

        (1 - share)·q + share·[the holdout has it there]. The probability q in the learned arm is
        estimated from redrawn lists. A learned decision's own list is one more draw from the same distribution, so it
        counts too. Then q is never 0. As any of the draws could have been the one that was shown, 1/q is unbiased: the
        mean of [item shown]/q is the probability that any of the draws has the item, for every item, even a rare one.

        >>> pairs = Counter({(0, "a"): 49, (1, "b"): 9})
        >>> RedrawnLists(99, pairs).propensities(["a", "b"], "learned")
        (0.5, 0.1)
        >>> RedrawnLists(99, pairs, share=0.2, control=("a", "c")).propensities(["a", "b"], "learned")
        (0.6, 0.08)
        """
        if arm == "shadow":
            return (1.0,) * len(items)
        own = int(arm == "learned")
        lists, share, control = self.lists + own, self.share, self.control
        propensities = []
        for slot, item in enumerate(items):
            propensity = (self.pairs.get((slot, item), 0) + own) / lists
            if share:
                propensity = (1.0 - share) * propensity + share * (slot < len(control) and control[slot] == item)
            propensities.append(round(propensity, 6))
        return tuple(propensities)


@dataclass
class PendingPropensities:
    """Decisions from one state of the posterior whose propensities are pending."""

    waiting: dict[Conditions, list[IssuedDecision]] = field(default_factory=dict)
    #: None if redrawing was too expensive
    redrawn: dict[Conditions, RedrawnLists | None] = field(default_factory=dict)
    #: decisions whose propensities were known when they were issued
    known: int = 0
    _count: int = 0

    @property
    def has_work(self) -> bool:
        """Whether a decision is waiting, or was counted as known."""
        return bool(self.waiting or self.known)

    def note(self, decision: IssuedDecision, conditions: Conditions) -> None:
        """Add a decision."""
        if self._count < MAX_WAITING:
            self._count += 1
            self.waiting.setdefault(conditions, []).append(decision)

    def take(self, conditions: Conditions) -> list[IssuedDecision]:
        """Remove and return the decisions under these conditions."""
        decisions = self.waiting.pop(conditions)
        self._count -= len(decisions)
        return decisions


@dataclass
class Placement:
    """A placement in memory; its learner, its revision and the lists drawn ahead change."""

    name: str
    definition: PlacementDefinition
    learner: Learner
    #: the learner's items in the order of its tally
    numbers: Mapping[str, int]
    version: int
    revision: int
    segments: VisitorSegments
    #: counts that no longer grow, by segment: those under segments of older definitions
    settled: Mapping[int, Tally]
    #: the rows with reported values, by segment, slot and item; used by the reader of the store only
    valued_rows: dict[tuple[str, int, str], TallyRow]
    #: the current outcome window, for decisions that do not wait for the maximum
    window_seconds: float
    #: the decay of its counts, and the rows of periods that may still grow; None if counts do not decay
    recent: RecentCounts | None = None
    #: lists drawn ahead for decisions without constraints, by segment; discarded when the posterior changes
    drawn: dict[int, list[tuple[str, ...]]] = field(default_factory=dict)
    #: decisions from the current posterior
    pending_propensities: PendingPropensities = field(default_factory=PendingPropensities)

    @cached_property
    def looks(self) -> dict[str, str]:
        """The items that may be shown, by how they look."""
        return {appearance(item): item for item in self.listed}

    @cached_property
    def listed(self) -> frozenset[str]:
        """The items that may be shown."""
        return frozenset(item.id for item in self.definition.items)

    @cached_property
    def reward_text(self) -> str | None:
        """What events are worth, as it is stored with each decision; None without a reward."""
        reward = self.definition.reward
        if reward is None:
            return None
        return json.dumps({name: None if worth == "value" else worth for name, worth in reward.items()})

    @property
    def is_large(self) -> bool:
        """Whether learning takes longer than others should wait for."""
        return len(self.numbers) * self.definition.slots * len(self.segments) >= LARGE_CELLS

    def choose(
        self,
        exclude: Collection[str],
        pin: Mapping[str, int],
        candidates: Collection[str] | None,
        candidate_items: Mapping[str, Features],
        segment: str,
    ) -> tuple[str, ...]:
        """A list for a visitor, the first slot first."""
        number = self.segments.number(segment)
        candidates, newcomers = self._told_apart(candidates, candidate_items)
        if not self.definition.exploring:
            return self.learner.choose_best(exclude, pin, number, candidates, newcomers)
        if exclude or candidates is not None or pin != self.definition.pin:
            return self.learner.choose(exclude, pin, number, candidates, newcomers)
        drawn = self.drawn.get(number)
        if not drawn:
            count = max(1, min(MAX_DRAWN, DRAWN_ITEMS // len(self.numbers)))
            drawn = self.drawn[number] = self.learner.choose_several(count, number, pin=pin)
        return drawn.pop()

    def draw(self, count: int, conditions: Conditions) -> Counter[tuple[int, str]]:
        """How often each item is in each slot, counted from 0, in newly drawn lists under the same conditions."""
        exclude, pin, own, others = conditions.constraints
        number = self.segments.number(conditions.segment)
        candidates, newcomers = self._told_apart(own, others)
        return self.learner.count_several(
            count, number, exclude=exclude, pin=pin, candidates=candidates, newcomers=newcomers
        )

    def _told_apart(
        self, candidates: Collection[str] | None, candidate_items: Mapping[str, Features]
    ) -> tuple[Collection[str] | None, Mapping[str, Features]]:
        """The candidates that the learner has, and those that are new to it, with their features."""
        if not candidate_items:
            return candidates, candidate_items
        known = [item for item in candidate_items if item in self.numbers]
        new = {item: features for item, features in candidate_items.items() if item not in self.numbers}
        return (*(candidates or ()), *known), new

    def window(self) -> tuple[float, float | None]:
        """Seconds that a decision waits, and the maximum if the decision waits for it to measure delays."""
        window = self.definition.window_seconds
        if not isinstance(window, FollowingWindow):
            return window, None
        if self.window_seconds >= window.at_most or random.random() < FULL_SHARE:
            return window.at_most, window.at_most
        return self.window_seconds, None

    def new_counts(
        self, rows: Iterable[TallyRow], numbers: Mapping[str, int]
    ) -> dict[int, tuple[IntArray, IntArray]] | None:
        """New clicks and passes by segment, with these numbers of items; None if the learner has to be rebuilt."""
        rows = list(rows)
        if not all(self.segments.is_current(row.segment) for row in rows):
            return None
        new_counts = {}
        for segment, segment_rows in by_segment(self.segments, rows).items():
            clicks, passes = matrices(segment_rows, numbers, self.definition.slots)
            # rows that did not change after that revision are missing
            touched = (clicks > 0) | (passes > 0)
            learned = self.learner.tally(segment)
            if segment in self.settled:
                clicks, passes = clicks + self.settled[segment].clicks, passes + self.settled[segment].passes
            new_counts[segment] = (
                np.where(touched, clicks - learned.clicks, 0),
                np.where(touched, passes - learned.passes, 0),
            )
        return new_counts

    def new_weighted_counts(
        self, recent: RecentCounts, rows: Iterable[PeriodRow], numbers: Mapping[str, int]
    ) -> dict[int, tuple[FloatArray, FloatArray]] | None:
        """New weighted clicks and passes by segment, from changed rows; None if the learner has to be rebuilt."""
        added = recent.added(rows)
        if added is None:
            return None
        decayed = DecayedCounts(PeriodCounts.of(added), recent.decay)
        return decayed.matrices(self.segments, numbers, self.definition.slots)

    def learn(self, counts: NewCounts) -> None:
        """Learn new counts, up to a revision of the store's tally."""
        if self.recent is not None:
            self.recent.keep(counts.periods)
        for candidate in counts.admitted:
            self.learner.admit(candidate.item, candidate.features)
        self.numbers = counts.numbers
        self.learner.update_from_tallies(counts.counts)
        for item, value in counts.values.items():
            self.learner.set_value(item, value)
        self.drawn.clear()
        self.pending_propensities = PendingPropensities()
        self.window_seconds = counts.window_seconds
        self.revision = counts.revision


@dataclass(frozen=True)
class NewCounts:
    """New counts for a placement."""

    placement: Placement
    #: clicks and passes by segment
    counts: Mapping[int, tuple[IntArray, IntArray] | tuple[FloatArray, FloatArray]]
    #: changed values of clicks, by item
    values: Mapping[str, float]
    window_seconds: float
    revision: int
    #: the learner's items after it has admitted candidate items
    numbers: Mapping[str, int]
    admitted: Sequence[CandidateItem] = ()
    #: the rows of periods in the counts, if counts decay
    periods: Sequence[PeriodRow] = ()
