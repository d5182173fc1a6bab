"""Named items and a policy: chooses lists under constraints, learns from outcomes or from tallies.

A `Ranker` adds ids of rankings, locks and files to it; the service adds a store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from copy import copy, deepcopy
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.policy_task import MAX_SEGMENTS
from slotwise.core.tally import Tally
from slotwise.core.types import EMPTY, NO_CLICK, FloatArray, HalfLife, IntArray
from slotwise.jit.background_compile import Kernels
from slotwise.policies import PolicySpec
from slotwise.posterior.updates import GROWTH
from slotwise.ranker.feature_table import Given
from slotwise.ranker.item_catalog import Catalog, checked_value
from slotwise.ranker.policy_options import check_pooling, check_served, policy_for, with_options
from slotwise.ranker.policy_runner import PolicyFactory, PolicyRunner
from slotwise.ranker.posterior_reports import PosteriorReports
from slotwise.ranker.segment_counts import LearnerCounts


class Learner(PosteriorReports):
    """Chooses lists of named items, and learns.

    The policy starts again at the first decision after items were added, from all counts, so that adding many items at
    once costs little more than adding one.

    Parameters
    ----------
    items, slots, position_bias, values, features, half_life, new_items_at_most
        As in `Ranker`.
    policy
        Id of a registered policy that can start from a tally, with options as on the command line; the default policy
        if None, with `bias=known` if a `position_bias` is given.
    retired
        Items that are not shown.
    reserve
        Items that are shown only as candidates.
    spare
        Columns for newcomers, which are candidates that are not among the items.
    segments
        Number of segments, which are numbered from 0. Estimates of each are shrunk toward those of the others.
    weighed
        Whether counts may be any number that is not negative, such as counts that lost weight with time.
    rng
        Source of randomness.

    Examples
    --------
    >>> learner = Learner(["a", "b", "c"], slots=2, rng=np.random.default_rng(1))
    >>> shown = learner.choose(exclude=["c"], pin={"b": 1})
    >>> shown
    ('b', 'a')
    >>> learner.learn(shown, clicked="a")
    >>> learner.tally().clicks.tolist()       # slots × items
    [[0, 0, 0], [1, 0, 0]]
    """

    def __init__(
        self,
        items: Iterable[str],
        slots: int,
        *,
        policy: str | PolicySpec | None = None,
        position_bias: ArrayLike | None = None,
        values: Mapping[str, float] | None = None,
        retired: Iterable[str] = (),
        reserve: Iterable[str] = (),
        spare: int = 0,
        segments: int = 1,
        features: Given | None = None,
        half_life: HalfLife = None,
        new_items_at_most: float | None = None,
        weighed: bool = False,
        rng: np.random.Generator | None = None,
    ) -> None:
        catalog = Catalog(items, values, retired, features, reserve, spare)
        self.slots = validation.whole_number("slots", slots, at_least=1)
        if len(catalog) < self.slots:
            raise InvalidInput(f"slots must be at most the number of items, {len(catalog)}, got {slots!r}")
        self.position_bias = None if position_bias is None else _bias(position_bias, self.slots)
        self.policy = with_options(policy_for(policy, self.position_bias), half_life, new_items_at_most)
        segments = validation.whole_number("segments", segments, at_least=1, at_most=MAX_SEGMENTS)
        counts = LearnerCounts(self.slots, len(catalog), self.policy.options.get("half_life"), weighed=weighed)
        super().__init__(PolicyFactory(self.policy, self.slots, self.position_bias, catalog, counts, segments))
        self.rng = rng if rng is not None else np.random.default_rng()
        self._runner = PolicyRunner(self._factory)
        #: rounds from which on `update_from_tallies` refits hyperparameters
        self._refit_at = 0.0
        check_served(self.policy, self._factory.task)
        self._factory.prepare()
        self._runner.started()

    @property
    def segments(self) -> int:
        """The number of segments."""
        return self._factory.segments

    @property
    def kernels(self) -> Kernels:
        """The state of the policy's kernels: compiled or not."""
        return self._factory.kernels

    @property
    def items(self) -> tuple[str, ...]:
        """All items, including retired ones, in the order of the tally."""
        return tuple(self._items.ids)

    @property
    def retired(self) -> tuple[str, ...]:
        """The items that are no longer shown."""
        return tuple(self._items.ids[number] for number in sorted(self._items.retired))

    @property
    def spare(self) -> tuple[str, ...]:
        """The ids of spare columns, in the order in which `admit` takes them."""
        return tuple(self._items.ids[number] for number in self._items.spare)

    @property
    def values(self) -> dict[str, float]:
        """The value of a click on each item."""
        return dict(zip(self._items.ids, self._items.values.tolist(), strict=True))

    @property
    def features(self) -> dict[str, dict[str, float | str]]:
        """The features of each item that has any."""
        return self._items.features.named(self._items.ids)

    @property
    def rounds(self) -> int:
        """The number of page views that were counted."""
        return self._factory.counts.rounds

    def tally(self, segment: int | None = None) -> Tally:
        """Return the counts so far, with `items` in their order: those of all segments together, or of one."""
        return self._factory.counted.tally(None if segment is None else self._factory.segment(segment))

    @property
    def shown(self) -> IntArray:
        """Return how often each item was shown; a tally counts only rounds with a click on it or with no click."""
        return self._factory.counted.shown()

    def choose(
        self,
        exclude: Iterable[str] = (),
        pin: Mapping[str, int] | None = None,
        segment: int = 0,
        candidates: Iterable[str] | None = None,
        newcomers: Given | None = None,
    ) -> tuple[str, ...]:
        """Choose a list for one page view, the first slot's item first; slots in `pin` count from 1.

        If `candidates` are given, only these are shown. If fewer items are left than there are slots, the list is
        shorter: the last slots stay empty. `newcomers` are further candidates, by id with their features, for this
        view only.

        >>> learner = Learner(["a", "b", "c"], slots=2, spare=1, rng=np.random.default_rng(1))
        >>> sorted(learner.choose(candidates=["a"], newcomers={"d": {}}))
        ['a', 'd']
        """
        seated = self._items.seated(newcomers or ())
        return self._items.named(self._drawn(1, segment, exclude, pin, candidates, newcomers)[0], seated)

    def choose_several(
        self, count: int, segment: int = 0, *, exclude: Iterable[str] = (), pin: Mapping[str, int] | None = None
    ) -> list[tuple[str, ...]]:
        """Return the lists of `count` calls of `choose`, in a fraction of their time."""
        ids = self._items.ids
        lists = self._drawn(count, segment, exclude, pin).tolist()
        return [tuple([ids[number] for number in shown if number != EMPTY]) for shown in lists]

    def count_several(
        self,
        count: int,
        segment: int = 0,
        *,
        exclude: Iterable[str] = (),
        pin: Mapping[str, int] | None = None,
        candidates: Iterable[str] | None = None,
        newcomers: Given | None = None,
    ) -> Counter[tuple[int, str]]:
        """Count the items in each slot, from 0, over the lists of `count` calls of `choose`.

        >>> sorted(Learner(["a", "b"], slots=2).count_several(7, pin={"b": 1}).items())
        [((0, 'b'), 7), ((1, 'a'), 7)]
        """
        lists = self._drawn(count, segment, exclude, pin, candidates, newcomers)
        # a number for each pair of slot and item
        pairs, times = np.unique((lists * self.slots + np.arange(self.slots))[lists != EMPTY], return_counts=True)
        name = self._items.named_with(self._items.seated(newcomers or ()))
        counted = zip(pairs.tolist(), times.tolist(), strict=True)
        return Counter({(pair % self.slots, name(pair // self.slots)): times for pair, times in counted})

    def _drawn(
        self,
        count: int,
        segment: int,
        exclude: Iterable[str],
        pin: Mapping[str, int] | None,
        candidates: Iterable[str] | None = None,
        newcomers: Given | None = None,
    ) -> IntArray:
        """Draw `count` lists of item numbers."""
        number = self._prepared(segment, exclude, pin, candidates, newcomers or {})
        return self._runner.choose_several(count, self.rng, number)

    def add_pending(self, shown: Iterable[str], segment: int = 0) -> None:
        """Count the outcome of a list as pending, so that the policy does not explore the same thing meanwhile."""
        self._runner.add_pending(self._factory.segment(segment), self._items.numbered("shown", shown))

    def remove_pending(self, shown: Iterable[str], segment: int = 0) -> None:
        """Count the outcome of a list as pending no longer: it is about to be learned, or it was lost."""
        if not self._runner.remove_pending(self._factory.segment(segment), self._items.numbered("shown", shown)):
            where = f" of segment {segment}" if self.segments > 1 else ""
            raise InvalidInput(f"no outcome of {validation.short(shown)} is pending{where}")

    def learn(self, shown: Iterable[str], clicked: str | list[str] | tuple[str, ...] | None, segment: int = 0) -> None:
        """Learn the outcome of one page view: the item or items that were clicked, or None."""
        numbers = self._items.numbered("shown", shown)
        if len(set(numbers)) != len(numbers) or not 1 <= len(numbers) <= self.slots:
            raise InvalidInput(f"shown must be 1 to {self.slots} different items, got {validation.short(shown)}")
        names = (
            [] if clicked is None else list(dict.fromkeys(clicked)) if isinstance(clicked, list | tuple) else [clicked]
        )
        slots = [_slot_of(self._items.number("clicked", name), name, numbers) for name in names]
        number = self._factory.segment(segment)
        if len(slots) > 1:
            tally, seen = Tally.empty(self.slots, len(self._items)), np.zeros(len(self._items), np.int64)
            tally.count([*numbers, *[EMPTY] * (self.slots - len(numbers))], slots)
            seen[numbers] = 1
            self._add(tally, seen, segment)
            return
        slot = slots[0] if slots else NO_CLICK
        self._factory.counted.count(number, numbers, slot)
        self._posteriors.counts_grew()
        self._runner.learn(number, numbers, slot)

    def update_from_tally(
        self, clicks: ArrayLike, passes: ArrayLike, shown: ArrayLike | None = None, segment: int = 0
    ) -> None:
        """Add the counts of a tally, or those that were added to it since the last call.

        Parameters
        ----------
        clicks, passes
            Counts, slots × `items` in their order. If the policy forgets, counts that are added later are younger.
        shown
            How often each item was shown, if known: a tally lacks the other items of a page with a click.
        segment
            The segment that the counts are of.
        """
        counts = self._factory.counted
        tally = counts.tally_from(clicks, passes)
        if (tally.slots, tally.items) != (self.slots, len(self._items)):
            raise InvalidInput(
                f"the tally has {tally.slots} slots and {tally.items} items, but the learner has {self.slots} and "
                f"{len(self._items)}"
            )
        seen = (tally.clicks + tally.passes).sum(axis=0) if shown is None else np.asarray(shown, tally.clicks.dtype)
        if seen.shape != (len(self._items),):
            raise InvalidInput(f"shown must have one entry per item, {len(self._items)}, got shape {seen.shape}")
        self._add(tally, seen, segment)

    def update_from_tallies(self, counts: Mapping[int, tuple[ArrayLike, ArrayLike]]) -> None:
        """Add clicks and passes of several segments; hyperparameters are refitted once at most."""
        for number, (segment, (clicks, passes)) in enumerate(counts.items(), start=1):
            if self.segments == 1:
                self.update_from_tally(clicks, passes)
                continue
            tally = self._factory.counted.tally_from(clicks, passes)
            refits = number == len(counts) and self.rounds + tally.rounds >= self._refit_at
            self._add(tally, (tally.clicks + tally.passes).sum(axis=0), segment, refits=refits)
            if refits:
                self._refit_at = self.rounds * (1.0 + GROWTH)

    def _add(self, tally: Tally, seen: IntArray, segment: int, refits: bool | None = None) -> None:
        number = self._factory.segment(segment)
        self._factory.counts.add(number, tally, seen)
        self._posteriors.counts_grew()
        self._runner.update_from_tally(number, tally, more_may_follow=self.segments > 1, refits=refits)

    def start(self, *, best_lists: bool = False) -> None:
        """Do now the slow part of the next decision, or of the next best list: the fit to all counts."""
        self._runner.started()
        self._runner.has_chosen = True
        if best_lists:
            self._posteriors.fit_best(all_segments=self.segments > 1)

    def copy(self) -> Learner:
        """Return a learner with counts of its own, of the same items: it learns while this one still decides."""
        learner = copy(self)
        items, counts = self._items.copy(), deepcopy(self._factory.counts)
        factory = learner._factory = replace(self._factory, items=items, counts=counts)
        learner._items, factory.kernels = items, self._factory.kernels
        learner._runner, learner._posteriors = self._runner.copy(factory), self._posteriors.copy(factory)
        return learner

    def arrays(self) -> dict[str, IntArray]:
        """Return all counts, by segment and period, for `restore`."""
        return self._factory.counted.arrays()

    def restore(self, arrays: Mapping[str, IntArray]) -> None:
        """Take over the counts of another learner of the same items, segments and half-life, from its `arrays`."""
        self._factory.counted.restore(arrays, self.segments)
        self._restart()

    def add(self, item: str, value: float = 1.0, features: Mapping[str, float | str] | None = None) -> None:
        """Add a new item, or show a retired one again; its features stay if `features` is None."""
        click_value = checked_value(item, value)
        checked = None if features is None else self._items.features.checked(item, features)
        had_features = bool(self._items.features)
        check_pooling(self.policy, self.segments, had_features or bool(checked))
        self._items.offer(item, click_value, checked)
        if bool(self._items.features) != had_features:
            self._factory.prepare()
        self._restart()

    def admit(self, item: str, features: Mapping[str, float | str]) -> None:
        """Give a spare column to an item, which is in reserve from then on."""
        rows = self._items.features.encoded_newcomers({item: features})
        number = self._items.admit(item)
        if rows is not None:
            self._runner.started()
            self._runner.set_features([number], rows)

    def add_segment(self) -> int:
        """Add a segment, whose prior is the estimates of the others, and return its number."""
        if self._factory.add_segment():
            self._restart()
        return self.segments - 1

    def retire(self, item: str) -> None:
        """Stop showing an item; its counts stay."""
        self._items.retire(item)
        self._constraints_changed()

    def set_value(self, item: str, value: float) -> None:
        """Set the value of a click on an item from here on."""
        self._items.set_value(item, value)
        self._constraints_changed()

    def _prepared(
        self,
        segment: int,
        exclude: Iterable[str],
        pin: Mapping[str, int] | None,
        candidates: Iterable[str] | None,
        newcomers: Given,
    ) -> int:
        """Return the number of a segment, and set the constraints of the decision."""
        number, seated = self._factory.segment(segment), self._items.seated(newcomers)
        constraints = self._items.constraints(exclude, pin, self.slots, candidates, seated)
        self._runner.started()
        if newcomers and (rows := self._items.features.encoded_newcomers(newcomers)) is not None:
            self._runner.set_features([*seated.values()], rows)
        self._runner.for_segment(number)
        self._runner.impose(constraints)
        return number

    def _restart(self) -> None:
        self._runner.restart()
        self._posteriors.clear()

    def _constraints_changed(self) -> None:
        self._runner.constraints_changed()
        self._posteriors.values_changed()


def _bias(given: ArrayLike, slots: int) -> FloatArray:
    bias = validation.positive_vector("position_bias", given, each="slot")
    if len(bias) != slots:
        raise InvalidInput(f"position_bias must have one entry per slot, {slots}, got {len(bias)}")
    return bias


def _slot_of(number: int, item: str, shown: list[int]) -> int:
    if number not in shown:
        raise InvalidInput(f"clicked is {item!r}, which was not shown")
    return shown.index(number)
