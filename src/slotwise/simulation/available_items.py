"""Items that are available in a round: which lists may be shown, and how policies learn of it."""

from __future__ import annotations

import numpy as np

from slotwise.core.types import EMPTY, FloatArray, IntArray, Ranking
from slotwise.jit import generic, inlined, record
from slotwise.optimize.compiled_constraints import CLOSED
from slotwise.policies.interface import end_epoch, impose_rules


@record
class Everyone:
    """All items are available in every round."""

    items: int


@record
class ComingAndGoing:
    """Items come and go: buffers for the rules that policies get."""

    values: FloatArray
    excluded: IntArray
    pin: IntArray
    #: the last list, for policies that hold one
    last: Ranking


def presence_of(slots: int, items: int, comes_and_goes: bool) -> Everyone | ComingAndGoing:
    """Return `Everyone` unless items come and go, so that policies without rules need not compile them."""
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
    """Whether a list of distinct items holds only available items and fills as many of the first slots as it can."""
    for slot in range(len(ranking)):
        if (ranking[slot] == EMPTY) != (slot >= there):
            return False
        if ranking[slot] != EMPTY and is_there[ranking[slot]] == 0:
            return False
    return True


@generic(default=lambda presence, is_there, there, policy: None)  # noqa: ARG005
def tell_presence(presence: object, is_there: IntArray, there: int, policy: object) -> None:
    """Impose on a policy the rule to show only available items from now on."""


@tell_presence.register(ComingAndGoing)
def _tell_presence(presence: ComingAndGoing, is_there: IntArray, there: int, policy: object) -> None:
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
def remember_shown(presence: object, ranking: Ranking) -> None:
    """Store the last list if items come and go."""


@remember_shown.register(ComingAndGoing)
def _remember_shown(presence: ComingAndGoing, ranking: Ranking) -> None:
    for slot in range(len(ranking)):
        presence.last[slot] = ranking[slot]
