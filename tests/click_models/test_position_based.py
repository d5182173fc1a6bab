from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from slotwise.click_models import PositionBased, best_ranking, click_probabilities, draw_clicks, probability_of
from slotwise.core.errors import InvalidInput
from tests.statistical_assertions import assert_mean_is


def test_closed_form() -> None:
    users = PositionBased(position_bias=[1.0, 0.5], attraction=[0.5, 1.0])
    assert click_probabilities(users, [1, 0]) == pytest.approx([1.0, 0.0, 0.0])
    assert click_probabilities(users, [0, 1]) == pytest.approx([0.5, 0.25, 0.25])
    assert probability_of(users, [0, 1], [True, True]) == pytest.approx(0.25)
    assert best_ranking(users).tolist() == [1, 0]


def test_best_ranking_fills_slots_by_bias_not_by_number() -> None:
    users = PositionBased(position_bias=[0.1, 1.0, 0.5], attraction=[0.2, 0.9, 0.4, 0.6])
    assert best_ranking(users).tolist() == [2, 1, 3]


def test_slots_are_clicked_independently() -> None:
    """No covariance between slots: with one draw for all slots, clicks come together."""
    users, rng = PositionBased(position_bias=[1.0, 0.8, 0.6], attraction=[0.5, 0.5, 0.5]), np.random.default_rng(1)
    clicks = np.zeros((10_000, 3), np.bool_)
    for row in clicks:
        draw_clicks(users, np.arange(3), row, rng)
    rates = np.array([0.5, 0.4, 0.3])
    centred = clicks - rates
    products = centred[:, [0, 0, 1]] * centred[:, [1, 2, 2]]
    assert_mean_is(rates, clicks)
    assert_mean_is(np.zeros(3), products)


@pytest.mark.parametrize(
    ("position_bias", "attraction", "message"),
    [
        ([1.0, 0.5], [0.3], "position_bias has 2 slots but attraction only 1 items to fill them"),
        ([1.5], [0.3], "position_bias must be from 0 to 1, got 1.5 for slot 1"),
        ([0.0], [0.3], "position_bias must be positive and finite, got 0.0 for slot 1"),
        ([1.0], [0.3, 1.2], "attraction must be from 0 to 1, got 1.2 for item 2"),
        ([1.0], [float("nan")], "attraction must be from 0 to 1, got nan for item 1"),
        ([1.0], ["x"], "attraction must be a list of numbers, got ['x']"),
    ],
)
def test_parameters_are_checked(position_bias: Any, attraction: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        PositionBased(position_bias=position_bias, attraction=attraction)
