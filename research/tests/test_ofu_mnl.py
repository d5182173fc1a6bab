from __future__ import annotations

import math

import numpy as np
import pytest

from research.contextual.contextual_mnl import ContextualTask, see_features
from research.tests.contextual_setting import final_regret
from slotwise import PolicyTask, get_policy
from slotwise.core.errors import InvalidInput
from slotwise.policies import choose, learn
from tests.statistical_assertions import assert_mean_is_below

pytestmark = pytest.mark.usefixtures("interpreting")


def test_the_index_is_the_estimate_and_its_width() -> None:
    started = get_policy("ofu-mnl", width=0.3).start(ContextualTask(2, 5, 100, np.array([0.5, 1.0]), context=3))
    rng = np.random.default_rng(1)
    for now in range(1, 40):
        features = rng.normal(size=(5, 3))
        see_features(started, features)
        ranking = choose(started, rng).copy()
        lower = np.tril(started.model.curvature)
        h = lower + lower.T - np.diag(np.diag(lower))
        spread = np.sqrt(np.einsum("ij,ji->i", features, np.linalg.solve(h, features.T)))
        index = features @ started.model.weights + 0.3 * math.sqrt(3) * math.log(1 + now) * spread
        assert started.index == pytest.approx(index)
        first, second = np.argsort(-index)[:2]
        assert ranking.tolist() == [second, first]  # the second slot has the larger bias
        learn(started, ranking, int(rng.integers(-1, 2)))


def test_features_are_worth_having_where_they_matter_and_cost_little_where_they_do_not() -> None:
    """Where they change it loses less than a tenth of what posterior sampling without them does; where they stay, at
    most twice as much."""
    assert_mean_is_below(final_regret("ofu-mnl", fixed=0), 0.1 * final_regret("posterior-sampling:bias=known", fixed=0))
    assert final_regret("ofu-mnl", fixed=3).mean() < 2.0 * final_regret("posterior-sampling:bias=known", fixed=3).mean()


def test_options_are_positive() -> None:
    for option in ("width", "ridge"):
        with pytest.raises(InvalidInput, match=f"{option} must be"):
            get_policy("ofu-mnl", **{option: 0.0}).start(PolicyTask(1, 2, 10, np.ones(1)))
