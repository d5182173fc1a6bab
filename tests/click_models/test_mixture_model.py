from __future__ import annotations

import re
from typing import Any

import pytest

from slotwise.click_models import MNL, Cascade, PositionBased, click_rates, mixture, probability_of
from slotwise.core.errors import InvalidInput

CALM = MNL(position_bias=[1.0, 0.5], attractiveness=[0.2, 0.4, 0.1])
EAGER = PositionBased(position_bias=[1.0, 0.5], attraction=[0.2, 0.4, 0.1])
QUICK = Cascade(slots=2, attraction=[0.5, 0.2, 0.4])


def test_it_is_the_mean_of_its_kinds() -> None:
    users = mixture(shares=[0.5, 0.2, 0.3], users=[CALM, EAGER, QUICK])
    ranking = [1, 2]
    mean = 0.5 * click_rates(CALM, ranking) + 0.2 * click_rates(EAGER, ranking) + 0.3 * click_rates(QUICK, ranking)
    assert click_rates(users, ranking) == pytest.approx(mean)
    # only one of the kinds clicks twice
    assert probability_of(users, ranking, [True, True]) == pytest.approx(0.2 * 0.4 * 0.05)


def test_one_kind_alone_is_itself() -> None:
    assert mixture(shares=[1.0], users=[CALM]) is CALM


@pytest.mark.parametrize(
    ("shares", "users", "message"),
    [
        ([0.5, 0.4], [CALM, EAGER], "shares must sum to 1, got 0.9"),
        ([1.5, -0.5], [CALM, EAGER], "shares must be positive and finite, got -0.5 for kind 2"),
        ([0.5, 0.5], [CALM], "users must be a list with one entry per share, 2, got [MNL("),
        ([0.5, 0.5], [CALM, 7], "users[1] must be users of a registered model, got 7"),
        ([0.5, 0.5], [CALM, Cascade(slots=1, attraction=[0.5] * 3)], "as many slots and items, got 1 and 3 and 2 and"),
        ([0.5, 0.5], [CALM, {"model": "cascade"}], "users[1] must have slots, attraction for cascade, got nothing"),
        ([0.5, 0.5], [CALM, {"model": "cascada"}], "unknown choice model 'cascada': did you mean cascade"),
        (
            [0.5, 0.5],
            [CALM, {"model": "cascade", "slots": 2, "attraction": [0.5, 1.2]}],
            "users[1]: attraction must be from 0 to 1, got 1.2 for item 2",
        ),
    ],
)
def test_parameters_are_checked(shares: Any, users: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        mixture(shares=shares, users=users)
