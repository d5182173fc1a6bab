"""A policy at work: started when it is first asked, turned to one kind of visitor, and told the rules of the moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from slotwise.core.tally import Tally
from slotwise.core.types import EMPTY, FloatArray, IntArray, Ranking
from slotwise.jit import compiled, is_plain
from slotwise.policies import (
    absorb,
    choose,
    choose_several,
    expect,
    impose_rules,
    learn,
    settle,
    turn_to,
)
from slotwise.ranker.background_compile import Kernels
from slotwise.ranker.request_constraints import Rules, Ruling

#: for whom, and which items by number
_Shown = tuple[int, tuple[int, ...]]


class AtWork:
    """The record of a policy and what it was told last; items are numbers here, and an empty slot is `EMPTY`.

    `begin` makes the policy with all that was counted, and `empty` one of the same kind without. It begins anew at the
    first decision after `begin_anew`.
    """

    def __init__(self, slots: int, begin: Callable[[], Any], empty: Callable[[], Any]) -> None:
        self._slots, self._begin, self._empty = slots, begin, empty
        #: None before it began, or where it is to begin anew
        self.record: Any = None
        #: whether it was asked for a list since it began
        self.has_chosen = False
        #: the rules that it has now, to be imposed again only when they change
        self._imposed: Rules | None = None
        #: the segment that it was turned to last
        self._turned_to = 0
        #: lists whose outcomes are on their way
        self._expected: Counter[_Shown] = Counter()

    def started(self, kernels: Kernels) -> Any:
        """The record; compiled as soon as the kernels are there."""
        if self.record is None:
            with kernels.or_interpreted():
                self.record, self._imposed, self._turned_to = self._begin(), None, 0
                self.has_chosen = False
                for (segment, numbers), rounds in self._expected.items():
                    for _ in range(rounds):
                        expect(self.turned(segment), self._ranking(numbers))
        elif is_plain(self.record) and kernels.are_there:
            self.record = compiled(self.record, like=self._empty())
        return self.record

    def begin_anew(self) -> None:
        """Start from all that was counted when it is asked next."""
        self.record = None

    def rules_changed(self) -> None:
        """Impose all of them again."""
        self._imposed = None

    def turned(self, segment: int) -> Any:
        """The record, turned to a segment."""
        if segment != self._turned_to:
            turn_to(self.record, segment)
            self._turned_to = segment
        return self.record

    def impose(self, rules: Rules, values: FloatArray, ruling: Callable[[], Ruling]) -> None:
        """Rules of a decision, and what clicks are worth; `ruling` is asked only where the rules are others."""
        if rules != self._imposed:
            met = ruling()
            impose_rules(self.record, values, met.excluded, met.pins(self._slots))
            self._imposed = rules

    def choose(self, rng: np.random.Generator, segment: int) -> Ranking:
        """One list."""
        self.has_chosen = True
        ranking: Ranking = choose(self.turned(segment), rng)
        return ranking

    def choose_several(self, count: int, rng: np.random.Generator, segment: int) -> IntArray:
        """As many lists as `count`, one a row."""
        self.has_chosen = True
        lists = np.empty((count, self._slots), np.int64)
        choose_several(self.turned(segment), rng, lists)
        return lists

    def expect(self, segment: int, numbers: Iterable[int]) -> None:
        """Know that the outcome of a list is on its way."""
        shown = segment, tuple(numbers)
        self._expected[shown] += 1
        if self.record is not None:
            expect(self.turned(segment), self._ranking(shown[1]))

    def settle(self, segment: int, numbers: Iterable[int]) -> bool:
        """Expect it no longer; whether it was expected."""
        shown = segment, tuple(numbers)
        if not self._expected[shown]:
            return False
        self._expected[shown] -= 1
        if not self._expected[shown]:
            del self._expected[shown]
        if self.record is not None:
            settle(self.turned(segment), self._ranking(shown[1]))
        return True

    def learn(self, segment: int, numbers: Iterable[int], slot: int) -> None:
        """Take in the outcome of one list, if it has begun: what is counted it will begin with."""
        if self.record is not None:
            learn(self.turned(segment), self._ranking(numbers), slot)

    def absorb(self, segment: int, tally: Tally, *, more_may_follow: bool) -> None:
        """Take in a tally, if it has begun."""
        if more_may_follow and not self.has_chosen:
            # to begin anew from all is quicker than to absorb one after the other
            self.record = None
        elif self.record is not None:
            absorb(self.turned(segment), tally.clicks, tally.passes)

    def _ranking(self, numbers: Iterable[int]) -> Ranking:
        """A list of as many as there are slots, empty at the end."""
        ranking = np.full(self._slots, EMPTY)
        for slot, number in enumerate(numbers):
            ranking[slot] = number
        return ranking
