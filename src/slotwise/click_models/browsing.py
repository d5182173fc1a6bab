"""Browsing from slot to slot, the common part of the position-based, cascade, dependent-click and user-browsing models.

A user who has not stopped looks at slot k with probability γ_kd if the last click was d slots above. The user clicks
if the item attracts, and goes on after a click with probability λ_k. Position-based users have γ_kd = θ_k and λ = 1,
cascade users γ = 1 and λ = 0, dependent-click users γ = 1, and user-browsing ones λ = 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from slotwise.core.errors import InvalidInput
from slotwise.core.types import EMPTY, NO_CLICK, BoolArray, FloatArray, Ranking
from slotwise.jit import inlined


class Browsing(NamedTuple):
    """The parameters of slots: probabilities of looking and of going on."""

    #: γ, slots × distances: column d-1 is for a last click d slots above, column k of slot k for none yet
    examination: FloatArray
    #: λ, per slot
    continuation: FloatArray
    #: whether the best ranking sorts items by attractiveness into slots by visibility
    sorts: bool


def check_items(name: str, slots: int, attraction: FloatArray) -> None:
    """Raise an error if there are fewer items than slots; `name` is the field with an entry per slot."""
    if slots > len(attraction):
        raise InvalidInput(f"{name} has {slots} slots but attraction only {len(attraction)} items to fill them")


@inlined
def browse(
    examination: FloatArray,
    continuation: FloatArray,
    attractiveness: FloatArray,
    ranking: Ranking,
    clicks: BoolArray,
    rng: np.random.Generator,
) -> int:
    """Draw one round: fill `clicks`, return the first click or NO_CLICK. An item attracts with α/(1 + α)."""
    first, last, looking = NO_CLICK, NO_CLICK, True
    for slot in range(len(ranking)):
        clicks[slot] = False
        if not looking or ranking[slot] == EMPTY:
            continue
        odds = attractiveness[ranking[slot]]
        if rng.random() < examination[slot, slot - last - 1] * odds / (1.0 + odds):
            clicks[slot] = True
            first = slot if first == NO_CLICK else first
            last = slot
            looking = continuation[slot] >= 1.0 or (continuation[slot] > 0.0 and rng.random() < continuation[slot])
    return first


@inlined
def expected_clicks(
    examination: FloatArray, continuation: FloatArray, attractiveness: FloatArray, ranking: Ranking, last: FloatArray
) -> float:
    """Return the expected clicks on `ranking`; `last` is a work array of K + 1 numbers."""
    total = 0.0
    # last[slot + 1]: the probability that the user still looks and clicked last on that slot; last[0]: that on none
    last[0] = 1.0
    for slot in range(len(ranking)):
        last[slot + 1] = 0.0
        if ranking[slot] == EMPTY:
            continue
        odds, rate = attractiveness[ranking[slot]], 0.0
        for before in range(slot + 1):
            moved = last[before] * examination[slot, slot - before] * odds / (1.0 + odds)
            last[before] -= moved
            rate += moved
        last[slot + 1] = rate * continuation[slot]
        total += rate
    return total
