from __future__ import annotations

import itertools

import numpy as np
import pytest

from slotwise import PolicyTask, get_policy, simulate
from slotwise.click_models import PositionBased, draw_clicks
from slotwise.policies import choose
from slotwise.policies.indices.kl_bernoulli import level_at, upper_probability
from slotwise.policies.interface import learn_clicks
from tests.policies.position_based_setting import REPLICATIONS, ROUNDS, USERS
from tests.statistical_assertions import assert_mean_is_below


@pytest.mark.usefixtures("interpreting")
def test_the_list_is_the_leader_or_its_neighbour_of_the_largest_bounds() -> None:
    """The leader itself in every (J - K)-th of its rounds."""
    started = get_policy("grab").start(PolicyTask(3, 6, 1_000))
    rng, clicks, led = np.random.default_rng(1), np.zeros(3, bool), dict[tuple[int, ...], int]()
    users = PositionBased(position_bias=USERS.position_bias, attraction=[*USERS.attraction, 0.1])
    explored = 0
    for _ in range(150):
        mean = started.mean.copy()
        ranking = choose(started, rng).copy()
        leader = tuple(started.leader.tolist())
        best = max(mean[range(3), list(other)].sum() for other in itertools.permutations(range(6), 3))
        assert mean[range(3), list(leader)].sum() == pytest.approx(best)
        times = led.get(leader, 0)
        led[leader] = times + 1
        if times % 3 == 0:
            assert tuple(ranking.tolist()) == leader
        else:
            level = level_at(times + 1.0)
            bound = np.array(
                [
                    [upper_probability(started.clicks[k, j], started.shows[k, j], level) for j in range(6)]
                    for k in range(3)
                ]
            )
            order = started.slot_order.tolist()
            around = [list(leader)]
            for one, two in itertools.pairwise(order):
                other = list(leader)
                other[one], other[two] = other[two], other[one]
                around.append(other)
            around += [[*leader[: order[2]], j, *leader[order[2] + 1 :]] for j in set(range(6)) - set(leader)]
            assert ranking.tolist() in around
            values = [bound[range(3), other].sum() for other in around]
            assert bound[range(3), ranking].sum() == pytest.approx(max(values))
            explored += ranking.tolist() != list(leader)
        draw_clicks(users, ranking, clicks, rng)
        learn_clicks(started, ranking, clicks)
    assert explored > 20


@pytest.mark.usefixtures("interpreting")
@pytest.mark.parametrize("items", [3, 4])
def test_neighbours_are_shown_where_hardly_more_items_than_slots_are(items: int) -> None:
    started, rng = get_policy("grab").start(PolicyTask(3, items, 100)), np.random.default_rng(2)
    explored = 0
    for _ in range(40):
        ranking = choose(started, rng).copy()
        explored += ranking.tolist() != started.leader.tolist()
        learn_clicks(started, ranking, rng.random(3) < 0.3)
    assert explored > 5


@pytest.mark.long
def test_regret_is_below_that_of_toprank_in_the_position_based_model() -> None:
    """And it need not be told that the slots are in order."""
    run = simulate(USERS, ["toprank", "grab"], rounds=ROUNDS, replications=REPLICATIONS, seed=1)
    assert_mean_is_below(run["grab"].final_regret, run["toprank"].final_regret)
