"""Named items and a policy: chooses lists under the rules of the moment, learns from outcomes or from tallies.

Without ids of rankings, locks or files: what a `Ranker` and a service have in common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from slotwise import checks
from slotwise.belief import Posterior, posterior
from slotwise.compiled import compiled, is_plain
from slotwise.errors import InvalidInput
from slotwise.lists.per_decision import pins
from slotwise.policies import (
    PolicyEntry,
    Setting,
    absorb,
    choose,
    choose_once,
    choose_several,
    default_policy,
    end_epoch,
    expect,
    holds_lists,
    impose_rules,
    learn,
    learns_from,
    settle,
)
from slotwise.policies.registry import parse
from slotwise.ranker.estimates import Estimates
from slotwise.ranker.items import Items, checked_value
from slotwise.ranker.kernels import kernels_for
from slotwise.simulate.replicate import MOST_ROUNDS
from slotwise.tally import Tally
from slotwise.typing import EMPTY, NO_CLICK, FloatArray, IntArray


class Learner:
    """Chooses lists of named items, and learns.

    `policy` is the id of a registered policy that can start from a tally, with options as on the command line; None is
    the default, or its twin for known bias when a `position_bias` is given. `values` are what a click on an item is
    worth, 1 where it is not said. The policy starts anew at the first decision after items were added, from the
    tally of all that was learned, so that adding many at once costs little more than adding one.

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
        rng: np.random.Generator | None = None,
    ) -> None:
        self._items = Items(items)
        self.slots = checks.whole_number("slots", slots, at_least=1)
        if len(self._items) < self.slots:
            raise InvalidInput(f"slots must be at most the number of items, {len(self._items)}, got {slots!r}")
        self.position_bias = None if position_bias is None else _bias(position_bias, self.slots)
        self.policy = policy_for(policy, self.position_bias)
        self._values = np.ones(len(self._items))
        for number, value in self._items.valued(values).items():
            self._values[number] = value
        self._retired = set(self._items.numbered("retired", retired))
        if len(self._retired) == len(self._items):
            raise InvalidInput(f"retired must leave an item to show, got all {len(self._items)}")
        self._clicks, self._passes = (np.zeros((self.slots, len(self._items)), np.int64) for _ in range(2))
        self._shown = np.zeros(len(self._items), np.int64)
        self.rng = rng if rng is not None else np.random.default_rng()
        #: the policy at work, and None before it started or where it is to start anew
        self._at_work: Any = None
        #: the rules that the policy has now, to be imposed again only when they change
        self._imposed: Any = None
        self._posterior: Posterior | None = None
        #: lists whose outcomes are on their way
        self._expected: Counter[tuple[int, ...]] = Counter()
        self.kernels = kernels_for(
            self.policy, self.slots, len(self._items), bias_is_known=self.position_bias is not None
        )
        self._started()

    @property
    def items(self) -> tuple[str, ...]:
        """Every item there ever was, in the order of the tally."""
        return tuple(self._items.ids)

    @property
    def retired(self) -> tuple[str, ...]:
        """The items that are not shown any more."""
        return tuple(self._items.ids[number] for number in sorted(self._retired))

    @property
    def values(self) -> dict[str, float]:
        """What a click on each item is worth."""
        return dict(zip(self._items.ids, self._values.tolist(), strict=True))

    @property
    def tally(self) -> Tally:
        """What was learned so far, of `items` in their order."""
        self._make_room()
        return Tally(self._clicks.copy(), self._passes.copy())

    @property
    def shown(self) -> IntArray:
        """How often each item was shown; of absorbed tallies, only when it was clicked or nothing was."""
        self._make_room()
        return self._shown.copy()

    @property
    def in_epochs(self) -> bool:
        """Whether it shows one list until a no-click."""
        return bool(holds_lists(self._started()))

    def end_epoch(self) -> None:
        """Choose a list anew at the next decision, where it acts in epochs."""
        if self._at_work is not None:
            end_epoch(self._at_work)

    def choose(self, exclude: Iterable[str] = (), pin: Mapping[str, int] | None = None) -> tuple[str, ...]:
        """A list for one page view, the first slot's item first; slots in `pin` count from 1.

        Where fewer items are left than there are slots, the list is shorter: the slots at the end stay empty.
        """
        at_work = self._started()
        excluded, pinned = frozenset(self._items.numbered("exclude", exclude)), self._items.pinned(pin, self.slots)
        self._impose(excluded, pinned)
        shown = (choose_once if excluded or pinned else choose)(at_work, self.rng)
        return tuple(self._items.ids[number] for number in shown.tolist() if number != EMPTY)

    def choose_several(self, count: int) -> list[tuple[str, ...]]:
        """What as many calls of `choose()` would give, in a fraction of their time."""
        at_work = self._started()
        self._impose(frozenset(), {})
        lists = np.empty((count, self.slots), np.int64)
        choose_several(at_work, self.rng, lists)
        ids = self._items.ids
        return [tuple(ids[number] for number in shown if number != EMPTY) for shown in lists.tolist()]

    def expect(self, shown: Iterable[str]) -> None:
        """Know that the outcome of a list is on its way: the policy need not find out the same thing meanwhile."""
        numbers = tuple(self._items.numbered("shown", shown))
        self._expected[numbers] += 1
        if self._at_work is not None:
            expect(self._at_work, self._ranking(numbers))

    def settle(self, shown: Iterable[str]) -> None:
        """Expect an outcome of a list no longer: it is about to be learned, or it was lost."""
        numbers = tuple(self._items.numbered("shown", shown))
        if not self._expected[numbers]:
            raise InvalidInput(f"no outcome of {checks.short(shown)} is expected")
        self._expected[numbers] -= 1
        if not self._expected[numbers]:
            del self._expected[numbers]
        if self._at_work is not None:
            settle(self._at_work, self._ranking(numbers))

    def learn(self, shown: Iterable[str], clicked: str | None) -> None:
        """Take in the outcome of one page view: the item that was clicked, or None."""
        numbers = self._items.numbered("shown", shown)
        if len(set(numbers)) != len(numbers) or not 1 <= len(numbers) <= self.slots:
            raise InvalidInput(f"shown must be 1 to {self.slots} different items, got {checks.short(shown)}")
        slot = NO_CLICK if clicked is None else _slot_of(self._items.number("clicked", clicked), clicked, numbers)
        ranking = self._ranking(numbers)
        self._make_room()
        self._shown[numbers] += 1
        if slot == NO_CLICK:
            self._passes[np.arange(len(numbers)), numbers] += 1
        else:
            self._clicks[slot, numbers[slot]] += 1
        self._posterior = None
        at_work = self._at_work
        if at_work is None:
            return
        if learns_from(at_work, ranking):
            learn(at_work, ranking, slot)
        else:
            round = Tally.empty(self.slots, len(self._items))
            round.count(ranking, slot)
            absorb(at_work, round.clicks, round.passes)

    def absorb(self, clicks: Any, passes: Any, shown: Any = None) -> None:
        """Take in a tally, slots × `items` in their order, or what was added to one since it was last absorbed.

        `shown` per item, where it is known: a tally lacks what else was on the page when something was clicked.
        """
        tally = Tally(clicks, passes)
        if (tally.slots, tally.items) != (self.slots, len(self._items)):
            raise InvalidInput(
                f"the tally is of {tally.slots} slots and {tally.items} items, where there are {self.slots} and "
                f"{len(self._items)}"
            )
        seen = (tally.clicks + tally.passes).sum(axis=0) if shown is None else np.asarray(shown, np.int64)
        if seen.shape != (len(self._items),):
            raise InvalidInput(f"shown must have one entry per item, {len(self._items)}, got shape {seen.shape}")
        self._make_room()
        self._clicks += tally.clicks
        self._passes += tally.passes
        self._shown += seen
        self._posterior = None
        if self._at_work is not None:
            absorb(self._at_work, tally.clicks, tally.passes)

    def add(self, item: str, value: float = 1.0) -> None:
        """A new item, or a retired one again."""
        worth = checked_value(item, value)
        number = self._items.numbers.get(item) if isinstance(item, str) else None
        if number is not None and number in self._retired:
            self._retired.discard(number)
            self._values[number] = worth
        else:
            self._items.add(item)
            self._values = np.append(self._values, worth)
        self._restart()

    def retire(self, item: str) -> None:
        """Show an item no more; what was learned of it stays."""
        number = self._items.number("retire", item)
        if number in self._retired:
            raise InvalidInput(f"{item!r} is retired already")
        if len(self._items) - len(self._retired) == 1:
            raise InvalidInput(f"{item!r} cannot be retired: it is the last item left")
        self._retired.add(number)
        self._rules_changed()

    def value(self, item: str, value: float) -> None:
        """What a click on an item is worth from here on."""
        number = self._items.number("value", item)
        self._values[number] = checked_value(item, value)
        self._rules_changed()

    def estimates(self, level: float = 0.95) -> Estimates:
        """What each item and slot is worth, with intervals; found anew only after something changed."""
        self._make_room()
        with self.kernels.for_estimates(len(self._items)):
            if self._posterior is None:
                retired = np.array(sorted(self._retired), np.int64)
                self._posterior = posterior(
                    self.tally, self.position_bias, values=self._values.copy(), excluded=retired
                )
            return Estimates.of(self._posterior, self.items, self._shown.copy(), level)

    @property
    def _setting(self) -> Setting:
        return Setting(self.slots, len(self._items), MOST_ROUNDS, self.position_bias, rules_per_decision=True)

    def _started(self) -> Any:
        if self._at_work is None:
            with self.kernels.or_interpreted():
                self._at_work, self._imposed = self.policy.start(self._setting, self.tally), None
                for numbers, rounds in self._expected.items():
                    for _ in range(rounds):
                        expect(self._at_work, self._ranking(numbers))
        elif is_plain(self._at_work) and self.kernels.are_there:
            self._at_work = compiled(self._at_work, like=self.policy.start(self._setting))
        return self._at_work

    def _ranking(self, numbers: Iterable[int]) -> IntArray:
        """A list of as many as there are slots, empty at the end."""
        ranking = np.full(self.slots, EMPTY)
        for slot, number in enumerate(numbers):
            ranking[slot] = number
        return ranking

    def _restart(self) -> None:
        self._at_work = self._posterior = None

    def _rules_changed(self) -> None:
        self._imposed = self._posterior = None
        if self._at_work is not None and holds_lists(self._at_work):
            # the list that it holds may be one of yesterday's
            self._at_work = None

    def _make_room(self) -> None:
        """Columns for the items that were added."""
        if new := len(self._items) - self._clicks.shape[1]:
            self._clicks, self._passes = (np.pad(counts, ((0, 0), (0, new))) for counts in (self._clicks, self._passes))
            self._shown = np.pad(self._shown, (0, new))

    def _impose(self, exclude: frozenset[int], pinned: dict[int, int]) -> None:
        rules = exclude, tuple(pinned.items())
        if rules == self._imposed:
            return
        excluded = self._retired | exclude
        allowed = len(self._items) - len(excluded)
        for number, slot in pinned.items():
            item = self._items.ids[number]
            if number in self._retired:
                raise InvalidInput(f"pin names {item!r}, which is retired")
            if number in exclude:
                raise InvalidInput(f"{item!r} is both in pin and in exclude")
            if slot >= allowed:
                raise InvalidInput(
                    f"pin puts {item!r} into slot {slot + 1}, but only {allowed} of the items are left to show"
                )
        if allowed == 0:
            raise InvalidInput(f"exclude leaves nothing to show: it names all of the {len(exclude)} items")
        pin = pins(self.slots, allowed, pinned)
        impose_rules(self._at_work, self._values, np.array(sorted(excluded), np.int64), pin)
        self._imposed = rules


def policy_for(given: str | PolicyEntry | None, position_bias: FloatArray | None) -> PolicyEntry:
    """The policy of that name; without one the default, or its twin for a known bias."""
    if given is None:
        return default_policy(known_bias=position_bias is not None)
    if isinstance(given, str):
        return parse(given)
    if not isinstance(given, PolicyEntry):
        raise InvalidInput(f"policy must be the id of a registered policy, got {checks.short(given)}")
    return given


def _bias(given: Any, slots: int) -> FloatArray:
    bias = checks.positive_vector("position_bias", given, each="slot")
    if len(bias) != slots:
        raise InvalidInput(f"position_bias must have one entry per slot, {slots}, got {len(bias)}")
    return bias


def _slot_of(number: int, item: str, shown: list[int]) -> int:
    if number not in shown:
        raise InvalidInput(f"clicked is {item!r}, which was not shown")
    return shown.index(number)
