"""The best list under the constraints of a goal: the largest expected value, by fractional programming.

Σ_k v γ_k/(1+S) is the largest R for which some allowed list has Σ_k γ_k(v - R) ≥ R. Dinkelbach's method finds it in
finitely many steps, from R = 0: take the list that maximises Σ_k γ_k(v - R), make its value the next R, and stop when
it is no larger than the last.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.core.goal import Goal
from slotwise.core.types import EMPTY, FloatArray, IntArray, Ranking
from slotwise.jit import inlined, jit, record
from slotwise.optimize.compiled_constraints import Constraints, rules_of
from slotwise.optimize.list_solver import arrange
from slotwise.optimize.top_k import order_slots, slot_order

#: An item never shown has an infinite index. In a list it counts as this much more attractive than all the others
#: together with no click. That is near the limit, in which a list has the value of its most valuable new item. So the
#: most valuable items are tried first, and items of less value than the best list without them are never tried.
NEVER_SHOWN = 1e6
#: a step that gains less than this is a rounding error
ROUNDING = 1e-14


@record
class ForGoal:
    """The best list for a goal: pins first, then the largest gains u_j = α_j(v_j - R) that the groups allow.

    Taking the largest gains one by one is optimal for any slots: "at most m of a group, at most n in all" is a matroid.
    In a matroid the k-th item of the greedy choice gains at least as much as the k-th best of any other set. The larger
    gains go into the more visible slots. A step is O(J) for a given number of slots; ties are broken at random.

    The best value increases with every attractiveness if each item may be left out, so optimistic indices give an
    optimistic list. With a pin, or a slot that must be filled, that does not hold: more clicks on a cheap item that has
    to be shown mean less value, and a policy of upper bounds has no guarantee of exploring enough.
    """

    rules: Constraints
    slots: Any
    #: α, per item, with a finite number for infinity
    weight: FloatArray
    #: the chosen items by decreasing gain, ties by a random number for each
    chosen: IntArray
    gain: FloatArray
    drawn: FloatArray
    #: per limited group: how many are chosen
    used: IntArray


def for_goal_lists(goal: Goal, slots: int, items: int, position_bias: FloatArray | None) -> ForGoal:
    """Return the solver for `arrange` with a goal; `position_bias` is None if it is unknown."""
    rules = rules_of(goal, slots, items)
    return ForGoal(
        rules=rules,
        slots=slot_order(slots, position_bias),
        weight=np.zeros(items),
        chosen=np.zeros(slots, np.int64),
        gain=np.zeros(slots),
        drawn=np.zeros(slots),
        used=np.zeros(len(rules.limit), np.int64),
    )


@arrange.register(ForGoal)
def _arrange(
    lists: ForGoal, attractiveness: FloatArray, position_bias: FloatArray, ranking: Ranking, rng: np.random.Generator
) -> None:
    weight, rules = lists.weight, lists.rules
    by_bias = order_slots(lists.slots, position_bias, rng)
    make_finite(attractiveness, weight)
    value = 0.0
    while True:
        count = _choose_items(lists, value, rng)
        _fill_slots(lists, by_bias, count, ranking)
        reached = _value_of(rules, weight, position_bias, ranking)
        # equal values: the order by gain is the order by attractiveness, for any R
        if rules.values_are_equal or reached <= value * (1.0 + ROUNDING):
            return
        value = reached


@inlined
def make_finite(attractiveness: FloatArray, weight: FloatArray) -> None:
    """Copy `attractiveness` to `weight`, with a large number for infinity."""
    largest, never_shown = 0.0, False
    for place in range(len(weight)):
        weight[place] = attractiveness[place]
        if weight[place] == math.inf:
            never_shown = True
        else:
            largest = max(largest, weight[place])
    if never_shown:
        for place in range(len(weight)):
            if weight[place] == math.inf:
                weight[place] = NEVER_SHOWN * (1.0 + largest)


@jit
def _choose_items(lists: ForGoal, value: float, rng: np.random.Generator) -> int:
    """Fill `chosen` with the allowed set of the largest gains, and return its size.

    One pass: a new item replaces the least of the chosen items that exclude it, if it gains more.
    """
    rules, weight, chosen, gain, drawn, used = (
        lists.rules, lists.weight, lists.chosen, lists.gain, lists.drawn, lists.used
    )  # fmt: skip
    values, group, left, most = rules.values, rules.group, rules.left, rules.free_slots
    # an item without a gain is not shown if slots may stay empty
    least = 0.0 if rules.may_be_empty else -math.inf
    used[:] = 0
    count = 0
    if most == 0:
        return count
    for item in rules.candidates:
        new = weight[item] * (values[item] - value)
        if new <= least or (count == most and new < gain[most - 1]):
            continue
        its_group = group[item]
        place = count if count < most else most - 1
        if its_group >= 0 and used[its_group] == left[its_group]:
            place = count - 1
            while group[chosen[place]] != its_group:
                place -= 1
        number = rng.random()
        if place == count:
            count += 1
        else:
            if new < gain[place] or (new == gain[place] and number < drawn[place]):
                continue
            if group[chosen[place]] >= 0:
                used[group[chosen[place]]] -= 1
        if its_group >= 0:
            used[its_group] += 1
        _insert(lists, place, item, new, number)
    return count


@inlined
def _insert(lists: ForGoal, place: int, item: int, new: float, number: float) -> None:
    """Insert an item in order of gain; it replaces the item at `place`, which has no larger gain."""
    chosen, gain, drawn = lists.chosen, lists.gain, lists.drawn
    while place > 0 and (gain[place - 1] < new or (gain[place - 1] == new and drawn[place - 1] < number)):
        chosen[place], gain[place], drawn[place] = chosen[place - 1], gain[place - 1], drawn[place - 1]
        place -= 1
    chosen[place], gain[place], drawn[place] = item, new, number


@inlined
def _fill_slots(lists: ForGoal, by_bias: IntArray, count: int, ranking: Ranking) -> None:
    """Put pins into their slots and the `count` chosen items into the most visible others; leave the others empty."""
    pin, chosen = lists.rules.pin, lists.chosen
    place = 0
    for slot in by_bias:
        ranking[slot] = max(pin[slot], EMPTY)
        if pin[slot] == EMPTY and place < count:
            ranking[slot] = chosen[place]
            place += 1


@inlined
def _value_of(rules: Constraints, weight: FloatArray, position_bias: FloatArray, ranking: Ranking) -> float:
    """Σ_k v γ_k/(1+S)."""
    total, worth = 1.0, 0.0
    for slot in range(len(ranking)):
        if ranking[slot] != EMPTY:
            clicks = position_bias[slot] * weight[ranking[slot]]
            total += clicks
            worth += clicks * rules.values[ranking[slot]]
    return worth / total
