"""Half-life selection: none without a change, and the true order of magnitude with one."""

from __future__ import annotations

import numpy as np
import pytest

from slotwise.core.types import FloatArray
from slotwise.posterior.half_life_selection import CountsByPeriod, best_half_life

GRID = (60.0, 30.0, 15.0, 8.0, 4.0)


def counts(alpha: FloatArray, seed: int) -> CountsByPeriod:
    """Clicks drawn from attractiveness by period and item; items are passed a different number of times."""
    rng = np.random.default_rng(seed)
    passes = rng.poisson(np.geomspace(4.0, 100.0, alpha.shape[1]), alpha.shape)
    clicks = np.where(passes > 0, rng.negative_binomial(np.maximum(passes, 1), 1.0 / (1.0 + alpha)), 0)
    return CountsByPeriod.of_matrices(clicks.astype(float), passes.astype(float))


@pytest.mark.parametrize("mean", [0.02, 0.4])
def test_few_series_without_a_change_get_a_half_life(mean: float) -> None:
    # 1 in 100 does; more than 7 of 150 with a probability of 2e-4. With Poisson predictions, 15 in 100 of the
    # frequently clicked ones did
    alpha = np.full((30, 12), mean) * np.geomspace(0.3, 3.0, 12)
    assert sum(best_half_life(counts(alpha, seed), GRID) is not None for seed in range(150)) <= 7


@pytest.mark.parametrize("seed", range(3))
def test_items_that_take_turns_get_a_short_half_life(seed: int) -> None:
    turns = (np.arange(30)[:, None] // 6 + np.arange(12)) % 2
    half_life = best_half_life(counts(np.where(turns, 0.4, 0.1), seed), GRID)
    assert half_life is not None
    assert half_life <= 8.0
