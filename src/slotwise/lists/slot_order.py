"""Slots by decreasing bias: settled once where the bias is known, else at every decision.

Two records and not a flag, as the choice between them is then made by the compiler: a branch would cost a fifth of the
speed of the fastest policy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.compiled import generic, record
from slotwise.lists.top_items import select_best
from slotwise.typing import FloatArray, IntArray


@generic()
def order_slots(slots: Any, position_bias: FloatArray, rng: np.random.Generator) -> IntArray:  # type: ignore[empty-body]
    """The slots by decreasing bias."""


@record
class KnownOrder:
    """Of slots whose bias is known."""

    order: IntArray


@record
class BelievedOrder:
    """Of slots by the bias that is believed at each decision, equal ones in random order."""

    order: IntArray


def slot_order(slots: int, position_bias: FloatArray | None) -> KnownOrder | BelievedOrder:
    """What to `order_slots` with; `position_bias` if it is known."""
    if position_bias is None:
        return BelievedOrder(order=np.arange(slots))
    return KnownOrder(order=np.argsort(-position_bias, kind="stable"))


@order_slots.register(KnownOrder)
def _known(slots: KnownOrder, position_bias: FloatArray, rng: np.random.Generator) -> IntArray:  # noqa: ARG001
    return slots.order


@order_slots.register(BelievedOrder)
def _believed(slots: BelievedOrder, position_bias: FloatArray, rng: np.random.Generator) -> IntArray:
    order = slots.order
    # mostly they are in order already
    for place in range(1, len(order)):
        if not position_bias[order[place - 1]] > position_bias[order[place]]:
            select_best(position_bias, order, len(order), rng)
            break
    return order
