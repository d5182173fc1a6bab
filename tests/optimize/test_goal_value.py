from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slotwise import EMPTY, MNL, NO_CLICK, Goal
from slotwise.click_models import best_ranking, click_probabilities, draw, reward
from slotwise.core.errors import InvalidInput, InvalidRanking
from slotwise.optimize import best_list, expected_value
from slotwise.optimize.goal_value import valued
from tests.optimize.problems import best_list_by_brute_force, random_problem, value_of
from tests.statistical_assertions import assert_frequencies


def test_the_best_list_is_as_good_as_any() -> None:
    rng = np.random.default_rng(1)
    for _ in range(100):
        users, goal = random_problem(rng)
        best = best_list(users, goal)
        value = expected_value(users, goal, best)
        assert value == pytest.approx(value_of(np.outer(users.position_bias, users.attractiveness), goal, best))
        assert value == pytest.approx(expected_value(users, goal, best_list_by_brute_force(users, goal)), rel=1e-12)


def test_without_a_goal_value_is_reward(paper_users: MNL) -> None:
    best = best_ranking(paper_users)
    assert expected_value(paper_users, Goal(), best) == pytest.approx(reward(paper_users, best))
    assert reward(paper_users, best_list(paper_users, Goal())) == pytest.approx(reward(paper_users, best))


def test_closed_forms() -> None:
    users = MNL(position_bias=[1.0, 0.5], attractiveness=[1.0, 2.0])
    goal = Goal([3.0, 1.0], may_be_empty=True)
    assert expected_value(users, goal, [0, 1]) == pytest.approx(4 / 3)
    assert expected_value(users, goal, [1, 0]) == pytest.approx((2 + 1.5) / 3.5)
    assert expected_value(users, goal, [0, EMPTY]) == pytest.approx(3 / 2)
    assert expected_value(users, goal, [EMPTY, EMPTY]) == 0.0
    assert best_list(users, goal).tolist() == [0, EMPTY]


@pytest.mark.parametrize("shown", [[2, EMPTY, 0], [EMPTY, 1, 3], [3, EMPTY, EMPTY], [0, 1, 2]])
def test_draws_skip_empty_slots(small: MNL, shown: list[int]) -> None:
    judged, rng = valued(small, Goal(may_be_empty=True)), np.random.default_rng(1)
    clicked = [draw(judged, shown, rng) for _ in range(20_000)]
    weight = [
        0.0 if item == EMPTY else small.position_bias[k] * small.attractiveness[item] for k, item in enumerate(shown)
    ]
    law = np.array([*weight, 1.0]) / (1.0 + sum(weight))
    counts = np.bincount(np.array(clicked) % 4, minlength=4)
    assert (counts[law == 0] == 0).all()
    assert_frequencies(law[law > 0], counts[law > 0])


def test_nothing_shown_is_never_clicked(small: MNL) -> None:
    judged, rng = valued(small, Goal(may_be_empty=True)), np.random.default_rng(1)
    assert {draw(judged, [EMPTY] * 3, rng) for _ in range(100)} == {NO_CLICK}
    assert reward(judged, [EMPTY] * 3) == 0.0


@pytest.mark.parametrize("ranking", [[0, 1, EMPTY], [0, 0, 1], [0, 1]])
def test_lists_are_checked(small: MNL, ranking: Any) -> None:
    with pytest.raises(InvalidRanking):
        expected_value(small, Goal(), ranking)
    with pytest.raises(InvalidRanking):
        click_probabilities(small, ranking)


def test_a_goal_that_does_not_fit_is_refused(small: MNL) -> None:
    for ask in (best_list, best_list_by_brute_force, valued):
        with pytest.raises(InvalidInput, match="values must have one entry for each of the 4 items, got 2"):
            ask(small, Goal([1.0, 2.0]))
