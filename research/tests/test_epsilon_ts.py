from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from slotwise import MNL, PolicyTask, get_policy
from slotwise.click_models import draw
from slotwise.core.errors import InvalidInput
from slotwise.policies import choose, learn
from tests.statistical_assertions import assert_frequencies

pytestmark = pytest.mark.usefixtures("interpreting")
USERS = MNL(position_bias=[1.0, 0.5], attractiveness=[0.6, 0.3, 0.2, 0.1])


def test_items_are_drawn_with_probability_epsilon_and_have_their_means_otherwise() -> None:
    started = get_policy("epsilon-ts", bias="known", epsilon=0.3).start(PolicyTask(2, 4, 500, USERS.position_bias))
    rng, drawn = np.random.default_rng(1), []
    for _ in range(100):
        ranking = choose(started, rng).copy()
        learn(started, ranking, draw(USERS, ranking, rng))
    for _ in range(1_500):
        ranking = choose(started, rng)
        shape, rate = started.posterior.shape.copy(), started.posterior.rate.copy()
        is_drawn = started.index != shape / rate
        # where each draw lies in its Gamma distribution
        drawn += stats.gamma.cdf(started.index, shape, scale=1 / rate)[is_drawn].tolist()
        assert ranking.tolist() == np.argsort(-started.index)[:2].tolist()
    assert_frequencies(np.array([0.3, 0.7]), [len(drawn), 6_000 - len(drawn)])
    assert_frequencies(np.full(10, 0.1), np.histogram(drawn, np.arange(11) / 10)[0])


def test_epsilon_is_a_share_and_one_in_the_number_of_items_by_default() -> None:
    task = PolicyTask(2, 4, 500)
    assert get_policy("epsilon-ts").start(task).epsilon == 0.25
    with pytest.raises(InvalidInput, match="epsilon must be"):
        get_policy("epsilon-ts", epsilon=1.5).start(task)
