"""Every posterior: rounds and their tally give the same result, and wrong priors are rejected by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slotwise import NO_CLICK, PolicyTask, get_policy
from slotwise.core.errors import InvalidInput
from slotwise.core.types import EMPTY
from slotwise.posterior import draw_parameters, gamma_posterior, update, update_by_tally

pytestmark = pytest.mark.usefixtures("interpreting")

SHAPE, RATE = 0.7, 1.3


def test_rounds_and_their_tally_give_the_same_posterior() -> None:
    rng = np.random.default_rng(2)
    task = PolicyTask(2, 4, 50, np.array([1.0, 0.4]))
    known = [gamma_posterior(task, shape=SHAPE, rate=RATE) for _ in range(2)]
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
        ({"shape": None}, "shape must be a number, got None"),
        ({"shape": "x"}, "shape must be a number, got 'x'"),
        ({"rate": float("nan")}, "rate must be positive and finite, got nan"),
        ({"rate": -1}, "rate must be positive and finite, got -1"),
        ({"rate": 0.0}, "rate must be positive and finite, got 0.0"),
        ({"shape": [1.0, 2.0]}, "shape must have one entry per item, 3, got 2"),
        ({"shape": [1.0, -2.0, 1.0]}, "shape must be positive and finite, got -2.0 for item 2"),
        ({"shape": [[1.0]]}, "shape must be a list of at least one number"),
    ],
)
def test_a_wrong_prior_is_refused_by_name(bias: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        get_policy("posterior-sampling", bias=bias, **options).start(PolicyTask(2, 3, 10, np.array([1.0, 0.5])))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("id", "option"),
    [
        ("random-bound", "bias_shape"),
        ("random-bound", "bias_spread"),
        ("posterior-sampling", "bias_rate"),
        ("posterior-sampling", "bias_shape"),
    ],
)
def test_a_wrong_prior_of_the_bias_is_refused_by_name(id: str, option: str) -> None:
    for wrong in (0.0, float("inf"), "wide", None):
        with pytest.raises(InvalidInput, match=option):
            get_policy(id, **{option: wrong}).start(PolicyTask(2, 3, 10))


def test_a_prior_may_differ_by_item() -> None:
    """The prior mean of an item decides whether it is shown first."""
    eager = get_policy("posterior-sampling", bias="known", shape=[1e4, 1.0, 1.0, 1.0], rate=[1e4, 1e3, 1e3, 1e3])
    started = eager.start(PolicyTask(1, 4, 10, np.array([1.0])))
    from slotwise.policies import choose

    assert choose(started, np.random.default_rng(1)).tolist() == [0]
