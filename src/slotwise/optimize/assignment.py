"""The best list for clicks if every pair of slot and item has its own weight: an assignment, without allocation."""

from __future__ import annotations

import math

import numpy as np

from slotwise.core.random import shuffle
from slotwise.core.types import FloatArray, IntArray, Ranking
from slotwise.jit import inlined, record
from slotwise.optimize.list_solver import arrange_pairs


@record
class Assignment:
    """Work arrays for shortest augmenting paths between slots (rows) and items (columns)."""

    slot_price: FloatArray
    item_price: FloatArray
    distance: FloatArray
    #: per item: the slot that it fills, or -1
    slot_of: IntArray
    #: per item: the item before it on the shortest path, or -1
    before: IntArray
    done: FloatArray
    slot_order: IntArray
    item_order: IntArray


def assignment(slots: int, items: int) -> Assignment:
    """Return work arrays for a problem of this size."""
    return Assignment(
        slot_price=np.zeros(slots),
        item_price=np.zeros(items),
        distance=np.zeros(items),
        slot_of=np.zeros(items, np.int64),
        before=np.zeros(items, np.int64),
        done=np.zeros(items),
        slot_order=np.arange(slots),
        item_order=np.arange(items),
    )


@inlined
def assign(room: Assignment, weight: FloatArray, ranking: Ranking, rng: np.random.Generator) -> None:
    """Fill `ranking` with the items that maximise Σ_k weight[k, ranking[k]]; O(K²J).

    Slots enter and items are scanned in random order, so that no label is favoured among assignments of equal weight.
    Weights are finite.
    """
    slots, items = weight.shape
    slot_price, item_price, slot_of, before = room.slot_price, room.item_price, room.slot_of, room.before
    slot_price[:] = 0.0
    item_price[:] = 0.0
    slot_of[:] = -1
    shuffle(room.slot_order, 0, slots, rng)
    shuffle(room.item_order, 0, items, rng)
    for entering in range(slots):
        slot = room.slot_order[entering]
        item = _shortest_path(room, weight, slot)
        # hand each item on the path to the slot of the item before it
        while item >= 0:
            previous = before[item]
            slot_of[item] = slot if previous < 0 else slot_of[previous]
            item = previous
    for item in range(items):
        if slot_of[item] >= 0:
            ranking[slot_of[item]] = item


@inlined
def _shortest_path(room: Assignment, weight: FloatArray, slot: int) -> int:
    """Dijkstra on reduced costs from `slot` to the nearest free item, which is returned."""
    slot_price, item_price, slot_of, before = room.slot_price, room.item_price, room.slot_of, room.before
    distance, done, item_order = room.distance, room.done, room.item_order
    distance[:] = math.inf
    done[:] = 0.0
    last = -1
    scanned = slot
    while True:
        step = math.inf
        nearest = -1
        for place in range(len(item_order)):
            item = item_order[place]
            if done[item] == 0.0:
                slack = -weight[scanned, item] - slot_price[scanned] - item_price[item]
                if slack < distance[item]:
                    distance[item] = slack
                    before[item] = last
                if distance[item] < step:
                    step = distance[item]
                    nearest = item
        slot_price[slot] += step
        for item in range(len(item_order)):
            if done[item] == 1.0:
                slot_price[slot_of[item]] += step
                item_price[item] -= step
            else:
                distance[item] -= step
        done[nearest] = 1.0
        last = nearest
        if slot_of[nearest] < 0:
            return nearest
        scanned = slot_of[nearest]


@record
class Assigned:
    """The list of the largest total weight of pairs."""

    room: Assignment


def assigned(slots: int, items: int) -> Assigned:
    """Return the solver for `arrange_pairs`."""
    return Assigned(room=assignment(slots, items))


@arrange_pairs.register(Assigned)
def _arrange_pairs(lists: Assigned, weight: FloatArray, ranking: Ranking, rng: np.random.Generator) -> None:
    pairs = weight.ravel()
    largest = 0.0
    for pair in range(len(pairs)):
        if pairs[pair] < math.inf:
            largest = max(largest, pairs[pair])
    # a finite weight for infinity: one more such pair outweighs all the others
    never_shown = (len(ranking) + 1) * (largest + 1.0)
    for pair in range(len(pairs)):
        if pairs[pair] == math.inf:
            pairs[pair] = never_shown
    assign(lists.room, weight, ranking, rng)
