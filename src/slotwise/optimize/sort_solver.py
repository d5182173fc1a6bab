"""The best list for clicks: the most attractive items sorted into the most visible slots."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.core.types import FloatArray, IntArray, Ranking
from slotwise.jit import record
from slotwise.optimize.list_solver import arrange, is_free
from slotwise.optimize.top_k import fill_slots, order_slots, select_best, slot_order


@record
class Sorted:
    """The most attractive items, the k-th largest in the slot of the k-th largest bias; ties uniformly at random."""

    slots: Any
    #: items by decreasing attractiveness, sorted as far as needed
    item_order: IntArray


def sorted_lists(slots: int, items: int, position_bias: FloatArray | None) -> Sorted:
    """Return the solver for `arrange`; `position_bias` is None if it is unknown."""
    return Sorted(slots=slot_order(slots, position_bias), item_order=np.arange(items))


@is_free.register(Sorted)
def _is_free(lists: Sorted) -> bool:  # noqa: ARG001
    return True


@arrange.register(Sorted)
def _arrange(
    lists: Sorted, attractiveness: FloatArray, position_bias: FloatArray, ranking: Ranking, rng: np.random.Generator
) -> None:
    item_order = lists.item_order
    select_best(attractiveness, item_order, len(ranking), rng)
    fill_slots(ranking, order_slots(lists.slots, position_bias, rng), item_order)
