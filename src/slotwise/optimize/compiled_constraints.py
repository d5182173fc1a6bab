"""Constraints and values as compiled code reads them."""

from __future__ import annotations

import numpy as np

from slotwise.core.goal import Goal
from slotwise.core.types import EMPTY, FloatArray, IntArray
from slotwise.jit import record

#: the place of an item that may be in any slot, and of one that may not be shown
ANYWHERE = -1
NOWHERE = -2
#: the pin of a slot that stays empty; a slot without a pin has EMPTY
CLOSED = -3


@record
class Constraints:
    """Values of items, pins, exclusions and limits of groups."""

    #: v, per item
    values: FloatArray
    values_are_equal: bool
    #: per slot: the item pinned to it, EMPTY if there is none, or CLOSED if nothing may be in it
    pin: IntArray
    #: per item: the slot that it is pinned to, ANYWHERE or NOWHERE
    place: IntArray
    #: the candidates for slots without a pin
    candidates: IntArray
    #: the number of slots without a pin
    free_slots: int
    #: per item: its limited group, or -1
    group: IntArray
    #: per limited group: the maximum number shown, and the maximum without the pinned items
    limit: IntArray
    left: IntArray
    may_be_empty: bool


def rules_of(goal: Goal, slots: int, items: int) -> Constraints:
    """Check a goal and compile it to constraints."""
    goal.check(slots, items)
    values = np.ones(items) if goal.values is None else np.array(goal.values)
    pin, place = np.full(slots, EMPTY), np.full(items, ANYWHERE)
    place[list(goal.exclude)] = NOWHERE
    for item, slot in goal.pin.items():
        pin[slot], place[item] = item, slot
    numbers = {label: number for number, label in enumerate(goal.max_per_group)}
    labels = goal.groups or ()
    group = np.array([numbers.get(label, -1) for label in labels] or [-1] * items, np.int64)
    limit = np.array(list(goal.max_per_group.values()), np.int64)
    left = limit - np.bincount(group[(place >= 0) & (group >= 0)], minlength=len(limit))
    open_group = np.append(left > 0, True)[group]  # the last answers for -1
    return Constraints(
        values=values,
        values_are_equal=bool((values == values[0]).all()),
        pin=pin,
        place=place,
        candidates=np.flatnonzero((place == ANYWHERE) & open_group),
        free_slots=slots - len(goal.pin),
        group=group,
        limit=limit,
        left=left,
        may_be_empty=goal.may_be_empty,
    )
