from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slotwise.click_models import Cascade, best_ranking, click_probabilities, may_click_several, regret, reward
from slotwise.core.errors import InvalidInput


def test_closed_form() -> None:
    users = Cascade(slots=3, attraction=[0.5, 0.2, 0.4, 0.1])
    assert click_probabilities(users, [3, 0, 2]) == pytest.approx([0.1, 0.45, 0.18, 0.27])
    assert reward(users, [3, 0, 2]) == pytest.approx(1.0 - 0.9 * 0.5 * 0.6)
    assert not may_click_several(users)


def test_any_order_of_the_best_items_is_best() -> None:
    users = Cascade(slots=3, attraction=[0.5, 0.2, 0.4, 0.1])
    assert sorted(best_ranking(users)) == [0, 1, 2]
    assert regret(users, np.array([1, 2, 0])) == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("slots", "attraction", "message"),
    [
        (3, [0.5, 0.2], "slots must be at most 2, got 3"),
        (0, [0.5], "slots must be at least 1, got 0"),
        (1, [-0.5], "attraction must be from 0 to 1, got -0.5 for item 1"),
    ],
)
def test_parameters_are_checked(slots: Any, attraction: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Cascade(slots=slots, attraction=attraction)
