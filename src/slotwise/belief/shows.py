"""How often items were shown, beside their fair share: what some policies keep beside their belief."""

from __future__ import annotations

import numpy as np

from slotwise.compiled import inlined, record
from slotwise.typing import EMPTY, FloatArray, Ranking

#: what is only estimated from a tally, which lacks what else was on the page when something was clicked
ESTIMATED_FROM_TALLY = ("shows", "rounds")


@record
class Shows:
    """Rounds so far, and the rounds in which each item was shown."""

    #: t - 1, rounds learned from
    rounds: float
    #: per item
    shows: FloatArray
    #: whether the evidence of a belief stands in for both
    by_rate: bool


def no_shows(items: int, *, by_rate: bool = False) -> Shows:
    """Before the first round; `by_rate` for beliefs that pool or forget, whose evidence says what shows cannot."""
    return Shows(rounds=0.0, shows=np.zeros(items), by_rate=by_rate)


@inlined
def show_by_rate(shown: Shows, rate: FloatArray, slots: int) -> None:
    """Where evidence stands in for shows, take that of the moment: an item's is its `rate`, its fair share the average.

    It is never 0: an item that was never shown has that of the prior.
    """
    if shown.by_rate:
        total = 0.0
        for item in range(len(rate)):
            shown.shows[item] = rate[item]
            total += rate[item]
        shown.rounds = total / slots - 1.0


@inlined
def fair_share(shown: Shows, slots: int) -> float:
    """tK/J: as often as each item would have been shown by the end of this round if all were shown alike."""
    return (shown.rounds + 1.0) * slots / len(shown.shows)


@inlined
def count_list(shown: Shows, ranking: Ranking) -> None:
    """Count the items of one more list."""
    shown.rounds += 1.0
    for slot in range(len(ranking)):
        if ranking[slot] != EMPTY:
            shown.shows[ranking[slot]] += 1.0


@inlined
def count_tally(shown: Shows, clicks: FloatArray, passes: FloatArray) -> None:
    """Count the items of a whole tally.

    A tally does not say what else was on the page when something was clicked. What counts as shown is therefore what
    was clicked, or passed with all of its list, and a list is as many items as there are slots: the share of an item
    in all that was shown, which is what matters, is nearly right.
    """
    slots, items = clicks.shape
    total = 0.0
    for slot in range(slots):
        for item in range(items):
            shown.shows[item] += clicks[slot, item] + passes[slot, item]
            total += clicks[slot, item] + passes[slot, item]
    shown.rounds += total / slots
