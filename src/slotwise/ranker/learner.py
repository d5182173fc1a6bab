"""Named items and a policy: chooses lists under the rules of the moment, learns from outcomes or from tallies.

Without ids of rankings, locks or files: what a `Ranker` and a service have in common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.policy_task import MAX_SEGMENTS
from slotwise.core.tally import Tally
from slotwise.core.types import EMPTY, NO_CLICK, FloatArray, IntArray
from slotwise.jit.background_compile import Kernels
from slotwise.policies import PolicyEntry
from slotwise.ranker.feature_table import Given
from slotwise.ranker.item_catalog import Catalogue, checked_value
from slotwise.ranker.policy_options import check_pooling, check_served, policy_for, with_options
from slotwise.ranker.policy_runner import AtWork, PolicyFactory
from slotwise.ranker.posterior_reports import PosteriorReports
from slotwise.ranker.segment_counts import Counts


class Learner(PosteriorReports):
    """Chooses lists of named items, and learns.

    `policy` is the id of a registered policy that can start from a tally, with options as on the command line; None is
    the default, with `bias=known` when a `position_bias` is given. `values` are what a click on an item is
    worth, 1 where it is not said. The policy starts anew at the first decision after items were added, from the
    tally of all that was learned, so that adding many at once costs little more than adding one.

    `segments` are kinds of visitors, numbered from 0: each is learned for itself, and from the others as far as they
    are alike. `features` are what is known of items, by name, numbers and categories; nothing has to be known of all.
    `memory` and `new_items_at_most` are options of the policy: the half-life of what was seen, in rounds, or "auto" to
    find one, and the part of the slots that items without a counted outcome may take. Where counts are `weighed`, by
    whoever knows when they were made, a tally to `absorb` need not hold whole numbers.

    >>> learner = Learner(["a", "b", "c"], slots=2, rng=np.random.default_rng(1))
    >>> shown = learner.choose(exclude=["c"], pin={"b": 1})
    >>> shown
    ('b', 'a')
    >>> learner.learn(shown, clicked="a")
    >>> learner.tally.clicks.tolist()       # slots × items
    [[0, 0, 0], [1, 0, 0]]
    """

    def __init__(
        self,
        items: Iterable[str],
        slots: int,
        *,
        policy: str | PolicyEntry | None = None,
        position_bias: Any = None,
        values: Mapping[str, float] | None = None,
        retired: Iterable[str] = (),
        segments: int = 1,
        features: Given | None = None,
        memory: str | float = "none",
        new_items_at_most: float | None = None,
        weighed: bool = False,
        rng: np.random.Generator | None = None,
    ) -> None:
        catalogue = Catalogue(items, values, retired, features)
        self.slots = validation.whole_number("slots", slots, at_least=1)
        if len(catalogue) < self.slots:
            raise InvalidInput(f"slots must be at most the number of items, {len(catalogue)}, got {slots!r}")
        self.position_bias = None if position_bias is None else _bias(position_bias, self.slots)
        self.policy = with_options(policy_for(policy, self.position_bias), memory, new_items_at_most)
        segments = validation.whole_number("segments", segments, at_least=1, at_most=MAX_SEGMENTS)
        counts = Counts(self.slots, len(catalogue), self.policy.options.get("memory"), weighed=weighed)
        super().__init__(PolicyFactory(self.policy, self.slots, self.position_bias, catalogue, counts, segments))
        self.rng = rng if rng is not None else np.random.default_rng()
        self._at_work = AtWork(self._factory)
        check_served(self.policy, self._factory.setting)
        self._factory.prepare()
        self._at_work.started()

    @property
    def segments(self) -> int:
        """How many segments there are."""
        return self._factory.segments

    @property
    def kernels(self) -> Kernels:
        """Whether the policy's kernels are compiled."""
        return self._factory.kernels

    @property
    def items(self) -> tuple[str, ...]:
        """Every item there ever was, in the order of the tally."""
        return tuple(self._items.ids)

    @property
    def retired(self) -> tuple[str, ...]:
        """The items that are not shown any more."""
        return tuple(self._items.ids[number] for number in sorted(self._items.retired))

    @property
    def values(self) -> dict[str, float]:
        """What a click on each item is worth."""
        return dict(zip(self._items.ids, self._items.values.tolist(), strict=True))

    @property
    def features(self) -> dict[str, dict[str, float | str]]:
        """What is known of each item of which anything is."""
        return self._items.features.named(self._items.ids)

    @property
    def tally(self) -> Tally:
        """What was learned so far, of all segments together and of `items` in their order."""
        return self._factory.counted.tally()

    def tally_of(self, segment: int) -> Tally:
        """What was learned so far of one segment."""
        return self._factory.counted.tally(self._factory.segment(segment))

    @property
    def shown(self) -> IntArray:
        """How often each item was shown; of absorbed tallies, only when it was clicked or nothing was."""
        return self._factory.counted.shown()

    def choose(
        self, exclude: Iterable[str] = (), pin: Mapping[str, int] | None = None, segment: int = 0
    ) -> tuple[str, ...]:
        """A list for one page view by a visitor of a segment, the first slot's item first; slots in `pin` count from 1.

        Where fewer items are left than there are slots, the list is shorter: the slots at the end stay empty.
        """
        number = self._asked(segment, exclude, pin)
        return self._items.named(self._at_work.choose(self.rng, number))

    def choose_several(
        self, count: int, segment: int = 0, *, exclude: Iterable[str] = (), pin: Mapping[str, int] | None = None
    ) -> list[tuple[str, ...]]:
        """What as many calls of `choose` would give, in a fraction of their time."""
        ids = self._items.ids
        lists = self._drawn(count, segment, exclude, pin).tolist()
        return [tuple([ids[number] for number in shown if number != EMPTY]) for shown in lists]

    def count_several(
        self, count: int, segment: int = 0, *, exclude: Iterable[str] = (), pin: Mapping[str, int] | None = None
    ) -> Counter[tuple[int, str]]:
        """How often each item is in each slot, counted from 0, of what as many calls of `choose` would give.

        >>> sorted(Learner(["a", "b"], slots=2).count_several(7, pin={"b": 1}).items())
        [((0, 'b'), 7), ((1, 'a'), 7)]
        """
        lists = self._drawn(count, segment, exclude, pin)
        # a number for each pair; those of the empty slot, which is less than any item, are left out
        pairs, times = np.unique((lists * self.slots + np.arange(self.slots))[lists != EMPTY], return_counts=True)
        ids, found = self._items.ids, zip(pairs.tolist(), times.tolist(), strict=True)
        return Counter({(pair % self.slots, ids[pair // self.slots]): times for pair, times in found})

    def _drawn(self, count: int, segment: int, exclude: Iterable[str], pin: Mapping[str, int] | None) -> IntArray:
        """So many lists by the numbers of their items."""
        number = self._asked(segment, exclude, pin)
        return self._at_work.choose_several(count, self.rng, number)

    def expect(self, shown: Iterable[str], segment: int = 0) -> None:
        """Know that the outcome of a list is on its way: the policy need not find out the same thing meanwhile."""
        self._at_work.expect(self._factory.segment(segment), self._items.numbered("shown", shown))

    def settle(self, shown: Iterable[str], segment: int = 0) -> None:
        """Expect an outcome of a list no longer: it is about to be learned, or it was lost."""
        if not self._at_work.settle(self._factory.segment(segment), self._items.numbered("shown", shown)):
            raise InvalidInput(f"no outcome of {validation.short(shown)} is expected{self._of(segment)}")

    def learn(self, shown: Iterable[str], clicked: str | None, segment: int = 0) -> None:
        """Take in the outcome of one page view: the item that was clicked, or None."""
        numbers = self._items.numbered("shown", shown)
        if len(set(numbers)) != len(numbers) or not 1 <= len(numbers) <= self.slots:
            raise InvalidInput(f"shown must be 1 to {self.slots} different items, got {validation.short(shown)}")
        slot = NO_CLICK if clicked is None else _slot_of(self._items.number("clicked", clicked), clicked, numbers)
        number = self._factory.segment(segment)
        self._factory.counted.count(number, numbers, slot)
        self._beliefs.more_was_seen()
        self._at_work.learn(number, numbers, slot)

    def absorb(self, clicks: Any, passes: Any, shown: Any = None, segment: int = 0) -> None:
        """Take in a tally, slots × `items` in their order, or what was added to one since it was last absorbed.

        `shown` per item, where it is known: a tally lacks what else was on the page when something was clicked. Where
        the policy forgets, what is absorbed later counts as seen later.
        """
        counts = self._factory.counted
        tally = counts.tally_from(clicks, passes)
        if (tally.slots, tally.items) != (self.slots, len(self._items)):
            raise InvalidInput(
                f"the tally is of {tally.slots} slots and {tally.items} items, where there are {self.slots} and "
                f"{len(self._items)}"
            )
        seen = (tally.clicks + tally.passes).sum(axis=0) if shown is None else np.asarray(shown, tally.clicks.dtype)
        if seen.shape != (len(self._items),):
            raise InvalidInput(f"shown must have one entry per item, {len(self._items)}, got shape {seen.shape}")
        number = self._factory.segment(segment)
        counts.add(number, tally, seen)
        self._beliefs.more_was_seen()
        self._at_work.absorb(number, tally, more_may_follow=self.segments > 1)

    def arrays(self) -> dict[str, Any]:
        """All that was counted, by segment and period, for `restore`."""
        return self._factory.counted.arrays()

    def restore(self, arrays: Mapping[str, Any]) -> None:
        """Take over what another learner of the same items, segments and memory had counted, as `arrays` gave it."""
        self._factory.counted.restore(arrays, self.segments)
        self._restart()

    def add(self, item: str, value: float = 1.0, features: Mapping[str, float | str] | None = None) -> None:
        """A new item, or a retired one again; `features` are what is known of it, and of a retired one stay if None."""
        worth = checked_value(item, value)
        known = None if features is None else self._items.features.checked(item, features)
        had_features = bool(self._items.features)
        check_pooling(self.policy, self.segments, had_features or bool(known))
        self._items.offer(item, worth, known)
        if bool(self._items.features) != had_features:
            self._factory.prepare()
        self._restart()

    def add_segment(self) -> int:
        """The number of a new segment, which is expected to be like the others."""
        if self._factory.add_segment():
            self._restart()
        return self.segments - 1

    def retire(self, item: str) -> None:
        """Show an item no more; what was learned of it stays."""
        self._items.retire(item)
        self._rules_changed()

    def value(self, item: str, value: float) -> None:
        """What a click on an item is worth from here on."""
        self._items.value(item, value)
        self._rules_changed()

    def _asked(self, segment: int, exclude: Iterable[str], pin: Mapping[str, int] | None) -> int:
        """The number of a segment; the policy has the constraints of the decision from here on."""
        number, rules = self._factory.segment(segment), self._items.rules(exclude, pin, self.slots)
        self._at_work.started()
        self._at_work.turned(number)
        self._at_work.impose(rules)
        return number

    def _started(self) -> Any:
        return self._at_work.started()

    def _of(self, segment: int) -> str:
        return f" of segment {segment}" if self.segments > 1 else ""

    def _restart(self) -> None:
        self._at_work.begin_anew()
        self._beliefs.something_changed()

    def _rules_changed(self) -> None:
        self._at_work.rules_changed()
        self._beliefs.worth_changed()


def _bias(given: Any, slots: int) -> FloatArray:
    bias = validation.positive_vector("position_bias", given, each="slot")
    if len(bias) != slots:
        raise InvalidInput(f"position_bias must have one entry per slot, {slots}, got {len(bias)}")
    return bias


def _slot_of(number: int, item: str, shown: list[int]) -> int:
    if number not in shown:
        raise InvalidInput(f"clicked is {item!r}, which was not shown")
    return shown.index(number)
