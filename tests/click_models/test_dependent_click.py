from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slotwise.click_models import (
    Cascade,
    DependentClick,
    best_ranking,
    best_ranking_by_brute_force,
    click_rates,
    probability_of,
    reward,
)
from slotwise.core.errors import InvalidInput


def test_closed_form() -> None:
    users = DependentClick(continuation=[0.5, 0.25, 0.9], attraction=[0.5, 0.2, 0.4])
    # looked at: always; 0.6 + 0.4·0.5; 0.8·(0.5 + 0.5·0.25)
    assert click_rates(users, [2, 0, 1]) == pytest.approx([0.4, 0.8 * 0.5, 0.8 * 0.625 * 0.2])
    # after a click on slot 0 either the end, or on without another click
    assert probability_of(users, [2, 0, 1], [True, False, False]) == pytest.approx(0.4 * (0.5 + 0.5 * 0.5 * 0.8))


def test_without_going_on_it_is_the_cascade() -> None:
    chances = [0.5, 0.2, 0.4]
    users, cascade = DependentClick(continuation=[0.0, 0.0], attraction=chances), Cascade(slots=2, attraction=chances)
    assert reward(users, [2, 0]) == pytest.approx(reward(cascade, [2, 0]))


@pytest.mark.parametrize("grows", [False, True])
def test_the_best_ranking_is_best_whether_going_on_grows_or_not(grows: bool) -> None:
    rng = np.random.default_rng(2)
    for _ in range(6):
        continuation = np.sort(rng.random(4))
        users = DependentClick(continuation=continuation if grows else continuation[::-1], attraction=rng.random(5))
        best = reward(users, best_ranking(users))
        assert best == pytest.approx(reward(users, best_ranking_by_brute_force(users)), abs=1e-12)


@pytest.mark.parametrize(
    ("continuation", "attraction", "message"),
    [
        ([0.5, 0.5], [0.5], "continuation has 2 slots but attraction only 1 items"),
        ([1.5], [0.5], "continuation must be from 0 to 1, got 1.5 for slot 1"),
    ],
)
def test_parameters_are_checked(continuation: Any, attraction: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        DependentClick(continuation=continuation, attraction=attraction)
