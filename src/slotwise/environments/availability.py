"""When items are available: from their arrival until their departure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.types import IntArray

#: the round of an event that never happens; rounds are 64-bit integers
NEVER = 2**62


def rounds_per_item(name: str, values: object, items: int, otherwise: int) -> IntArray:
    """Return a round for each item, `otherwise` if none is given."""
    if values is None:
        return np.full(items, otherwise)
    if not isinstance(values, Sequence | np.ndarray) or isinstance(values, str):
        raise InvalidInput(f"{name} must be a list of rounds, got {validation.short(values)}")
    if len(values) != items:
        raise InvalidInput(f"{name} must have one round per item, {items}, got {len(values)}")
    return np.array(
        [
            NEVER if value is None else validation.whole_number(f"{name}[{item}]", value, at_least=0, at_most=NEVER)
            for item, value in enumerate(values)
        ],
        np.int64,
    )


def check_presence(arrivals: IntArray, departures: IntArray | None, *, others_at_start: int, churn: object) -> None:
    """Raise InvalidInput for items that leave before they arrive, and for rounds without any item."""
    if departures is not None:
        for item in np.flatnonzero(departures <= arrivals):
            raise InvalidInput(
                f"departures[{item}] must be after the item's arrival at round {arrivals[item]}, got {departures[item]}"
            )
    if not others_at_start and not (arrivals == 0).any():
        raise InvalidInput(f"arrivals must leave an item at round 0, got {validation.short(arrivals.tolist())}")
    if departures is not None and churn is None:
        for gone in _without_any(arrivals, departures):
            raise InvalidInput(f"departures must always leave an item, got none at round {gone}")


def keep_one(arrivals: IntArray, departures: IntArray) -> None:
    """Let the last item stay until another arrives, in place: a page always has an item."""
    for gone in _without_any(arrivals, departures):
        # of those that leave now, the one that came last
        leaving = np.flatnonzero(departures == gone)
        stays = leaving[np.argmax(arrivals[leaving])]
        later = arrivals[arrivals > gone]
        departures[stays] = later.min(initial=NEVER)


def _without_any(arrivals: IntArray, departures: IntArray) -> IntArray:
    """Return the rounds of departures that leave no item."""
    rounds = np.unique(departures[departures < NEVER])
    come = np.searchsorted(np.sort(arrivals), rounds, side="right")
    left = np.searchsorted(np.sort(departures), rounds, side="right")
    empty: IntArray = rounds[come == left]
    return empty
