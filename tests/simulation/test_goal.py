from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slotwise import EMPTY, MNL, NO_CLICK, Goal, PolicyTask, get_policy, simulate
from slotwise.core.errors import InvalidInput, InvalidRanking
from slotwise.core.types import Ranking
from slotwise.optimize import best_list, expected_value
from tests.statistical_assertions import assert_mean_is

GOAL = Goal([1.0, 0.2, 3.0, 2.0], pin={0: 1}, exclude=[3], may_be_empty=True)


class Fixed:
    """Always the same list, as an ordinary Python class."""

    ranking: Any = (2, 0, EMPTY)

    def __init__(self, task: PolicyTask) -> None:
        self.goal = task.goal
        self.outcomes: list[int] = []

    def choose(self, rng: np.random.Generator) -> Any:
        return self.ranking

    def learn(self, ranking: Ranking, clicked: int) -> None:
        self.outcomes.append(clicked)


def test_regret_is_in_expected_value(small: MNL) -> None:
    run = simulate(small, Fixed, goal=GOAL, rounds=300, record_at=[1, 10, 300])["Fixed"]
    best = expected_value(small, GOAL, best_list(small, GOAL))
    gap = best - expected_value(small, GOAL, [2, 0, EMPTY])
    assert run.regret[0] == pytest.approx(gap * np.array([1, 10, 300]))


def test_empty_slots_are_neither_passed_nor_clicked(small: MNL) -> None:
    made: list[Fixed] = []

    def start(task: PolicyTask) -> Fixed:
        made.append(Fixed(task))
        return made[-1]

    tally = simulate(small, start, goal=GOAL, rounds=500)["start"].tallies[0]
    assert made[-1].goal is GOAL
    assert set(made[-1].outcomes) == {NO_CLICK, 0, 1}
    assert set(zip(*np.nonzero(tally.passes), strict=True)) == {(0, 2), (1, 0)}
    assert set(zip(*np.nonzero(tally.clicks), strict=True)) == {(0, 2), (1, 0)}
    assert tally.rounds == 500


def test_the_best_list_has_no_regret(small: MNL) -> None:
    class Best(Fixed):
        ranking = best_list(small, GOAL)

    run = simulate(small, Best, goal=GOAL, rounds=100)["Best"]
    assert np.array_equal(run.regret, np.zeros_like(run.regret))


# a parameter, so that the worker runs it that compiles the same loop for tests/policies/test_goals.py
@pytest.mark.parametrize("policy", ["epoch-ucb"])
def test_clicks_less_gamma_passes_is_a_martingale_with_empty_slots(small: MNL, policy: str) -> None:
    goal = Goal([1.0, 0.2, 3.0, 0.1], may_be_empty=True)
    run = simulate(small, policy, goal=goal, rounds=300, replications=400, seed=9)[policy]
    gamma = np.outer(small.position_bias, small.attractiveness)
    assert_mean_is(0.0, np.array([tally.clicks - gamma * tally.passes for tally in run.tallies]).sum(axis=(1, 2)))


@pytest.mark.parametrize(
    ("ranking", "message"),
    [
        ((0, 2, 1), "policy Wrong: item 0 is pinned to slot 1, got"),
        ((2, 0, 3), "policy Wrong: item 3 is excluded, got"),
        ((2, 0, -1), "policy Wrong: a ranking holds items 0 to 3, got -1"),
        ((2, 0, 2), "policy Wrong: a ranking holds an item once"),
        ((2, 0), "policy Wrong: a ranking has one item for each of the 3 slots"),
    ],
)
def test_a_list_of_a_users_policy_that_is_not_allowed_is_named(small: MNL, ranking: Any, message: str) -> None:
    class Wrong(Fixed):
        pass

    Wrong.ranking = ranking
    with pytest.raises(InvalidRanking, match=message):
        simulate(small, Wrong, goal=GOAL, rounds=10)


@pytest.mark.usefixtures("interpreting")
def test_a_registered_policy_that_ignores_the_goal_is_caught(small: MNL) -> None:
    def ignorant(task: PolicyTask) -> Any:
        return get_policy("epoch-ucb").start(PolicyTask(task.slots, task.items, task.rounds, task.position_bias))

    with pytest.raises(InvalidRanking, match=r"policy ignorant returned .*, or one that the goal does not allow"):
        simulate(small, ignorant, goal=GOAL, rounds=200)


@pytest.mark.usefixtures("interpreting")
def test_an_empty_slot_that_no_goal_allows_is_caught(small: MNL) -> None:
    goal = Goal([1.0, 0.0, 0.0, 0.0], may_be_empty=True)

    def sparing(task: PolicyTask) -> Any:
        return get_policy("epoch-ucb").start(PolicyTask(3, 4, task.rounds, task.position_bias, goal))

    with pytest.raises(InvalidRanking, match="policy sparing returned a ranking that is not 3 distinct items"):
        simulate(small, sparing, rounds=10)
    with pytest.raises(InvalidRanking, match="policy sparing returned a ranking that is not 3 distinct items"):
        simulate(small, sparing, goal=Goal(), rounds=10)


def test_a_goal_that_does_not_fit_is_refused_before_anything_runs(small: MNL) -> None:
    made: list[PolicyTask] = []
    with pytest.raises(InvalidInput, match="values must have one entry for each of the 4 items, got 3"):
        simulate(small, made.append, goal=Goal([1.0, 2.0, 3.0]), rounds=10)
    with pytest.raises(InvalidInput, match="goal must be a Goal, got 'values'"):
        simulate(small, made.append, goal="values", rounds=10)  # type: ignore[arg-type]
    assert made == []
