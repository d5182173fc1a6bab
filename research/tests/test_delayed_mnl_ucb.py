from __future__ import annotations

import numpy as np
import pytest

from slotwise import MNL, NO_CLICK, PolicyTask, get_policy, simulate
from slotwise.click_models import draw
from slotwise.environments import Delay, World
from slotwise.policies import choose, learn

pytestmark = pytest.mark.usefixtures("interpreting")
USERS = MNL(position_bias=[1.0, 1.0], attractiveness=[0.9, 0.5, 0.3, 0.2])


def test_bounds_are_of_the_outcomes_that_have_come_in() -> None:
    """Each outcome comes in 7 rounds late; the bounds are those of MNL-UCB on what is known by then."""
    started, rng = get_policy("delayed-mnl-ucb-like").start(PolicyTask(2, 4, 500)), np.random.default_rng(1)
    waiting = list[tuple[list[int], int]]()
    clicks, passes, quiet = np.zeros(4), np.zeros(4), 0
    for _ in range(300):
        ranking = choose(started, rng).copy()
        if passes.min() > 0:
            mean, c = clicks / passes, np.log(np.sqrt(4) * (quiet + 1) + 1)
            index = mean + np.sqrt(48 * mean * c / passes) + 48 * c / passes
            assert started.index == pytest.approx(index)
            assert index[ranking] == pytest.approx(np.sort(index)[::-1][:2])
        waiting.append((ranking.tolist(), draw(USERS, ranking, rng)))
        if len(waiting) > 7:
            late, clicked = waiting.pop(0)
            learn(started, np.array(late), clicked)
            if clicked == NO_CLICK:
                passes[late] += 1
                quiet += 1
            else:
                clicks[late[clicked]] += 1
    assert passes.min() > 10


def test_it_runs_where_outcomes_are_late() -> None:
    world = World(position_bias=USERS.position_bias, attractiveness=USERS.attractiveness, delay=Delay(mean_rounds=20.0))
    assert simulate(world, "delayed-mnl-ucb-like", rounds=300)["delayed-mnl-ucb-like"].mean > 0.0
