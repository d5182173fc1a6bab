"""The slots of placements that differ: where they are, and how sure the fit is of them."""

from __future__ import annotations

import numpy as np
import pytest

from slotwise import Rankings
from slotwise.click_models import MNL, draw_many
from slotwise.core.types import FloatArray
from slotwise.estimators.pooled.pooled_fit import learn

BIAS = np.array([1.0, 0.5, 0.25, 0.12])


def pages(
    rng: np.random.Generator, spread: float, sizes: tuple[int, ...], items: int = 10
) -> tuple[list[Rankings], list[FloatArray]]:
    """Placements with slots that differ, of pages that hardly move items; and the true λ of each."""
    seen, biases = [], []
    for size in sizes:
        own = BIAS * np.exp(spread * rng.normal(size=4))
        users = MNL(position_bias=own / own[0], attractiveness=0.3 * np.exp(0.7 * rng.normal(size=items)))
        order = np.argsort(-users.attractiveness * np.exp(0.5 * rng.normal(size=items)))
        moved = np.argsort(np.arange(items) + rng.normal(0.0, 1.2, (size, items)), axis=1)
        shown = order[moved][:, :4]
        seen.append(Rankings.of_rounds(shown, draw_many(users, shown, rng), items=items))
        biases.append(users.position_bias)
    return seen, biases


@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_the_variance_between_placements_is_learned(spread: float) -> None:
    """v is twice the variance of each slot's logarithm: five standard errors are 60 % with forty placements."""
    seen, _ = pages(np.random.default_rng(1), spread, (2_000,) * 40)
    slots = learn(seen, roughly=True).own_slots
    assert slots.variance == pytest.approx(2.0 * spread**2, rel=0.6, abs=0.02)
    assert np.exp(slots.centre) == pytest.approx(BIAS, rel=0.5)


def test_intervals_of_items_in_several_placements_cover() -> None:
    """Of 2,400 intervals; if 0.95 do, and 800 are independent, fewer than 0.925 have a probability of 1e-3.

    With κ learned at the modes of the items' effects, 0.90 do.
    """
    covered = []
    for rng in np.random.default_rng(4).spawn(4):
        common = rng.normal(size=100)
        seen, alphas = [], []
        for _ in range(6):
            alpha = 0.1 * np.exp(0.4 * rng.normal() + 0.6 * common + 0.35 * rng.normal(size=100))
            users = MNL(position_bias=0.75 ** np.arange(5), attractiveness=alpha)
            shown = np.argsort(rng.random((1_000, 100)), axis=1)[:, :5]
            seen.append(Rankings.of_rounds(shown, draw_many(users, shown, rng), items=100))
            alphas.append(alpha)
        found = learn(seen, [np.arange(100)] * 6).pooled()
        for estimate, alpha in zip(found.estimates, alphas, strict=True):
            covered += estimate.intervals().attractiveness.covers(alpha).tolist()
    assert np.mean(covered) > 0.925
