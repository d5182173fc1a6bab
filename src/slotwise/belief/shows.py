"""How often each item was shown, which is not in a tally: what some policies keep beside their belief."""

from __future__ import annotations

from slotwise.compiled import inlined
from slotwise.typing import EMPTY, FloatArray, Ranking


@inlined
def count_shows(shows: FloatArray, ranking: Ranking) -> None:
    """Count the items of one more list."""
    for slot in range(len(ranking)):
        if ranking[slot] != EMPTY:
            shows[ranking[slot]] += 1.0


@inlined
def absorb_shows(shows: FloatArray, clicks: FloatArray, passes: FloatArray) -> float:
    """Count the items of a whole tally, and return of how many lists they are.

    A tally does not say what else was on the page when something was clicked. What counts as shown is therefore what
    was clicked, or passed with all of its list, and a list is as many items as there are slots: the share of an item
    in all that was shown, which is what matters, is nearly right.
    """
    slots, items = clicks.shape
    total = 0.0
    for slot in range(slots):
        for item in range(items):
            shows[item] += clicks[slot, item] + passes[slot, item]
            total += clicks[slot, item] + passes[slot, item]
    return float(total / slots)
