from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from slotwise import MNL, NO_CLICK, PolicyTask, get_policy, simulate
from slotwise.click_models import draw
from slotwise.environments import paper_problems
from slotwise.policies import choose, learn
from tests.statistical_assertions import assert_mean_is_below

USERS = MNL(position_bias=[0.4, 1.0], attractiveness=[0.5, 2.0, 0.2])


@pytest.mark.usefixtures("interpreting")
def test_the_list_is_the_best_assignment_of_the_bounds_on_pairs() -> None:
    """A round counts for a pair if the pair was clicked, or nothing was."""
    started, rng = get_policy("gp2-ucb-like").start(PolicyTask(2, 3, 2_000)), np.random.default_rng(1)
    wins, trials, finite = np.zeros((2, 3)), np.zeros((2, 3)), 0
    for now in range(1, 900):
        ranking = choose(started, rng).copy()
        if now % 20 == 0 and trials.min() > 0:
            x, share = 2 * math.log(now), wins / trials
            chance = share + np.sqrt(2 * share * (1 - share) * x / trials) + 3 * x / trials
            # a pair whose bound is 1 or more has infinite odds
            if chance.max() < 1:
                finite, odds = finite + 1, chance / (1 - chance)
                assert started.index == pytest.approx(odds)
                best = linear_sum_assignment(odds, maximize=True)
                assert odds[[0, 1], ranking].sum() == pytest.approx(odds[best].sum())
        clicked = draw(USERS, ranking, rng)
        learn(started, ranking, clicked)
        for slot, item in enumerate(ranking):
            if clicked in (slot, NO_CLICK):
                trials[slot, item] += 1
                wins[slot, item] += clicked == slot
    assert finite > 5


@pytest.mark.long
def test_regret_is_below_that_of_bounds_on_epochs() -> None:
    """On problem (b), whose slots are not in order."""
    users = paper_problems()["b"].users
    run = simulate(users, ["gp2-ucb-like", "mnl-bandit"], rounds=50_000, replications=10, seed=1)
    assert_mean_is_below(run["gp2-ucb-like"].final_regret, run["mnl-bandit"].final_regret)
