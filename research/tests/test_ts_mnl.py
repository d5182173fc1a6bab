from __future__ import annotations

import numpy as np
import pytest

from research.contextual.contextual_mnl import ContextualTask, see_features
from research.tests.contextual_setting import final_regret
from slotwise import get_policy
from slotwise.policies import choose, learn
from tests.statistical_assertions import assert_mean_is, assert_mean_is_below

pytestmark = pytest.mark.usefixtures("interpreting")


def test_draws_are_normal_around_the_estimate_with_its_covariance() -> None:
    started = get_policy("ts-mnl", width=0.7).start(ContextualTask(2, 4, 100, np.array([1.0, 0.5]), context=2))
    rng = np.random.default_rng(1)
    for _ in range(30):
        see_features(started, rng.normal(size=(4, 2)))
        learn(started, choose(started, rng).copy(), int(rng.integers(-1, 2)))
    assert started.drawn.shape == (9, 2), "⌈1 - log 2/log(1 - 1/(4√(eπ)))⌉ draws"
    lower = np.tril(started.model.curvature)
    covariance = 0.7**2 * np.linalg.inv(lower + lower.T - np.diag(np.diag(lower)))
    drawn = []
    for _ in range(400):
        choose(started, rng)
        drawn += (started.drawn - started.model.weights).tolist()
    away = np.array(drawn)
    products = np.column_stack([away[:, 0] ** 2, away[:, 0] * away[:, 1], away[:, 1] ** 2])
    assert_mean_is(np.zeros(2), away)
    assert_mean_is([covariance[0, 0], covariance[0, 1], covariance[1, 1]], products)


def test_items_are_ranked_by_the_largest_of_their_draws() -> None:
    started = get_policy("ts-mnl").start(ContextualTask(2, 5, 100, np.array([1.0, 0.5]), context=3))
    rng = np.random.default_rng(2)
    features = rng.normal(size=(5, 3))
    see_features(started, features)
    ranking = choose(started, rng).copy()
    largest = (features @ started.drawn.T).max(axis=1)
    assert ranking.tolist() == np.argsort(-largest)[:2].tolist()


def test_features_are_worth_having_where_they_matter_and_cost_little_where_they_do_not() -> None:
    """Where they change it loses less than a tenth of what posterior sampling without them does; where they stay, at
    most twice as much."""
    assert_mean_is_below(final_regret("ts-mnl", fixed=0), 0.1 * final_regret("thompson-sampling:bias=known", fixed=0))
    assert final_regret("ts-mnl", fixed=3).mean() < 2.0 * final_regret("thompson-sampling:bias=known", fixed=3).mean()
