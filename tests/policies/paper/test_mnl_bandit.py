from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from slotwise import NO_CLICK, PolicyTask, get_policy
from slotwise.policies import choose, learn

pytestmark = pytest.mark.usefixtures("interpreting")


def test_as_many_pairs_as_possible_are_shown_for_the_first_time() -> None:
    """A pair that was never shown has an infinite index, and outweighs all others."""
    started = get_policy("mnl-bandit").start(PolicyTask(3, 5, 100))
    rng = np.random.default_rng(1)
    for _ in range(8):
        new = (started.policy.passes == 0).astype(float)
        ranking = choose(started, rng).copy()
        assert new[np.arange(3), ranking].sum() == new[linear_sum_assignment(new, maximize=True)].sum()
        learn(started, ranking, NO_CLICK)
    assert (started.policy.passes > 0).all()


def test_the_ranking_is_the_best_assignment_of_the_papers_index() -> None:
    slots, items = 3, 5
    started = get_policy("mnl-bandit").start(PolicyTask(slots, items, 100))
    rng = np.random.default_rng(2)
    for epoch in range(1, 200):
        ranking = choose(started, rng).copy()
        inner = started.policy
        if epoch > items:
            c = np.log(items * slots * epoch**2 / 2)
            mean = inner.clicks / inner.passes
            index = mean + np.sqrt(4 * np.minimum(1, 2 * mean) * c / inner.passes) + 4 * c / inner.passes
            assert inner.index == pytest.approx(index)
            best = linear_sum_assignment(index, maximize=True)
            assert index[np.arange(slots), ranking].sum() == pytest.approx(index[best].sum())
        for slot in rng.integers(slots, size=rng.integers(3)):
            learn(started, ranking, int(slot))
        learn(started, ranking, NO_CLICK)
