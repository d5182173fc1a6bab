"""Every posterior: rounds and their tally give the same result, and wrong priors are rejected by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slotwise import NO_CLICK, PolicyTask, get_policy
from slotwise.core.errors import InvalidInput
from slotwise.core.types import EMPTY
from slotwise.posterior import draw_parameters, update, update_by_tally
from tests.posterior.plain_posterior import fixed_prior_posterior

pytestmark = pytest.mark.usefixtures("interpreting")

SHAPE, RATE = 0.7, 1.3


def test_rounds_and_their_tally_give_the_same_posterior() -> None:
    rng = np.random.default_rng(2)
    task = PolicyTask(2, 4, 50, np.array([1.0, 0.4]))
    known = [fixed_prior_posterior(task, SHAPE, RATE) for _ in range(2)]
    clicks, passes = np.zeros((2, 4)), np.zeros((2, 4))
    for now in range(50):
        ranking = rng.permutation(4)[:2]
        if now % 5 == 0:
            ranking[1] = EMPTY
        clicked = NO_CLICK if now % 3 else 0
        update(known[0], ranking, clicked)
        if clicked == NO_CLICK:
            for slot in range(2):
                passes[slot, ranking[slot]] += ranking[slot] != EMPTY
        else:
            clicks[0, ranking[0]] += 1.0
    update_by_tally(known[1], clicks, passes)
    for posterior in known:
        draw_parameters(posterior, np.random.default_rng(3))
    assert known[0].shape == pytest.approx(known[1].shape)
    assert known[0].rate == pytest.approx(known[1].rate, rel=1e-3)


@pytest.mark.parametrize("bias", ["known", "unknown"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"boldness": None}, "boldness must be a number, got None"),
        ({"boldness": "x"}, "boldness must be a number, got 'x'"),
        ({"boldness": float("nan")}, "boldness must be positive and finite, got nan"),
        ({"boldness": -1}, "boldness must be positive and finite, got -1"),
        ({"boldness": 0.0}, "boldness must be positive and finite, got 0.0"),
    ],
)
def test_a_wrong_boldness_is_refused_by_name(bias: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        get_policy("thompson-sampling", bias=bias, **options).start(PolicyTask(2, 3, 10, np.array([1.0, 0.5])))
    assert message in str(caught.value)


def test_a_wrong_prior_of_the_bias_is_refused_by_name() -> None:
    for wrong in (0.0, float("inf"), "wide", None):
        with pytest.raises(InvalidInput, match="bias_shape"):
            get_policy("thompson-sampling", bias_shape=wrong).start(PolicyTask(2, 3, 10))
