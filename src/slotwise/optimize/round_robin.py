"""Round-robin lists: a random order of the items, shifted by one place per list."""

from __future__ import annotations

import numpy as np

from slotwise.core.random import shuffle
from slotwise.core.types import IntArray, Ranking
from slotwise.jit import inlined, record


@record
class RoundRobin:
    """An order of the items, and whether it was shuffled; the first list shuffles it."""

    order: IntArray
    shuffled: bool


def round_robin_order(items: int) -> RoundRobin:
    """Return an order that is not shuffled yet."""
    return RoundRobin(order=np.arange(items), shuffled=False)


@inlined
def fill_round_robin(turns: RoundRobin, turn: int, ranking: Ranking, rng: np.random.Generator) -> None:
    """Fill `ranking` from the order, shifted by `turn`; in J turns each item is in each slot once."""
    order = turns.order
    if not turns.shuffled:
        shuffle(order, 0, len(order), rng)
        turns.shuffled = True
    for slot in range(len(ranking)):
        ranking[slot] = order[(slot + turn) % len(order)]
