"""Which items are there: what a list may hold, and how policies are told."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.core.types import EMPTY, FloatArray, IntArray, Ranking
from slotwise.jit import generic, inlined, record
from slotwise.optimize.compiled_constraints import CLOSED
from slotwise.policies.interface import end_epoch, impose_rules


@record
class Everyone:
    """All items are there all the time, and there is nothing to tell."""

    items: int


@record
class ComingAndGoing:
    """Items come and go: room for what policies are told of it."""

    values: FloatArray
    excluded: IntArray
    pin: IntArray
    #: what was shown last, for policies that hold a list
    last: Ranking


def presence_of(slots: int, items: int, comes_and_goes: bool) -> Any:
    """Of the two the one that it takes: a policy that cannot be told is not asked to compile that."""
    if not comes_and_goes:
        return Everyone(items=items)
    return ComingAndGoing(
        values=np.ones(items),
        excluded=np.zeros(items, np.int64),
        pin=np.full(slots, EMPTY),
        last=np.full(slots, EMPTY),
    )


@inlined
def can_be_shown(is_there: IntArray, there: int, ranking: Ranking) -> bool:
    """Whether a list, of distinct items, holds only items that are there, in as many of the first slots as can be."""
    for slot in range(len(ranking)):
        if (ranking[slot] == EMPTY) != (slot >= there):
            return False
        if ranking[slot] != EMPTY and is_there[ranking[slot]] == 0:
            return False
    return True


@generic(default=lambda presence, is_there, there, policy: None)  # noqa: ARG005
def tell_presence(presence: Any, is_there: IntArray, there: int, policy: Any) -> None:
    """Tell a policy which items may be shown from here on."""


@tell_presence.register(ComingAndGoing)
def _tell_presence(presence: ComingAndGoing, is_there: IntArray, there: int, policy: Any) -> None:
    absent = 0
    for item in range(len(is_there)):
        if is_there[item] == 0:
            presence.excluded[absent] = item
            absent += 1
    pin = presence.pin
    for slot in range(len(pin)):
        pin[slot] = CLOSED if slot >= there else EMPTY
    impose_rules(policy, presence.values, presence.excluded[:absent], pin)
    # a list that is held must not be shown again
    if not can_be_shown(is_there, there, presence.last):
        end_epoch(policy)


@generic(default=lambda presence, ranking: None)  # noqa: ARG005
def remember_shown(presence: Any, ranking: Ranking) -> None:
    """Keep what was shown last, where that matters."""


@remember_shown.register(ComingAndGoing)
def _remember_shown(presence: ComingAndGoing, ranking: Ranking) -> None:
    for slot in range(len(ranking)):
        presence.last[slot] = ranking[slot]
