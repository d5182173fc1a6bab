"""The effects of slots, queries and documents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slotwise.judgements import CellCounts
from slotwise.judgements.click_levels import MAX_SHAPE, slot_curve, slot_effects
from tests.judgements.simulated_search import search_log

CURVE = np.array([0.3, 0.2, 0.1, 0.05, 0.02])


def _drawn(spread: float, seed: int) -> tuple[CellCounts, np.ndarray]:
    """Clicks of queries whose slots differ from the log's by log-normal effects, and these effects."""
    counts, _, _ = search_log(np.random.default_rng(seed), queries=40, pages=300, noise=0.8)
    rng = np.random.default_rng(seed + 1)
    effects = np.exp(spread * rng.normal(size=(len(CURVE), 40)))
    documents = rng.gamma(4.0, 0.25, counts.shown.shape[1])
    clicks = rng.poisson(CURVE[:, None] * effects[:, counts.query] * counts.shown * documents)
    return replace(counts, clicks=clicks.astype(float)), effects


def test_slots_of_each_query_are_found_where_queries_differ() -> None:
    counts, effects = _drawn(spread=0.5, seed=1)
    found, shape = slot_effects(counts, slot_curve(counts))
    assert shape < 20.0
    # the first slot is known best: its clicks are 90 a query
    errors = np.log(found[0] / effects[0])
    assert errors.std() < 0.6 * np.log(effects[0]).std()


def test_slots_of_each_query_are_those_of_the_log_where_queries_are_alike() -> None:
    counts, _ = _drawn(spread=0.0, seed=3)
    found, shape = slot_effects(counts, slot_curve(counts))
    assert shape > 0.05 * MAX_SHAPE
    assert np.abs(np.log(found)).max() < 0.1
