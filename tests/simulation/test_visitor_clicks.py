"""Users of click models in worlds that change: what is counted, what is told, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slotwise import PolicyTask, simulate
from slotwise.click_models import (
    Cascade,
    DependentClick,
    PositionBased,
    UserBrowsing,
    best_ranking_by_brute_force,
    mixture,
    reward,
)
from slotwise.core.errors import InvalidInput
from slotwise.core.types import Ranking
from slotwise.environments import Churn, Delay, Segment, Walk, World
from slotwise.simulation.world_items import draw_items
from slotwise.simulation.world_state import change, reward_now, start_world
from tests.statistical_assertions import assert_mean_is

pytestmark = pytest.mark.usefixtures("interpreting")

ATTRACTION = [0.3, 0.6, 0.1, 0.8, 0.45]
PBM = PositionBased(position_bias=[1.0, 0.4, 0.7], attraction=ATTRACTION)
USERS: dict[str, Any] = {
    "pbm": PBM,
    "cascade": Cascade(slots=3, attraction=ATTRACTION),
    "dcm": DependentClick(continuation=[0.3, 0.9, 0.5], attraction=ATTRACTION),
    "ubm": UserBrowsing(examination=[[0.2], [1.0, 0.9], [0.9, 0.8, 0.7]], attraction=ATTRACTION),
}
every_model = pytest.mark.parametrize("users", USERS.values(), ids=USERS)


class Shown:
    """Shows one list, and counts what it is told of the clicks on it."""

    def __init__(self, task: PolicyTask) -> None:
        self.slots, self.told, self.rounds = task.slots, np.zeros(task.slots), 0

    def choose(self, rng: np.random.Generator) -> Ranking:
        return np.array([2, 0, 4])

    def learn_clicks(self, ranking: Ranking, clicks: Any) -> None:
        self.told += clicks
        self.rounds += 1

    def learn(self, ranking: Ranking, clicked: int) -> None:
        raise AssertionError("it listens to all clicks")


@every_model
def test_regret_follows_from_the_click_model(users: Any) -> None:
    run = simulate(World(users=users, delay=Delay(rounds=3)), Shown, rounds=50, seed=1)["Shown"]
    best = best_ranking_by_brute_force(users)
    lost = reward(users, best) - reward(users, np.array([2, 0, 4]))
    assert run.final_regret[0] == pytest.approx(50 * lost, abs=1e-9)


@every_model
def test_a_world_that_stays_has_the_clicks_of_the_model(users: Any) -> None:
    made = []

    def shown(task: PolicyTask) -> Shown:
        made.append(Shown(task))
        return made[-1]

    simulate(World(users=users, delay=Delay(mean_rounds=5.0)), shown, rounds=200, replications=30, seed=2, jobs=1)
    per_round = [one.told.sum() / one.rounds for one in made if one.rounds > 1]
    assert len(per_round) == 30
    assert_mean_is(reward(users, np.array([2, 0, 4])), per_round)


def test_the_best_list_of_a_walk_is_found_where_sorting_does_not_do() -> None:
    world = World(users=USERS["ubm"], walk=Walk(sd=0.8, rounds=50.0), step=1)
    rng = np.random.default_rng(3)
    state = start_world(world, draw_items(world, 100, rng), rng)
    sorted_ones = 0
    for now in range(20):
        change(state, now, rng)
        attraction = state.attractiveness[0] / (1.0 + state.attractiveness[0])
        users = UserBrowsing(examination=USERS["ubm"].examination, attraction=attraction)
        best = best_ranking_by_brute_force(users)
        assert state.best_reward[0] == pytest.approx(reward(users, best), abs=1e-12)
        assert reward_now(state, 0, state.best[0]) == state.best_reward[0]
        sorted_ones += np.array_equal(state.best[0], np.argsort(-attraction)[:3])
    assert sorted_ones < 20


def test_a_part_may_choose_by_multinomial_logit() -> None:
    world = World(users=PBM, choosing=0.25, delay=Delay(rounds=1))
    rng = np.random.default_rng(4)
    state = start_world(world, draw_items(world, 10, rng), rng)
    change(state, 0, rng)
    odds = np.array(ATTRACTION) / (1.0 - np.array(ATTRACTION))
    weight = (PBM.position_bias * odds[[2, 0, 4]]).sum()
    expected = 0.25 * weight / (1 + weight) + 0.75 * reward(PBM, np.array([2, 0, 4]))
    assert reward_now(state, 0, np.array([2, 0, 4])) == pytest.approx(expected)


@pytest.mark.long
@pytest.mark.parametrize("policy", ["thompson-sampling", "pbm-ts", "epoch-ucb"])
def test_policies_live_with_position_based_visitors_of_two_tastes_and_items_that_go(policy: str) -> None:
    tastes = [Segment(0.5, [0.2, 0.9, 0.1, 0.8, 0.4]), Segment(0.5, [0.9, 0.1, 0.5, 0.2, 0.4], [0.9, 0.8, 0.3])]
    run = simulate(World(users=PBM, segments=tastes), "thompson-sampling", rounds=60, replications=2, seed=5)
    assert (run["thompson-sampling"].final_regret > 0.0).all()
    if policy != "pbm-ts":
        churn = Churn(middle=0.3, spread=0.5, arrivals=20.0, every=100, lifetime=30.0)
        run = simulate(World(users=PBM, churn=churn), policy, rounds=60, replications=2, seed=5)
        assert (run[policy].final_regret > 0.0).all()


def test_impossible_arguments_are_rejected_before_the_first_round() -> None:
    with pytest.raises(InvalidInput, match="looks from slot to slot"):
        World(users=mixture(shares=[0.5, 0.5], users=[PBM, PBM]))
    with pytest.raises(InvalidInput, match=r"attraction must be above 0 and below 1 in a world, got .*1.0.* of item 1"):
        World(users=Cascade(slots=1, attraction=[0.5, 1.0]))
    with pytest.raises(InvalidInput, match="position_bias must be omitted if users are given"):
        World(users=PBM, position_bias=[1.0, 0.5, 0.2])
    with pytest.raises(InvalidInput, match="position_bias must be given for the visitors who choose"):
        World(users=USERS["cascade"], choosing=0.5)
    with pytest.raises(InvalidInput, match="attractiveness must be omitted if users are given"):
        World(users=PBM, attractiveness=[0.1, 0.2, 0.3])
    with pytest.raises(InvalidInput, match="choosing must be omitted if no users are given"):
        World(position_bias=[1.0], attractiveness=[0.1, 0.2], choosing=0.5)
    with pytest.raises(InvalidInput, match=r"segments\[0\].position_bias must be from 0 to 1"):
        World(users=PBM, segments=[Segment(1.0, [0.1, 0.2, 0.3], [1.0, 2.0, 0.5])])
    with pytest.raises(InvalidInput, match=r"segments\[0\].position_bias must be left out"):
        World(users=USERS["cascade"], segments=[Segment(1.0, [0.1, 0.2, 0.3], [1.0, 0.2, 0.5])])
    with pytest.raises(InvalidInput, match="pbm-ts needs a known position_bias, and these users have none"):
        simulate(World(users=USERS["cascade"], delay=Delay(rounds=2)), "pbm-ts", rounds=10)
