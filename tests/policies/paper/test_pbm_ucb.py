from __future__ import annotations

import numpy as np
import pytest

from slotwise import MNL, PolicyTask, get_policy
from slotwise.click_models import draw
from slotwise.policies import choose, learn

pytestmark = pytest.mark.usefixtures("interpreting")


def test_the_index_is_that_of_lagree() -> None:
    users = MNL(position_bias=[0.4, 1.0], attractiveness=[0.5, 0.9, 0.2])
    started = get_policy("pbm-ucb").start(PolicyTask(2, 3, 500, users.position_bias))
    rng = np.random.default_rng(1)
    clicks, shows, exposure = np.zeros(3), np.zeros(3), np.zeros(3)
    for now in range(1, 300):
        ranking = choose(started, rng).copy()
        if (shows > 0).all():
            index = clicks / exposure + np.sqrt(shows / exposure) * np.sqrt(np.log(now) / (2 * exposure))
            assert started.index == pytest.approx(index)
            first, second = np.argsort(-index)[:2]
            assert ranking.tolist() == [second, first]  # the second slot has the larger bias
        clicked = draw(users, ranking, rng)
        learn(started, ranking, clicked)
        shows[ranking] += 1
        exposure[ranking] += users.position_bias
        if clicked >= 0:
            clicks[ranking[clicked]] += 1
