"""The list of the largest expected value if every pair of slot and item has its own weight.

Dinkelbach's steps are those of `slotwise.optimize.fractional_program`. The list that maximises Σ_k γ_kj(v_j - R) is an
assignment: a flow of the largest gain from slots through items and their groups, by one best augmenting path per slot.
"""

from __future__ import annotations

import math

import numpy as np

from slotwise.core.goal import Goal
from slotwise.core.random import shuffle
from slotwise.core.types import EMPTY, FloatArray, IntArray, Ranking
from slotwise.jit import inlined, jit, record
from slotwise.optimize.compiled_constraints import Constraints, rules_of
from slotwise.optimize.fractional_program import ROUNDING, make_finite
from slotwise.optimize.list_solver import arrange_pairs

#: the minimum relative advantage of a path, above rounding errors
INDIFFERENT = 1e-12


@record
class ForGoalPairs:
    """Work arrays for augmenting paths: nodes 0 … K-1 are the slots, K … 2K-1 the groups at their limit."""

    rules: Constraints
    #: slots without a pin, and candidates, both in random order
    slot_order: IntArray
    item_order: IntArray
    #: per slot: the item in it
    item_of: IntArray
    #: per item: whether it is in a slot
    taken: IntArray
    #: per limited group: the number of taken items, and its number among the full groups, or -1
    used: IntArray
    full: IntArray
    #: per slot: the best item that can be added, and its gain
    spare_item: IntArray
    spare_gain: FloatArray
    #: per slot and full group: the best item that is not taken, and its gain
    swap_item: IntArray
    swap_gain: FloatArray
    #: per node: the gain of the best path to it, and the node before
    reach: FloatArray
    before: IntArray


def for_goal_pairs(goal: Goal, slots: int, items: int) -> ForGoalPairs:
    """Return the solver for `arrange_pairs` with a goal."""
    rules = rules_of(goal, slots, items)
    groups = len(rules.limit)
    return ForGoalPairs(
        rules=rules,
        slot_order=np.flatnonzero(rules.pin == EMPTY),
        item_order=rules.candidates.copy(),
        item_of=np.zeros(slots, np.int64),
        taken=np.zeros(items, np.int64),
        used=np.zeros(groups, np.int64),
        full=np.zeros(groups, np.int64),
        spare_item=np.zeros(slots, np.int64),
        spare_gain=np.zeros(slots),
        swap_item=np.zeros((slots, slots), np.int64),
        swap_gain=np.zeros((slots, slots)),
        reach=np.zeros(2 * slots),
        before=np.zeros(2 * slots, np.int64),
    )


@arrange_pairs.register(ForGoalPairs)
def _arrange_pairs(lists: ForGoalPairs, weight: FloatArray, ranking: Ranking, rng: np.random.Generator) -> None:
    rules = lists.rules
    make_finite(weight.ravel(), weight.ravel())
    shuffle(lists.slot_order, 0, len(lists.slot_order), rng)
    shuffle(lists.item_order, 0, len(lists.item_order), rng)
    value = 0.0
    while True:
        _assign(lists, weight, value)
        total, worth = 1.0, 0.0
        for slot in range(len(ranking)):
            item = lists.item_of[slot]
            ranking[slot] = item
            if item != EMPTY:
                total += weight[slot, item]
                worth += weight[slot, item] * rules.values[item]
        reached = worth / total
        if rules.values_are_equal or reached <= value * (1.0 + ROUNDING):
            return
        value = reached


@jit
def _assign(lists: ForGoalPairs, weight: FloatArray, value: float) -> None:
    """Give each slot its pin, or the item (or none) that maximises the total gain; O(K²J)."""
    rules, slot_order, item_of, taken, used = lists.rules, lists.slot_order, lists.item_of, lists.taken, lists.used
    for slot in range(len(item_of)):
        item_of[slot] = max(rules.pin[slot], EMPTY)
    taken[:] = 0
    used[:] = 0
    for entered in range(len(slot_order)):
        full = _full_groups(lists, entered)
        for place in range(entered + 1):
            _best_untaken(lists, weight, value, slot_order[place], full)
        node = _best_path(lists, weight, value, entered, full)
        new = lists.spare_item[node]
        if new != EMPTY:
            taken[new] = 1
            if rules.group[new] >= 0:
                used[rules.group[new]] += 1
        # backwards along the path: each slot passes its item to the slot before it, or drops it for one of its group
        while True:
            old = item_of[node]
            item_of[node] = new
            new = old
            if node == slot_order[entered]:
                break
            previous = lists.before[node]
            if previous >= len(item_of):
                taken[old] = 0
                group, previous = previous - len(item_of), lists.before[previous]
                new = lists.swap_item[previous, group]
                taken[new] = 1
            node = previous


@inlined
def _full_groups(lists: ForGoalPairs, entered: int) -> int:
    """Number the groups at their limit, and return their count."""
    rules, used, full = lists.rules, lists.used, lists.full
    full[:] = -1
    count = 0
    for place in range(entered):
        item = lists.item_of[lists.slot_order[place]]
        if item != EMPTY:
            group = rules.group[item]
            if group >= 0 and used[group] == rules.left[group] and full[group] < 0:
                full[group] = count
                count += 1
    return count


@inlined
def _best_untaken(lists: ForGoalPairs, weight: FloatArray, value: float, slot: int, full: int) -> None:
    """Find the best item for `slot` of each full group, and of the others, among the items in no slot."""
    rules, spare_item, spare_gain = lists.rules, lists.spare_item, lists.spare_gain
    swap_item, swap_gain = lists.swap_item, lists.swap_gain
    spare_item[slot], spare_gain[slot] = EMPTY, 0.0 if rules.may_be_empty else -math.inf
    for number in range(full):
        swap_gain[slot, number] = -math.inf
    for item in lists.item_order:
        if lists.taken[item] == 1:
            continue
        gain = weight[slot, item] * (rules.values[item] - value)
        number = lists.full[rules.group[item]] if rules.group[item] >= 0 else -1
        if number >= 0:
            if gain > swap_gain[slot, number]:
                swap_item[slot, number], swap_gain[slot, number] = item, gain
        elif gain > spare_gain[slot]:
            spare_item[slot], spare_gain[slot] = item, gain


@inlined
def _best_path(lists: ForGoalPairs, weight: FloatArray, value: float, entered: int, full: int) -> int:
    """Find the path of the largest gain from the entering slot to a slot that takes a spare item; return that slot.

    Bellman and Ford's method. A step from slot to slot takes over the other's item. A step from a slot through a full
    group to another slot takes an item of that group, and the other slot gives one up.
    """
    rules, slot_order, item_of, reach, before = lists.rules, lists.slot_order, lists.item_of, lists.reach, lists.before
    slots = len(item_of)
    reach[:] = -math.inf
    reach[slot_order[entered]] = 0.0
    tolerance = INDIFFERENT * _largest_gain(lists, weight, value, entered, full)
    changed = True
    while changed:
        changed = False
        for place in range(entered + 1):
            slot = slot_order[place]
            if reach[slot] == -math.inf:
                continue
            for number in range(full):
                there = reach[slot] + lists.swap_gain[slot, number]
                if there > reach[slots + number] + tolerance:
                    reach[slots + number], before[slots + number], changed = there, slot, True
            for other in slot_order[:entered]:
                item = item_of[other]
                if item != EMPTY:
                    there = reach[slot] + (weight[slot, item] - weight[other, item]) * (rules.values[item] - value)
                    if there > reach[other] + tolerance:
                        reach[other], before[other], changed = there, slot, True
        for slot in slot_order[:entered]:
            item = item_of[slot]
            if item != EMPTY and rules.group[item] >= 0 and lists.full[rules.group[item]] >= 0:
                group = slots + lists.full[rules.group[item]]
                there = reach[group] - weight[slot, item] * (rules.values[item] - value)
                if there > reach[slot] + tolerance:
                    reach[slot], before[slot], changed = there, group, True
    best: int = slot_order[entered]
    for slot in slot_order[:entered]:
        if reach[slot] + lists.spare_gain[slot] > reach[best] + lists.spare_gain[best]:
            best = slot
    return best


@inlined
def _largest_gain(lists: ForGoalPairs, weight: FloatArray, value: float, entered: int, full: int) -> float:
    """Return the largest gain of a step, the scale of rounding errors on a path."""
    slot_order, values = lists.slot_order, lists.rules.values
    largest = 0.0
    for slot in slot_order[: entered + 1]:
        for number in range(full):
            largest = max(largest, lists.swap_gain[slot, number])
        for other in slot_order[:entered]:
            item = lists.item_of[other]
            if item != EMPTY:
                largest = max(largest, weight[slot, item] * (values[item] - value))
                largest = max(largest, weight[other, item] * abs(values[item] - value))
    return largest
