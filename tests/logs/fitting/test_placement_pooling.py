"""Placements fitted together: whether they share their slots, and intervals of slots that differ."""

from __future__ import annotations

import numpy as np

from slotwise import Rankings
from slotwise.core.types import FloatArray
from slotwise.estimators import Estimate
from slotwise.logs.fitting.placement_pooling import pool_placements
from tests.estimators.pooled.test_own_slots import pages

#: one placement has nine tenths of the impressions
SIZES = (20_000, *(150,) * 19)


def fitted(rng: np.random.Generator, spread: float = 0.4) -> list[tuple[Estimate, FloatArray]]:
    """The estimate of each placement, and its true λ."""
    seen, biases = pages(rng, spread, SIZES)
    ids = [[f"{number}/{item}" for item in range(placement.items)] for number, placement in enumerate(seen)]
    return list(zip(pool_placements(seen, seen, ids)[0].estimates, biases, strict=True))


def test_intervals_of_slots_cover_if_one_placement_is_much_larger() -> None:
    """Of 360 intervals; if 0.95 do, and 180 of them are independent, fewer than 0.89 have a probability of 1e-3.

    With slots that are shrunk toward those of all impressions together, 0.86 do.
    """
    covered = [
        estimate.intervals().position_bias.covers(bias)[1:]
        for rng in np.random.default_rng(12).spawn(6)
        for estimate, bias in fitted(rng)
    ]
    assert np.mean(covered) > 0.89


def test_placements_of_a_single_slot_share_it() -> None:
    seen = [Rankings([[0], [1]], [[30], [12]], [50, 60], items=2)] * 2
    found, choice = pool_placements(seen, seen, [["a", "b"], ["a", "b"]])
    assert not choice.own
    assert [estimate.position_bias.tolist() for estimate in found.estimates] == [[1.0], [1.0]]
