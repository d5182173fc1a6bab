"""The best items by an index and the slots by their bias, ties in random order: every ranking is made of these.

The order of slots has two records, one for a known position bias and one for an unknown one. With a flag instead, the
branch would cost a fifth of the speed of the fastest policy.
"""

from __future__ import annotations

import numpy as np

from slotwise.core.random import below, shuffle
from slotwise.core.types import FloatArray, IntArray, Ranking
from slotwise.jit import generic, inlined, jit, record


@inlined
def select_best(index: FloatArray, order: IntArray, count: int, rng: np.random.Generator) -> None:
    """Bring the `count` largest of `index` to the front of `order`, largest first, ties in uniformly random order.

    `order` is a permutation of all positions of `index`. Reused from decision to decision it starts nearly sorted, and
    one pass with few moves suffices. Linear in the length of `index` for a given `count`.
    """
    for position in range(1, count):
        sink(index, order, position)
    # positions beyond `count` that equal the smallest selected one
    tied_outside = 0
    for position in range(count, len(order)):
        candidate = order[position]
        last = order[count - 1]
        if index[candidate] > index[last]:
            order[count - 1] = candidate
            order[position] = last
            sink(index, order, count - 1)
            tied_outside = tied_outside + 1 if index[order[count - 1]] == index[last] else 0
        elif index[candidate] == index[last]:
            tied_outside += 1
    if tied_outside > 0:
        _draw_last_tie(index, order, count, rng)
    start = 0
    for position in range(1, count + 1):
        if position == count or index[order[position]] != index[order[start]]:
            if position - start > 1:
                shuffle(order, start, position, rng)
            start = position


@inlined
def fill_slots(ranking: Ranking, slot_order: IntArray, item_order: IntArray) -> None:
    """Put the best item into the best slot, the second into the second, and so on."""
    for place in range(len(ranking)):
        ranking[slot_order[place]] = item_order[place]


@inlined
def sink(index: FloatArray, order: IntArray, position: int) -> None:
    """Insert the entry at `position` into the sorted entries before it."""
    item = order[position]
    while position > 0 and index[order[position - 1]] < index[item]:
        order[position] = order[position - 1]
        position -= 1
    order[position] = item


@inlined
def keep_if_top(index: FloatArray, item: int, top: IntArray, size: int, count: int) -> int:
    """Insert `item` in order into the `size` largest items so far, at most `count`; return their new number.

    Of equal items the first comes first.
    """
    if size < count:
        size += 1
    elif index[item] <= index[top[size - 1]]:
        return size
    top[size - 1] = item
    sink(index, top, size - 1)
    return size


@jit
def _draw_last_tie(index: FloatArray, order: IntArray, count: int, rng: np.random.Generator) -> None:
    """Choose uniformly which of the items that tie for the last places are selected (reservoir sampling)."""
    value = index[order[count - 1]]
    first = count - 1
    while first > 0 and index[order[first - 1]] == value:
        first -= 1
    seen = count - first
    for position in range(count, len(order)):
        if index[order[position]] == value:
            seen += 1
            drawn = first + below(seen, rng)
            if drawn < count:
                order[position], order[drawn] = order[drawn], order[position]


@generic()
def order_slots(slots: object, position_bias: FloatArray, rng: np.random.Generator) -> IntArray:  # type: ignore[empty-body]
    """Return the slots by decreasing bias."""


@record
class KnownOrder:
    """The order of slots whose bias is known."""

    order: IntArray


@record
class UnknownOrder:
    """The order of slots by the bias that each decision gives, equal ones in random order."""

    order: IntArray


def slot_order(slots: int, position_bias: FloatArray | None) -> KnownOrder | UnknownOrder:
    """Return the record that `order_slots` takes; `position_bias` is None if it is unknown."""
    if position_bias is None:
        return UnknownOrder(order=np.arange(slots))
    return KnownOrder(order=np.argsort(-position_bias, kind="stable"))


@order_slots.register(KnownOrder)
def _known(slots: KnownOrder, position_bias: FloatArray, rng: np.random.Generator) -> IntArray:  # noqa: ARG001
    return slots.order


@order_slots.register(UnknownOrder)
def _unknown(slots: UnknownOrder, position_bias: FloatArray, rng: np.random.Generator) -> IntArray:
    order = slots.order
    # usually they are in order
    for place in range(1, len(order)):
        if not position_bias[order[place - 1]] > position_bias[order[place]]:
            select_best(position_bias, order, len(order), rng)
            break
    return order
