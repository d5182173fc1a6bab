"""The best list for clicks: the most attractive items sorted into the most visible slots."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.core.types import FloatArray, IntArray, Ranking
from slotwise.jit import record
from slotwise.optimize.list_solver import arrange, entry, rearrange, slots_in_order
from slotwise.optimize.top_k import fill_slots, order_slots, select_best, slot_order


@record
class Sorted:
    """The most attractive items, the k-th largest in the slot of the k-th largest bias; ties uniformly at random."""

    slots: Any
    #: items by decreasing attractiveness, sorted as far as needed
    item_order: IntArray
    #: the items to rearrange, their attractiveness, and their order
    held: IntArray
    held_index: FloatArray
    held_order: IntArray


def sorted_lists(slots: int, items: int, position_bias: FloatArray | None) -> Sorted:
    """Return the solver for `arrange`; `position_bias` is None if it is unknown."""
    return Sorted(
        slots=slot_order(slots, position_bias),
        item_order=np.arange(items),
        held=np.zeros(slots, np.int64),
        held_index=np.zeros(slots),
        held_order=np.arange(slots),
    )


@arrange.register(Sorted)
def _arrange(
    lists: Sorted, attractiveness: FloatArray, position_bias: FloatArray, ranking: Ranking, rng: np.random.Generator
) -> None:
    item_order = lists.item_order
    select_best(attractiveness, item_order, len(ranking), rng)
    fill_slots(ranking, order_slots(lists.slots, position_bias, rng), item_order)


@rearrange.register(Sorted)
def _rearrange(
    lists: Sorted, attractiveness: FloatArray, position_bias: FloatArray, ranking: Ranking, rng: np.random.Generator
) -> None:
    by_bias = order_slots(lists.slots, position_bias, rng)
    held_order = lists.held_order
    # usually they are in order
    in_order = True
    for place in range(1, len(ranking)):
        if not attractiveness[ranking[by_bias[place - 1]]] > attractiveness[ranking[by_bias[place]]]:
            in_order = False
    if in_order:
        for place in range(len(ranking)):
            held_order[place] = by_bias[place]
        return
    held, held_index = lists.held, lists.held_index
    for slot in range(len(ranking)):
        held[slot] = ranking[slot]
        held_index[slot] = attractiveness[ranking[slot]]
    select_best(held_index, held_order, len(ranking), rng)
    for place in range(len(ranking)):
        ranking[by_bias[place]] = held[held_order[place]]


@entry.register(Sorted)
def _entry(lists: Sorted, least_index: FloatArray, ranking: Ranking) -> float:  # noqa: ARG001
    # K items have at least the smallest of these indices
    least = math.inf
    for slot in range(len(ranking)):
        least = min(least, least_index[ranking[slot]])
    return least


@slots_in_order.register(Sorted)
def _slots_in_order(lists: Sorted, position_bias: FloatArray, rng: np.random.Generator) -> IntArray:
    order: IntArray = order_slots(lists.slots, position_bias, rng)
    return order
