"""Propensities: the probability of each item in its slot when a list was drawn, for off-policy evaluation.

A policy draws its lists at random, and their probabilities have no formula. So more lists are drawn from the same
posterior, after the decision was answered and before the posterior changes, and the items in their slots are counted.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, Literal

from slotwise.service.placements.placement_state import Conditions, Placement, RedrawnLists

#: maximum and minimum number of lists drawn for one posterior and conditions
MAX_LISTS: Final = 500
MIN_LISTS: Final = 100
#: the cost of a list apart from its items; an item costs 1, about a tenth of a microsecond
LIST_COST: Final = 100
#: the budget between two refreshes: a tenth of the time while counts are small, and a hundredth later; and the budget
#: for one posterior and conditions, if it is enough for the minimum
MAX_SPENT: Final = 400_000
MAX_SPENT_ON_ONE: Final = 150_000
#: the cost after which other tasks run
SPENT_AT_ONCE: Final = 10_000
#: conditions with redrawn lists per posterior
MAX_CONDITIONS: Final = 64
#: propensities that wait to be written
MAX_UNWRITTEN: Final = 10_000

Propensity = tuple[str, tuple[float, ...]]


class Propensities:
    """Computes propensities, one placement at a time, within a budget."""

    def __init__(self, observe: Callable[[Literal["known", "unknown"], int], None] = lambda _, __: None) -> None:
        self._turn = asyncio.Lock()
        self._observe = observe
        self._left = MAX_SPENT
        self._unwritten: list[Propensity] = []

    def replenish(self) -> None:
        """Restore the budget."""
        self._left = MAX_SPENT

    async def settle(self, placement: Placement) -> None:
        """Compute the propensities of all decisions from a placement's posterior, which may change afterwards."""
        async with self._turn:
            pending = placement.pending_propensities
            while pending.waiting:
                conditions = next(iter(pending.waiting))
                if conditions not in pending.redrawn:
                    pending.redrawn[conditions] = await self._draw(placement, conditions)
                # only now: further decisions may have been added while lists were drawn
                drawn, decisions = pending.redrawn[conditions], pending.take(conditions)
                self._observe("unknown" if drawn is None else "known", len(decisions))
                if drawn is not None:
                    self.give_back(
                        [(decision.id, drawn.propensities(decision.items, decision.arm)) for decision in decisions]
                    )
            if pending.known:
                self._observe("known", pending.known)
                pending.known = 0

    def take(self) -> list[Propensity]:
        """The propensities that were computed since the last call, to be written."""
        propensities, self._unwritten = self._unwritten, []
        return propensities

    def give_back(self, propensities: Sequence[Propensity]) -> None:
        """Return propensities that could not be written."""
        self._unwritten = [*self._unwritten, *propensities][:MAX_UNWRITTEN]

    async def _draw(self, placement: Placement, conditions: Conditions) -> RedrawnLists | None:
        definition = placement.definition
        if definition.mode != "live":
            # no list of the learner is shown in shadow mode
            return RedrawnLists(0, Counter())
        holdout = definition.holdout, definition.control_list(*conditions.constraints) if definition.holdout else ()
        if not definition.exploring:
            # there is only one list
            best_list = placement.choose(*conditions.constraints, conditions.segment)
            return RedrawnLists(1, Counter(enumerate(best_list)), *holdout)
        cost = LIST_COST + len(placement.numbers)
        lists = min(MAX_LISTS, self._left // cost, max(MIN_LISTS, MAX_SPENT_ON_ONE // cost))
        too_many = len(placement.pending_propensities.redrawn) >= MAX_CONDITIONS
        # in plain Python, before the kernels are compiled, a list takes a hundred times as long
        if lists < MIN_LISTS or too_many or not placement.learner.kernels.are_there:
            return None
        self._left -= lists * cost
        pairs = Counter[tuple[int, str]]()
        at_once = max(1, SPENT_AT_ONCE // cost)
        for start in range(0, lists, at_once):
            pairs.update(placement.draw(min(at_once, lists - start), conditions))
            await asyncio.sleep(0)
        return RedrawnLists(lists, pairs, *holdout)
