"""Without values and constraints: sorting and assigning."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slotwise import MNL
from slotwise.click_models import reward
from slotwise.optimize.list_solver import arrange, arrange_pairs
from slotwise.optimize.solver_factory import make_lists, make_pair_lists
from tests.statistical_assertions import assert_frequencies

BIAS = np.array([0.3, 1.0, 0.5])


@given(st.lists(st.floats(0.01, 5.0), min_size=3, max_size=6), st.booleans(), st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_the_list_is_the_best_of_all_and_the_order_the_best_of_its_set(
    attractiveness: list[float], known: bool, seed: int
) -> None:
    users = MNL(position_bias=BIAS, attractiveness=attractiveness)
    rng = np.random.default_rng(seed)
    lists = make_lists(3, users.items, BIAS if known else None)
    ranking = np.zeros(3, np.int64)
    arrange(lists, users.attractiveness, BIAS, ranking, rng)
    assert reward(users, ranking) == pytest.approx(
        max(reward(users, other) for other in itertools.permutations(range(users.items), 3))
    )


@pytest.mark.parametrize("known", [True, False], ids=["known bias", "believed bias"])
def test_no_item_is_favoured_among_equals(known: bool) -> None:
    lists, ranking = make_lists(3, 3, np.ones(3) if known else None), np.zeros(3, np.int64)
    rng = np.random.default_rng(1)
    arranged: Counter[tuple[int, ...]] = Counter()
    for _ in range(3_000):
        arrange(lists, np.full(3, np.inf), np.ones(3), ranking, rng)
        arranged[tuple(ranking.tolist())] += 1
    assert_frequencies(np.full(6, 1 / 6), [arranged[p] for p in itertools.permutations(range(3))])


def test_an_infinite_pair_outweighs_all_finite_ones() -> None:
    lists, ranking = make_pair_lists(2, 3), np.zeros(2, np.int64)
    weight = np.array([[5.0, 0.0, np.inf], [9.0, 0.0, 0.0]])
    arrange_pairs(lists, weight, ranking, np.random.default_rng(0))
    assert ranking.tolist() == [2, 0]
    assert np.isfinite(weight).all()
