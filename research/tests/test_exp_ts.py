from __future__ import annotations

import numpy as np
import pytest

from slotwise import MNL, PolicyTask, get_policy
from slotwise.click_models import draw
from slotwise.policies import choose, learn
from tests.statistical_assertions import assert_frequencies

pytestmark = pytest.mark.usefixtures("interpreting")
USERS = MNL(position_bias=[1.0, 0.5], attractiveness=[0.6, 0.3, 0.2, 0.1])


def test_draws_have_the_papers_distribution() -> None:
    """P(θ ≥ x) = ½ exp(-n kl(m, x)) above m, likewise below, for one item in J; the others have their means."""
    started = get_policy("exp-ts-plus", bias="known").start(PolicyTask(2, 4, 500, USERS.position_bias))
    rng, chances = np.random.default_rng(1), []
    for _ in range(100):
        ranking = choose(started, rng).copy()
        learn(started, ranking, draw(USERS, ranking, rng))
    for _ in range(2_000):
        choose(started, rng)
        shape = started.posterior.shape.copy()
        ratio = started.index * started.posterior.rate / shape
        # the distribution function, uniform on (0, 1) at a draw
        tail = 0.5 * np.exp(-shape * (ratio - 1 - np.log(ratio)))
        is_drawn = started.index != shape / started.posterior.rate
        chances += np.where(ratio > 1, 1 - tail, tail)[is_drawn].tolist()
    assert_frequencies(np.array([0.25, 0.75]), [len(chances), 8_000 - len(chances)])
    assert_frequencies(np.full(10, 0.1), np.histogram(chances, np.arange(11) / 10)[0])
