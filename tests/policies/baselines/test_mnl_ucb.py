from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from slotwise import MNL, NO_CLICK, PolicyTask, get_policy, simulate
from slotwise.core.types import FloatArray
from slotwise.policies import choose, learn
from tests.statistical_assertions import assert_mean_is_below

#: a set and no slots, as in the papers: all slots are alike
ASSORTMENT = MNL(position_bias=[1.0, 1.0], attractiveness=[1.0, 0.9, 0.1, 0.1, 0.05])


def _bounds(clicks: FloatArray, epochs: FloatArray, epoch: int) -> FloatArray:
    mean, c = clicks / epochs, np.log(np.sqrt(clicks.size) * epoch + 1)
    bounds: FloatArray = mean + np.sqrt(48 * mean * c / epochs) + 48 * c / epochs
    return bounds


@pytest.mark.usefixtures("interpreting")
def test_the_items_with_the_papers_largest_bounds_are_shown() -> None:
    slots, items = 3, 5
    started, rng = get_policy("mnl-ucb").start(PolicyTask(slots, items, 100)), np.random.default_rng(2)
    clicks, epochs = np.zeros((2, items))
    for epoch in range(1, 100):
        ranking = choose(started, rng).copy()
        if epochs.min() > 0:
            index = _bounds(clicks, epochs, epoch)
            assert started.policy.index == pytest.approx(index)
            assert index[ranking] == pytest.approx(np.sort(index)[::-1][:slots])
        for slot in rng.integers(slots, size=rng.integers(3)):
            learn(started, ranking, int(slot))
            clicks[ranking[slot]] += 1
        learn(started, ranking, NO_CLICK)
        epochs[ranking] += 1


@pytest.mark.usefixtures("interpreting")
def test_the_ranking_of_pairs_is_the_best_assignment_of_the_papers_index() -> None:
    slots, items = 3, 5
    started = get_policy("mnl-ucb-pairs").start(PolicyTask(slots, items, 100))
    rng = np.random.default_rng(2)
    for epoch in range(1, 100):
        ranking = choose(started, rng).copy()
        inner = started.policy
        if epoch > items:
            index = _bounds(inner.clicks, inner.passes, epoch)
            assert inner.index == pytest.approx(index)
            best = linear_sum_assignment(index, maximize=True)
            assert index[np.arange(slots), ranking].sum() == pytest.approx(index[best].sum())
        for slot in rng.integers(slots, size=rng.integers(3)):
            learn(started, ranking, int(slot))
        learn(started, ranking, NO_CLICK)


@pytest.mark.long
def test_regret_in_the_papers_setting() -> None:
    """With a set to choose regret grows ever more slowly, Thompson sampling's least, and pairs cost more than items."""
    policies = ["mnl-ucb", "mnl-ts", "mnl-ucb-pairs", "mnl-ts-pairs"]
    run = simulate(ASSORTMENT, policies, rounds=60_000, replications=8, seed=1, record_at=2)
    first, both = run["mnl-ucb"].regret.T
    assert_mean_is_below(both - first, first)
    assert_mean_is_below(run["mnl-ts"].final_regret, 0.2 * both)
    for id in ("mnl-ucb", "mnl-ts"):
        assert_mean_is_below(run[id].final_regret, run[f"{id}-pairs"].final_regret)
