"""The largest of many draws: distributed as if all items were drawn."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from slotwise.jit import interpreted
from slotwise.posterior import draw_largest, no_largest
from tests.statistical_assertions import FALSE_ALARM

NEW, SLOTS, DRAWS = 60, 3, 1_000


@pytest.mark.parametrize(("prior", "boldness"), [(1.0, 1.0), (0.4, 1.0), (0.4, 2.0), (3.0, 1.0)])
def test_the_largest_are_distributed_as_if_all_were_drawn(prior: float, boldness: float) -> None:
    """Each of the largest new and other items, in value and in place, against draws of all items."""
    rng = np.random.default_rng(7)
    rate = np.concatenate([np.ones(NEW), rng.uniform(1.0, 4.0, NEW)])
    clicks = np.concatenate([np.zeros(NEW), rng.integers(0, 3, NEW) * (rng.random(NEW) < 0.2)])
    posterior: Any = SimpleNamespace(
        items=SimpleNamespace(shape=prior),
        shape=prior + clicks,
        rate=rate,
        counts=SimpleNamespace(item_rounds=np.repeat([0.0, 5.0], NEW), passes=np.zeros((1, 2 * NEW, SLOTS))),
    )
    index, scratch = np.zeros(2 * NEW), no_largest(SLOTS)
    largest, expected = np.empty((2, DRAWS, 4 * SLOTS))
    drawn = 0
    with interpreted():
        for draw in range(DRAWS):
            draw_largest(posterior, boldness, index, scratch, rng)
            largest[draw] = _summary(index)
            drawn += int(np.count_nonzero(index))
            expected[draw] = _summary(rng.standard_gamma(boldness * posterior.shape) / (boldness * rate))
    p_values = [stats.ks_2samp(*columns).pvalue for columns in zip(largest.T, expected.T, strict=True)]
    assert min(p_values) > FALSE_ALARM / len(p_values), np.round(p_values, 5)
    # few are drawn if a shape of at most 1 allows to skip the others
    assert (drawn < 0.6 * DRAWS * len(index)) is (boldness * prior <= 1.0)


def _summary(index: np.ndarray) -> np.ndarray:
    """The largest values of new items and of others, and which items have them."""
    columns = []
    for values in (index[:NEW], index[NEW:]):
        best = np.argsort(-values)[:SLOTS]
        columns += [*values[best], *best]
    return np.array(columns)
