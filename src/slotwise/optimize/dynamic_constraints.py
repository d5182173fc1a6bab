"""The best list under constraints that change from decision to decision: pins, exclusions, values.

To compile a goal for each decision would cost more than the decision, so the constraints are written into one record.
Without constraints it sorts, as fast as a solver without them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from slotwise.core.goal import Goal
from slotwise.core.types import EMPTY, FloatArray, IntArray, Ranking
from slotwise.jit import generic, inlined, record
from slotwise.optimize.assignment import Assigned, assigned
from slotwise.optimize.compiled_constraints import ANYWHERE, CLOSED, NOWHERE, Constraints
from slotwise.optimize.fractional_assignment import ForGoalPairs, for_goal_pairs
from slotwise.optimize.fractional_program import ForGoal, for_goal_lists
from slotwise.optimize.list_solver import arrange, arrange_pairs, is_free
from slotwise.optimize.sort_solver import Sorted, sorted_lists


@record
class PerDecision:
    """`Sorted` without constraints, and `ForGoal` with the current constraints otherwise."""

    free: Sorted
    ruled: ForGoal
    are_rules: bool
    #: work array: the items that may be chosen
    room: IntArray


@record
class PerDecisionPairs:
    """`Assigned` without constraints, and `ForGoalPairs` with the current constraints otherwise."""

    free: Assigned
    ruled: ForGoalPairs
    are_rules: bool
    #: work arrays: the items that may be chosen, in order and as they are scanned, and the slots without a pin
    room: IntArray
    item_room: IntArray
    slot_room: IntArray


def per_decision_lists(slots: int, items: int, position_bias: FloatArray | None) -> PerDecision:
    """Return the solver for `arrange`, without constraints; `position_bias` is None if it is unknown."""
    return PerDecision(
        free=sorted_lists(slots, items, position_bias),
        ruled=for_goal_lists(Goal(), slots, items, position_bias),
        are_rules=False,
        room=np.arange(items),
    )


def per_decision_pairs(slots: int, items: int) -> PerDecisionPairs:
    """Return the solver for `arrange_pairs`, without constraints."""
    return PerDecisionPairs(
        free=assigned(slots, items),
        ruled=for_goal_pairs(Goal(), slots, items),
        are_rules=False,
        room=np.arange(items),
        item_room=np.arange(items),
        slot_room=np.arange(slots),
    )


def pins(slots: int, allowed: int, pinned: Mapping[int, int] | None = None) -> IntArray:
    """Return the `pin` argument of `impose`: pinned items, and CLOSED for the last slots if there are too few items.

    >>> pins(slots=4, allowed=3, pinned={7: 1}).tolist()
    [-2, 7, -2, -3]
    """
    pin = np.full(slots, EMPTY)
    pin[allowed:] = CLOSED
    for item, slot in (pinned or {}).items():
        pin[slot] = item
    return pin


@generic()
def impose(lists: PerDecision | PerDecisionPairs, values: FloatArray, excluded: IntArray, pin: IntArray) -> None:
    """Set the constraints of the next lists.

    Parameters
    ----------
    lists
        The solver.
    values
        Positive, one per item.
    excluded
        Items that may not be shown. At least as many items must remain as there are slots without a pin.
    pin
        Per slot: the item that must be in it, EMPTY for any item, or CLOSED for no item.
    """


@impose.register(PerDecision)
def _impose(lists: PerDecision, values: FloatArray, excluded: IntArray, pin: IntArray) -> None:
    lists.are_rules = _impose_rules(lists.ruled.rules, lists.room, values, excluded, pin)


@impose.register(PerDecisionPairs)
def _impose_on_pairs(lists: PerDecisionPairs, values: FloatArray, excluded: IntArray, pin: IntArray) -> None:
    ruled = lists.ruled
    lists.are_rules = _impose_rules(ruled.rules, lists.room, values, excluded, pin)
    candidates = ruled.rules.candidates
    ruled.item_order = lists.item_room[: len(candidates)]
    for place in range(len(candidates)):
        ruled.item_order[place] = candidates[place]
    ruled.slot_order = lists.slot_room[: ruled.rules.free_slots]
    place = 0
    for slot in range(len(pin)):
        if pin[slot] == EMPTY:
            ruled.slot_order[place] = slot
            place += 1


@inlined
def _impose_rules(rules: Constraints, room: IntArray, values: FloatArray, excluded: IntArray, pin: IntArray) -> bool:
    """Write the constraints, and return whether there are any."""
    place = rules.place
    rules.values_are_equal = True
    for item in range(len(place)):
        place[item] = ANYWHERE
        rules.values[item] = values[item]
        if values[item] != values[0]:
            rules.values_are_equal = False
    for item in excluded:
        place[item] = NOWHERE
    rules.free_slots = 0
    for slot in range(len(pin)):
        rules.pin[slot] = pin[slot]
        if pin[slot] == EMPTY:
            rules.free_slots += 1
        elif pin[slot] >= 0:
            place[pin[slot]] = slot
    count = 0
    for item in range(len(place)):
        if place[item] == ANYWHERE:
            room[count] = item
            count += 1
    rules.candidates = room[:count]
    return len(excluded) > 0 or rules.free_slots < len(pin) or not rules.values_are_equal


@is_free.register(PerDecision)
def _is_free(lists: PerDecision) -> bool:
    return not lists.are_rules


@arrange.register(PerDecision)
def _arrange(
    lists: PerDecision,
    attractiveness: FloatArray,
    position_bias: FloatArray,
    ranking: Ranking,
    rng: np.random.Generator,
) -> None:
    if lists.are_rules:
        arrange(lists.ruled, attractiveness, position_bias, ranking, rng)
    else:
        arrange(lists.free, attractiveness, position_bias, ranking, rng)


@arrange_pairs.register(PerDecisionPairs)
def _arrange_pairs(lists: PerDecisionPairs, weight: FloatArray, ranking: Ranking, rng: np.random.Generator) -> None:
    if lists.are_rules:
        arrange_pairs(lists.ruled, weight, ranking, rng)
    else:
        arrange_pairs(lists.free, weight, ranking, rng)
