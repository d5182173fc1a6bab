"""Rules of one decision, by number of item: what is left out, and what must be where."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from slotwise.core.errors import InvalidInput
from slotwise.core.types import IntArray
from slotwise.optimize.dynamic_constraints import pins
from slotwise.ranker.item_arguments import Items


class Ruling(NamedTuple):
    """The rules of a decision together with those for all: they can be met."""

    #: items, in order
    excluded: IntArray
    #: from items to slots, counted from 0
    pinned: Mapping[int, int]
    #: how many items are left to show
    allowed: int

    def pins(self, slots: int) -> IntArray:
        """What is in each slot, as `slotwise.optimize.dynamic_constraints.impose` takes it."""
        return pins(slots, self.allowed, self.pinned)


class Rules(NamedTuple):
    """As they were asked for."""

    exclude: frozenset[int]
    pinned: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, items: Items, exclude: Any, pin: Any, slots: int) -> Rules:
        """From ids, and slots counted from 1."""
        return cls(frozenset(items.numbered("exclude", exclude)), tuple(items.pinned(pin, slots).items()))

    def __bool__(self) -> bool:
        return bool(self.exclude or self.pinned)

    def together_with(self, retired: Collection[int], items: Items) -> Ruling:
        """With items that are not shown at all; an error that says why it cannot be met."""
        excluded = self.exclude.union(retired)
        allowed = len(items) - len(excluded)
        for number, slot in self.pinned:
            item = items.ids[number]
            if number in retired:
                raise InvalidInput(f"pin names {item!r}, which is retired")
            if number in self.exclude:
                raise InvalidInput(f"{item!r} is both in pin and in exclude")
            if slot >= allowed:
                raise InvalidInput(
                    f"pin puts {item!r} into slot {slot + 1}, but only {allowed} of the items are left to show"
                )
        if allowed == 0:
            raise InvalidInput(f"exclude leaves nothing to show: it names all of the {len(self.exclude)} items")
        return Ruling(np.array(sorted(excluded), np.int64), dict(self.pinned), allowed)
