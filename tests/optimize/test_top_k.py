from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slotwise.optimize.top_k import select_best
from tests.statistical_assertions import assert_frequencies


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0, np.inf]), min_size=1, max_size=12), st.randoms())
@settings(max_examples=200, deadline=None)
def test_the_largest_come_first(values: list[float], random: object) -> None:
    index = np.array(values)
    rng = np.random.default_rng(len(values))
    for count in range(1, len(values) + 1):
        order = rng.permutation(len(values))
        select_best(index, order, count, rng)
        assert sorted(order.tolist()) == list(range(len(values)))
        assert index[order[:count]].tolist() == sorted(values, reverse=True)[:count]


@pytest.mark.parametrize("kept", [True, False], ids=["order kept between decisions", "order from scratch"])
@pytest.mark.parametrize(
    ("index", "count"),
    [([1.0, 1.0, 1.0, 1.0], 2), ([2.0, 1.0, 1.0, 1.0], 2), ([0.0, 2.0, 1.0, 1.0, 2.0], 3), ([np.inf] * 3 + [1.0], 2)],
)
def test_ties_are_broken_uniformly(index: list[float], count: int, kept: bool) -> None:
    """Every order of the best that the ties allow is equally likely."""
    values = np.array(index)
    rng = np.random.default_rng(5)
    best = sorted(index, reverse=True)[:count]
    allowed = [p for p in itertools.permutations(range(len(index)), count) if values[list(p)].tolist() == best]
    order = np.arange(len(index))
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(400 * len(allowed)):
        if not kept:
            order = np.arange(len(index))
        select_best(values, order, count, rng)
        seen[tuple(order[:count].tolist())] += 1
    assert set(seen) <= set(allowed)
    assert_frequencies(np.full(len(allowed), 1 / len(allowed)), [seen[p] for p in allowed])


def test_no_randomness_is_used_without_ties() -> None:
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    select_best(np.array([3.0, 1.0, 2.0]), np.arange(3), 2, rng)
    assert rng.bit_generator.state == before
