from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from slotwise import MNL, NO_CLICK, PolicyTask, get_policy, simulate
from slotwise.policies import choose, learn
from tests.statistical_assertions import assert_mean_is_below

#: a set and no slots, as in the papers: all slots are alike
ASSORTMENT = MNL(position_bias=[1.0, 1.0], attractiveness=[1.0, 0.9, 0.1, 0.1, 0.05])


@pytest.mark.usefixtures("interpreting")
def test_the_ranking_is_the_best_assignment_of_the_papers_index() -> None:
    slots, items = 3, 5
    started = get_policy("mnl-ucb").start(PolicyTask(slots, items, 100))
    rng = np.random.default_rng(2)
    for epoch in range(1, 100):
        ranking = choose(started, rng).copy()
        inner = started.policy
        if epoch > items:
            c = np.log(np.sqrt(items * slots) * epoch + 1)
            mean = inner.clicks / inner.passes
            index = mean + np.sqrt(48 * mean * c / inner.passes) + 48 * c / inner.passes
            assert inner.index == pytest.approx(index)
            best = linear_sum_assignment(index, maximize=True)
            assert index[np.arange(slots), ranking].sum() == pytest.approx(index[best].sum())
        for slot in rng.integers(slots, size=rng.integers(3)):
            learn(started, ranking, int(slot))
        learn(started, ranking, NO_CLICK)


@pytest.mark.long
def test_regret_in_the_papers_setting() -> None:
    """With products to choose and no slots its regret grows ever more slowly, and Thompson sampling's less still."""
    run = simulate(ASSORTMENT, ["mnl-ucb", "mnl-ts"], rounds=60_000, replications=8, seed=1, record_at=2)
    first, both = run["mnl-ucb"].regret.T
    assert_mean_is_below(both - first, first)
    assert_mean_is_below(run["mnl-ts"].final_regret, 0.2 * both)
