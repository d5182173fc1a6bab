"""Counts that have faded: what was seen counts for less, the longer ago it was."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from slotwise.estimate.evidence import Counts
from slotwise.rankings import Rankings
from slotwise.tally import Tally
from slotwise.typing import EMPTY, IntArray


def fade(parts: Sequence[Counts], places: Sequence[IntArray], weights: Sequence[float], items: int) -> Counts:
    """What was seen in parts, all by tallies or all by rankings, each worth so much; `places` number the items of each.

    >>> seen = Rankings([[0, 1]], [[3, 1]], [4], items=2)
    >>> both = fade([seen, seen], [np.array([0, 1]), np.array([2, 0])], [0.5, 1.0], 3)
    >>> both.shown.tolist(), both.clicks.tolist(), both.passes.tolist()
    ([[0, 1], [2, 0]], [[1.5, 0.5], [3.0, 1.0]], [2.0, 4.0])
    """
    slots = max(one.slots for one in parts)
    lists = [one for one in parts if isinstance(one, Rankings)]
    if len(lists) == len(parts):
        shown, clicks = [], []
        for one, place, weight in zip(lists, places, weights, strict=True):
            wider = [(0, 0), (0, slots - one.slots)]
            named = np.where(one.shown == EMPTY, EMPTY, place[one.shown])
            shown.append(np.pad(named, wider, constant_values=EMPTY))
            clicks.append(np.pad(weight * one.clicks, wider))
        passes = [weight * one.passes for one, weight in zip(lists, weights, strict=True)]
        return Rankings.of_fractions(np.concatenate(shown), np.concatenate(clicks), np.concatenate(passes), items=items)
    total = np.zeros((2, slots, items))
    for tally, place, weight in zip(parts, places, weights, strict=True):
        assert isinstance(tally, Tally)
        total[0, : tally.slots, place] += weight * tally.clicks.T
        total[1, : tally.slots, place] += weight * tally.passes.T
    return Tally.of_fractions(total[0], total[1])
