from __future__ import annotations

import copy
import math

import numpy as np
import pytest

from slotwise import NO_CLICK, PolicyTask, get_policy, simulate
from slotwise.click_models import Cascade, draw
from slotwise.policies import choose, learn
from tests.statistical_assertions import assert_mean_is_below


@pytest.mark.usefixtures("interpreting")
def test_the_index_is_that_of_cheung_tan_and_zhong() -> None:
    """One normal variable for all items, scaled by the empirical deviation of each, or by log(t + 1)/(n + 1)."""
    users = Cascade(slots=2, attraction=[0.6, 0.2, 0.4, 0.3])
    started, rng = get_policy("ts-cascade").start(PolicyTask(2, 4, 500)), np.random.default_rng(1)
    looks, clicks = np.zeros(4), np.zeros(4)
    for now in range(1, 200):
        drawn, level = copy.deepcopy(rng).standard_normal(), math.log(now + 1)
        ranking = choose(started, rng).copy()
        share = np.divide(clicks, looks, out=np.zeros(4), where=looks > 0)
        deviation = np.sqrt(share * (1 - share) * level / (looks + 1))
        index = share + drawn * np.maximum(deviation, level / (looks + 1))
        assert started.index == pytest.approx(index)
        assert index[ranking] == pytest.approx(np.sort(index)[::-1][:2])
        clicked = draw(users, ranking, rng)
        learn(started, ranking, clicked)
        looks[ranking if clicked == NO_CLICK else ranking[: clicked + 1]] += 1
        if clicked != NO_CLICK:
            clicks[ranking[clicked]] += 1
    assert started.looks.tolist() == looks.tolist()


@pytest.mark.long
def test_regret_is_below_that_of_the_bounds_in_the_papers_setting() -> None:
    """§6: items of attraction 0.2 among others of 0.1."""
    users = Cascade(slots=2, attraction=[0.2] * 2 + [0.1] * 14)
    run = simulate(users, ["ts-cascade", "cascade-ucb1"], rounds=20_000, replications=10, seed=1)
    assert_mean_is_below(run["ts-cascade"].final_regret, 0.5 * run["cascade-ucb1"].final_regret)
