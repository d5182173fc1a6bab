from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pytest

from slotwise.click_models import PositionBased, UserBrowsing, click_rates, probability_of
from slotwise.core.errors import InvalidInput


def test_closed_form() -> None:
    users = UserBrowsing(examination=[[0.9], [0.8, 0.5], [0.7, 0.4, 0.3]], attraction=[0.5, 0.2, 0.4])
    # slot 2, its last click on slot 1, on slot 0, or nowhere
    first = 0.9 * 0.4
    second = (first * 0.8 + (1 - first) * 0.5) * 0.5
    only_first, none = first * (1 - 0.8 * 0.5), (1 - first) * (1 - 0.5 * 0.5)
    third = (second * 0.7 + only_first * 0.4 + none * 0.3) * 0.2
    assert click_rates(users, [2, 0, 1]) == pytest.approx([first, second, third])
    assert probability_of(users, [2, 0, 1], [True, False, True]) == pytest.approx(only_first * 0.4 * 0.2)


def test_where_the_last_click_does_not_matter_it_is_position_based() -> None:
    users = UserBrowsing(examination=[[0.9], [0.5, 0.5], [0.3] * 3], attraction=[0.5, 0.2, 0.4])
    other = PositionBased(position_bias=[0.9, 0.5, 0.3], attraction=[0.5, 0.2, 0.4])
    assert click_rates(users, [2, 0, 1]) == pytest.approx(click_rates(other, [2, 0, 1]))


def test_it_is_rebuilt_from_its_parameters() -> None:
    users = UserBrowsing(examination=[[0.9], [0.8, 0.5]], attraction=[0.5, 0.2])
    assert np.array_equal(pickle.loads(pickle.dumps(users)).examination, [[0.9, 0.0], [0.8, 0.5]])


@pytest.mark.parametrize(
    ("examination", "message"),
    [
        ([[1.0], [0.5]], "examination[1] must have 2 numbers, got 1"),
        ([[1.0, 0.5], [0.5, 0.5]], "examination[0] must have 1 numbers, got 2"),
        ([[1.0], [0.5, 1.5]], "examination[1] must be from 0 to 1, got 1.5 for distance 2"),
        ([[1.0]] * 3, "examination has 3 slots but attraction only 2 items to fill them"),
        (0.5, "examination must be a list of a list per slot, got 0.5"),
        ("ab", "examination must be a list of a list per slot, got 'ab'"),
        ([], "examination must be a list of a list per slot, got []"),
    ],
)
def test_parameters_are_checked(examination: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        UserBrowsing(examination=examination, attraction=[0.5, 0.2])
