from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from slotwise.optimize.assignment import assign, assignment
from tests.statistical_assertions import assert_frequencies


@pytest.mark.parametrize(("slots", "items"), [(1, 1), (1, 5), (3, 3), (4, 6), (6, 30), (20, 25)])
def test_weight_is_that_of_scipy(slots: int, items: int) -> None:
    rng = np.random.default_rng(slots * 100 + items)
    room, ranking = assignment(slots, items), np.zeros(slots, np.int64)
    for trial in range(60):
        weight = rng.normal(size=(slots, items)) if trial % 2 else rng.integers(0, 4, (slots, items)).astype(float)
        assign(room, weight, ranking, rng)
        rows, columns = linear_sum_assignment(weight, maximize=True)
        assert len(set(ranking.tolist())) == slots
        assert weight[np.arange(slots), ranking].sum() == pytest.approx(weight[rows, columns].sum())


def test_no_label_is_favoured_among_equals() -> None:
    room, ranking = assignment(2, 3), np.zeros(2, np.int64)
    rng = np.random.default_rng(1)
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(6_000):
        assign(room, np.ones((2, 3)), ranking, rng)
        seen[tuple(ranking.tolist())] += 1
    every = list(itertools.permutations(range(3), 2))
    assert_frequencies(np.full(6, 1 / 6), [seen[ranking] for ranking in every])
