"""Every item in every slot: lists in an order that is drawn once and then turned round, a place a time."""

from __future__ import annotations

import numpy as np

from slotwise.core.random import shuffle
from slotwise.core.types import IntArray, Ranking
from slotwise.jit import inlined, record


@record
class InTurn:
    """An order of the items, and whether it was drawn yet: as late as the first list, by whoever draws that."""

    order: IntArray
    shuffled: bool


def in_turn(items: int) -> InTurn:
    """Before the first list."""
    return InTurn(order=np.arange(items), shuffled=False)


@inlined
def fill_in_turn(turns: InTurn, turn: int, ranking: Ranking, rng: np.random.Generator) -> None:
    """Fill `ranking` from the order, `turn` places on: in as many turns as there are items each is in each slot."""
    order = turns.order
    if not turns.shuffled:
        shuffle(order, 0, len(order), rng)
        turns.shuffled = True
    for slot in range(len(ranking)):
        ranking[slot] = order[(slot + turn) % len(order)]
