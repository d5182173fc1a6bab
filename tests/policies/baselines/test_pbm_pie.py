from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from slotwise import PolicyTask, get_policy, simulate
from slotwise.click_models import draw_clicks
from slotwise.core.errors import InvalidInput
from slotwise.policies import choose
from slotwise.policies.interface import learn_clicks
from tests.policies.position_based_setting import REPLICATIONS, ROUNDS, USERS
from tests.statistical_assertions import assert_mean_is_below


def _divergence(started: Any, item: int, theta: float) -> float:
    total = 0.0
    for slot, bias in enumerate(started.position_bias):
        n, s = started.shows[item, slot], started.clicks[item, slot]
        for count, chance in ((s, bias * theta), (n - s, 1.0 - bias * theta)):
            if count > 0:
                total += count * math.log(count / n / chance)
    return total


def _upper_bound(started: Any, item: int, level: float) -> float:
    """U by trying: the largest θ of a grid at which the divergence is within the level."""
    grid = np.linspace(1e-6, 1.0 - 1e-6, 4_000)
    within = [theta for theta in grid if _divergence(started, item, theta) <= level]
    # if there is none, the data contradict each other by more than that: the bound is then where they do so least
    return max(within) if within else float(min(grid, key=lambda theta: _divergence(started, item, theta)))


@pytest.mark.usefixtures("interpreting")
def test_only_the_last_slot_explores_and_only_items_that_may_be_better() -> None:
    started = get_policy("pbm-pie").start(PolicyTask(3, 5, 1_000, USERS.position_bias))
    rng, clicks, explored = np.random.default_rng(2), np.zeros(3, bool), set[tuple[int, int]]()
    for now in range(1, 260):
        ranking = choose(started, rng).copy()
        if now <= 5:
            explored.update(enumerate(ranking.tolist()))
        elif now % 4 == 0:
            by_mean = np.argsort(-started.mean, kind="stable")
            last = started.mean[by_mean[2]]
            assert started.mean[ranking[:2]].tolist() == pytest.approx(started.mean[by_mean[:2]].tolist())
            if started.mean[ranking[2]] != last:
                bound = _upper_bound(started, ranking[2], 1.01 * math.log(now))
                assert bound >= min(last, 1.0) - 1e-3
        draw_clicks(USERS, ranking, clicks, rng)
        learn_clicks(started, ranking, clicks)
    assert len(explored) == 15, "every item is shown once in every slot to begin with"


@pytest.mark.usefixtures("interpreting")
def test_every_item_that_may_be_better_is_a_rival() -> None:
    started = get_policy("pbm-pie").start(PolicyTask(2, 6, 1_000, np.array([1.0, 0.5])))
    rng = np.random.default_rng(3)
    attraction = np.array([0.8, 0.7, 0.6, 0.3, 0.1, 0.05])
    for _ in range(120):
        ranking = choose(started, rng).copy()
        learn_clicks(started, ranking, rng.random(2) < started.position_bias * attraction[ranking])
    page = np.argsort(-started.mean)[:2]
    level = 1.01 * math.log(started.rounds + 1)
    expected = {
        item
        for item in set(range(6)) - set(page.tolist())
        if _upper_bound(started, item, level) >= started.mean[page[1]]
    }
    shown = {int(choose(started, rng)[1]) for _ in range(200)}
    assert shown == expected | {int(page[1])}


@pytest.mark.long
def test_regret_is_below_that_of_pbm_ucb_in_the_papers_setting() -> None:
    run = simulate(USERS, ["pbm-ucb", "pbm-pie"], rounds=ROUNDS, replications=REPLICATIONS, seed=1)
    assert_mean_is_below(run["pbm-pie"].final_regret, run["pbm-ucb"].final_regret)


def test_epsilon_is_positive() -> None:
    with pytest.raises(InvalidInput, match="epsilon must be"):
        get_policy("pbm-pie", epsilon=0).start(PolicyTask(1, 2, 10, np.ones(1)))
