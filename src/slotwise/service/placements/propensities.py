"""With which probability each item of a list was in its slot, which estimates of what another list brings need.

A policy draws its lists at random, and how likely one is has no formula. So the same belief is asked for more lists,
after the decision was answered and before the belief moves, and what is in their slots is counted.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, Literal

from slotwise.service.placements.placement_state import Conditions, Placement, RedrawnLists

#: lists drawn for a belief and conditions, and the fewest that are worth it
MAX_LISTS: Final = 500
MIN_LISTS: Final = 100
#: what a list costs beside its items, each of which costs 1: about a tenth of a microsecond
LIST_COST: Final = 100
#: what may be spent between two looks at the store: a tenth of the time, as long as little is known of the items, and a
#: hundredth once much is; and what may be spent on one belief and conditions, where that is enough for the fewest
MAX_SPENT: Final = 400_000
MAX_SPENT_ON_ONE: Final = 150_000
#: what is spent before others get their turn
SPENT_AT_ONCE: Final = 10_000
#: conditions of which one belief's draws are remembered
MAX_CONDITIONS: Final = 64
#: what is found and cannot be written
MAX_UNWRITTEN: Final = 10_000

Propensity = tuple[str, tuple[float, ...]]


class Propensities:
    """Finds them, one placement at a time, on a budget."""

    def __init__(self, observe: Callable[[Literal["known", "unknown"], int], None] = lambda _, __: None) -> None:
        self._turn = asyncio.Lock()
        self._observe = observe
        self._left = MAX_SPENT
        self._found: list[Propensity] = []

    def replenish(self) -> None:
        """Spend again as much as may be spent between two looks at the store."""
        self._left = MAX_SPENT

    async def settle(self, placement: Placement) -> None:
        """Find them for all decisions that were made from a placement's belief, which may move when this is over."""
        async with self._turn:
            ledger = placement.ledger
            while ledger.waiting:
                conditions = next(iter(ledger.waiting))
                if conditions not in ledger.drawn:
                    ledger.drawn[conditions] = await self._draw(placement, conditions)
                # only now: more may have been noted while lists were drawn
                drawn, decisions = ledger.drawn[conditions], ledger.take(conditions)
                self._observe("unknown" if drawn is None else "known", len(decisions))
                if drawn is not None:
                    self.give_back([(one.id, drawn.propensities(one.items, one.arm)) for one in decisions])
            if ledger.known:
                self._observe("known", ledger.known)
                ledger.known = 0

    def take(self) -> list[Propensity]:
        """What was found since the last time, to be written."""
        found, self._found = self._found, []
        return found

    def give_back(self, found: Sequence[Propensity]) -> None:
        """What is yet to be written."""
        self._found = [*self._found, *found][:MAX_UNWRITTEN]

    async def _draw(self, placement: Placement, conditions: Conditions) -> RedrawnLists | None:
        definition = placement.definition
        if definition.mode == "shadow":
            # which no list of the learner's is shown in
            return RedrawnLists(0, Counter())
        held_out = definition.holdout, definition.control_list(*conditions.wishes) if definition.holdout else ()
        if definition.mode == "frozen":
            # there is but one
            only = placement.choose(*conditions.wishes, conditions.segment)
            return RedrawnLists(1, Counter(enumerate(only)), *held_out)
        cost = LIST_COST + len(placement.numbers)
        lists = min(MAX_LISTS, self._left // cost, max(MIN_LISTS, MAX_SPENT_ON_ONE // cost))
        too_many = len(placement.ledger.drawn) >= MAX_CONDITIONS
        # as plain Python, until the kernels are there, a list takes a hundred times as long
        if lists < MIN_LISTS or too_many or not placement.learner.kernels.are_there:
            return None
        self._left -= lists * cost
        pairs = Counter[tuple[int, str]]()
        at_once = max(1, SPENT_AT_ONCE // cost)
        for start in range(0, lists, at_once):
            pairs.update(placement.draw(min(at_once, lists - start), conditions))
            await asyncio.sleep(0)
        return RedrawnLists(lists, pairs, *held_out)
