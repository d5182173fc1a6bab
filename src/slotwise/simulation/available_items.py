"""Items that are available in a round: which lists may be shown, and the constraints that policies get."""

from __future__ import annotations

import numpy as np

from slotwise.core.types import EMPTY, FloatArray, IntArray, Ranking
from slotwise.jit import generic, inlined, record
from slotwise.optimize.compiled_constraints import CLOSED
from slotwise.policies.interface import end_epoch, impose_rules


@record
class AlwaysAvailable:
    """All items are available in every round."""

    items: int


@record
class ChangingAvailability:
    """Items come and go: buffers for the constraints that policies get."""

    values: FloatArray
    excluded: IntArray
    pin: IntArray
    #: the last list, for policies that hold one
    last: Ranking


def availability_of(slots: int, items: int, comes_and_goes: bool) -> AlwaysAvailable | ChangingAvailability:
    """Return `AlwaysAvailable` unless items come and go, so that policies without rules need not compile them."""
    if not comes_and_goes:
        return AlwaysAvailable(items=items)
    return ChangingAvailability(
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


@generic(default=lambda availability, is_there, there, policy: None)  # noqa: ARG005
def impose_availability(availability: object, is_there: IntArray, there: int, policy: object) -> None:
    """Constrain a policy to the available items from now on."""


@impose_availability.register(ChangingAvailability)
def _impose_availability(availability: ChangingAvailability, is_there: IntArray, there: int, policy: object) -> None:
    absent = 0
    for item in range(len(is_there)):
        if is_there[item] == 0:
            availability.excluded[absent] = item
            absent += 1
    pin = availability.pin
    for slot in range(len(pin)):
        pin[slot] = CLOSED if slot >= there else EMPTY
    impose_rules(policy, availability.values, availability.excluded[:absent], pin)
    # a list that is held must not be shown again
    if not can_be_shown(is_there, there, availability.last):
        end_epoch(policy)


@generic(default=lambda availability, ranking: None)  # noqa: ARG005
def remember_list(availability: object, ranking: Ranking) -> None:
    """Store the last list if items come and go."""


@remember_list.register(ChangingAvailability)
def _remember_list(availability: ChangingAvailability, ranking: Ranking) -> None:
    for slot in range(len(ranking)):
        availability.last[slot] = ranking[slot]
