"""Starts a policy from all counts, and runs it: segments, per-decision constraints, pending outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.policy_task import MAX_SEGMENTS
from slotwise.core.tally import Tally
from slotwise.core.types import EMPTY, FloatArray, IntArray, Ranking
from slotwise.jit import compiled, is_plain
from slotwise.jit.background_compile import SETTING, Kernels, When, kernels_for, when_to_compile
from slotwise.policies import (
    PolicySpec,
    PolicyTask,
    add_pending,
    choose_several,
    defer_refits,
    impose_rules,
    learn,
    remove_pending,
    set_features,
    set_segment,
    update_from_tally,
)
from slotwise.posterior import iterate_tallies
from slotwise.ranker.item_catalog import Catalog, DecisionConstraints
from slotwise.ranker.policy_options import check_pooling
from slotwise.ranker.segment_counts import LearnerCounts
from slotwise.ranker.warmup_script import WarmUpScript

#: the segment, and the items by number
_Shown = tuple[int, tuple[int, ...]]


@dataclass
class PolicyFactory:
    """Starts a policy for a page: its slots, its items and all counts."""

    policy: PolicySpec
    slots: int
    position_bias: FloatArray | None
    items: Catalog
    counts: LearnerCounts
    segments: int
    kernels: Kernels = field(init=False)

    @property
    def task(self) -> PolicyTask:
        """The task that the policy is given before the first round."""
        return PolicyTask(
            self.slots,
            len(self.items),
            position_bias=self.position_bias,
            rules_per_decision=True,
            segments=self.room,
            retired=len(self.items.retired),
            features=self.items.features.encoded(len(self.items)),
        )

    @property
    def room(self) -> int:
        """The segments that the policy has room for; doubled when they are exceeded, so that it rarely restarts."""
        return min(MAX_SEGMENTS, 1 << (self.segments - 1).bit_length())

    @property
    def counted(self) -> LearnerCounts:
        """The counts, with columns for the items that were added."""
        self.counts.make_room(len(self.items))
        return self.counts

    def prepare(self) -> None:
        """Start to compile the kernels of this kind of policy; raise InvalidInput for a policy that cannot pool."""
        check_pooling(self.policy, self.segments, bool(self.items.features))
        validation.one_of(SETTING, when_to_compile(), get_args(When))
        kind = WarmUpScript(
            self.policy,
            self.slots,
            len(self.items),
            bias_is_known=self.position_bias is not None,
            pools=self.segments > 1 or bool(self.items.features),
        )
        self.kernels = kernels_for(kind.warm_up, len(self.items))

    def add_segment(self) -> bool:
        """Add a segment; return True if a policy that has started has no room for it."""
        if self.segments == MAX_SEGMENTS:
            raise InvalidInput(f"segments must be at most {MAX_SEGMENTS}, got one more")
        check_pooling(self.policy, self.segments + 1, bool(self.items.features))
        room = self.room
        self.segments += 1
        if self.segments == 2:
            self.prepare()
        return self.room > room

    def segment(self, number: object) -> int:
        """The number of a segment, checked."""
        return validation.whole_number("segment", number, at_least=0, at_most=self.segments - 1)

    def empty(self) -> Any:
        """Return the policy without counts."""
        return self.policy.start(self.task)

    def begin(self) -> Any:
        """Return the policy with all counts, the earliest period first."""
        if self.segments == 1 and not self.counts.by_period:
            return self.policy.start(self.task, self.counted.tally())
        begun = self.policy.start(self.task, Tally.empty(self.slots, len(self.items)))
        for segment, tally, is_followed in iterate_tallies(self.counted.in_order()):
            defer_refits(begun, is_followed)
            set_segment(begun, segment)
            update_from_tally(begun, tally.clicks, tally.passes)
        set_segment(begun, 0)
        return begun


class PolicyRunner:
    """The record of a policy and its current constraints; items are numbers here, and an empty slot is `EMPTY`.

    It starts again at the first decision after `restart`.
    """

    def __init__(self, factory: PolicyFactory) -> None:
        self._factory = factory
        self._slots = factory.slots
        #: None before it has started, or if it is to restart
        self.record: Any = None
        #: whether it has chosen a list since it started
        self.has_chosen = False
        #: the current constraints, which are imposed again only when they change
        self._imposed: DecisionConstraints | None = None
        #: the current segment
        self._segment = 0
        #: lists whose outcomes are pending
        self._pending: Counter[_Shown] = Counter()

    def started(self) -> Any:
        """The record; compiled as soon as its kernels are."""
        kernels = self._factory.kernels
        if self.record is None:
            with kernels.or_interpreted():
                self.record, self._imposed, self._segment = self._factory.begin(), None, 0
                self.has_chosen = False
                for (segment, numbers), rounds in self._pending.items():
                    for _ in range(rounds):
                        add_pending(self.for_segment(segment), self._ranking(numbers))
        elif is_plain(self.record) and kernels.are_there:
            self.record = compiled(self.record, like=self._factory.empty())
        return self.record

    def restart(self) -> None:
        """Start again from all counts at the next decision."""
        self.record = None

    def set_features(self, numbers: Sequence[int], rows: FloatArray) -> None:
        """Set the encoded features of items without counts."""
        set_features(self.record, np.array(numbers, np.int64), np.ascontiguousarray(rows))

    def constraints_changed(self) -> None:
        """Impose the constraints again at the next decision."""
        self._imposed = None

    def for_segment(self, segment: int) -> Any:
        """Return the record, with this segment as the current one."""
        if segment != self._segment:
            set_segment(self.record, segment)
            self._segment = segment
        return self.record

    def impose(self, constraints: DecisionConstraints) -> None:
        """Impose the constraints of a decision, the values and the retired items, unless they are imposed already."""
        if constraints != self._imposed:
            items = self._factory.items
            checked = items.checked(constraints)
            impose_rules(self.record, items.values, checked.excluded, checked.pins(self._slots))
            self._imposed = constraints

    def choose_several(self, count: int, rng: np.random.Generator, segment: int) -> IntArray:
        """Choose `count` lists, one a row; a single list is one of several, so that nothing is compiled twice."""
        self.has_chosen = True
        lists = np.empty((count, self._slots), np.int64)
        choose_several(self.for_segment(segment), rng, lists)
        return lists

    def add_pending(self, segment: int, numbers: Iterable[int]) -> None:
        """Count the outcome of a list as pending."""
        shown = segment, tuple(numbers)
        self._pending[shown] += 1
        if self.record is not None:
            add_pending(self.for_segment(segment), self._ranking(shown[1]))

    def remove_pending(self, segment: int, numbers: Iterable[int]) -> bool:
        """Count the outcome of a list as pending no longer; return whether it was pending."""
        shown = segment, tuple(numbers)
        if not self._pending[shown]:
            return False
        self._pending[shown] -= 1
        if not self._pending[shown]:
            del self._pending[shown]
        if self.record is not None:
            remove_pending(self.for_segment(segment), self._ranking(shown[1]))
        return True

    def learn(self, segment: int, numbers: Iterable[int], slot: int) -> None:
        """Learn the outcome of one list; a policy that has not started will start with its count."""
        if self.record is not None:
            learn(self.for_segment(segment), self._ranking(numbers), slot)

    def update_from_tally(
        self, segment: int, tally: Tally, *, more_may_follow: bool, refits: bool | None = None
    ) -> None:
        """Add the counts of a tally; a policy that has not started will start with them.

        Hyperparameters are refitted if `refits`, or, if it is None, when they are out of date.
        """
        if more_may_follow and not self.has_chosen:
            # starting again from all counts is quicker than adding tallies one by one
            self.record = None
        elif self.record is not None:
            if refits is not None:
                defer_refits(self.record, not refits)
            update_from_tally(self.for_segment(segment), tally.clicks, tally.passes)

    def copy(self, factory: PolicyFactory) -> PolicyRunner:
        """Return a runner with counts of its own and the same policy; it may be made in another thread."""
        runner = copy(self)
        runner._factory, runner._pending = factory, self._pending.copy()
        # drawing changes a record, so the constraints are imposed again
        runner.record, runner._imposed = deepcopy(self.record), None
        return runner

    def _ranking(self, numbers: Iterable[int]) -> Ranking:
        """Return a list with an entry for each slot, EMPTY at the end."""
        ranking = np.full(self._slots, EMPTY)
        for slot, number in enumerate(numbers):
            ranking[slot] = number
        return ranking
