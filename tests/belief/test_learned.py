"""The posterior of position bias with attractiveness integrated out, checked against its own formula by scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize

from slotwise import NO_CLICK, Setting, policy
from slotwise.belief import LearnedBias, imagine, learned_bias, told_bias, update, update_by_tally
from slotwise.belief.learned import find_mode
from slotwise.errors import InvalidInput
from slotwise.typing import EMPTY, FloatArray
from tests.chance import assert_mean_is

SHAPE, RATE, STRENGTH = 0.7, 1.3, 2.0
CLICKS = np.array([[30.0, 4.0, 0.0, 9.0], [2.0, 11.0, 1.0, 0.0], [0.0, 3.0, 5.0, 2.0]])
PASSES = np.array([[55.0, 10.0, 3.0, 20.0], [8.0, 40.0, 20.0, 20.0], [25.0, 38.0, 65.0, 48.0]])


def _learned(**more: Any) -> LearnedBias:
    belief = learned_bias(Setting(3, 4, 100), shape=SHAPE, rate=RATE, bias_shape=STRENGTH, **more)
    update_by_tally(belief, CLICKS, PASSES)
    return belief


def _log_posterior(log_bias: FloatArray) -> float:
    bias = np.exp(log_bias)
    prior = np.sum((STRENGTH + CLICKS.sum(axis=1)) * log_bias - STRENGTH * bias)
    return float(prior - np.sum((SHAPE + CLICKS.sum(axis=0)) * np.log(RATE + bias @ PASSES)))


def _negative_log_posterior(log_bias: FloatArray) -> float:
    return -_log_posterior(log_bias)


def test_the_mode_is_the_maximum() -> None:
    belief = _learned()
    find_mode(belief)
    best = optimize.minimize(_negative_log_posterior, np.zeros(3), tol=1e-10)
    assert belief.mode == pytest.approx(best.x, abs=1e-4)


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_the_spread_is_a_root_of_the_inverse_curvature(scale: float) -> None:
    belief = _learned(bias_spread=scale)
    # twice: the root is that of the mode before the last step
    find_mode(belief)
    find_mode(belief)
    step = 1e-3
    shifts = np.eye(3) * step
    curvature = np.array(
        [
            [
                sum(s * t * _log_posterior(belief.mode + s * a + t * b) for s in (-1, 1) for t in (-1, 1)) / 4 / step**2
                for b in shifts
            ]
            for a in shifts
        ]
    )
    assert belief.spread @ belief.spread.T == pytest.approx(scale**2 * np.linalg.inv(-curvature), rel=1e-3)
    assert np.array_equal(belief.spread, np.triu(belief.spread))


def test_what_is_imagined_has_that_mean_and_spread() -> None:
    belief, rng = _learned(), np.random.default_rng(1)
    drawn = []
    for _ in range(4_000):
        imagine(belief, rng)
        drawn.append(np.log(belief.position_bias))
        assert belief.rate == pytest.approx(RATE + belief.position_bias @ PASSES)
    assert_mean_is(belief.mode, drawn)
    assert_mean_is(np.diag(belief.spread @ belief.spread.T), (np.array(drawn) - belief.mode) ** 2)


def test_rounds_and_a_whole_tally_come_to_the_same() -> None:
    rng = np.random.default_rng(2)
    setting = Setting(2, 4, 50, np.array([1.0, 0.4]))
    told = [told_bias(setting, shape=SHAPE, rate=RATE) for _ in range(2)]
    learned = [learned_bias(setting, shape=SHAPE, rate=RATE, bias_shape=STRENGTH) for _ in range(2)]
    clicks, passes = np.zeros((2, 4)), np.zeros((2, 4))
    for now in range(50):
        ranking = rng.permutation(4)[:2]
        if now % 5 == 0:
            ranking[1] = EMPTY
        clicked = NO_CLICK if now % 3 else 0
        for belief in (told[0], learned[0]):
            update(belief, ranking, clicked)
        if clicked == NO_CLICK:
            for slot in range(2):
                passes[slot, ranking[slot]] += ranking[slot] != EMPTY
        else:
            clicks[0, ranking[0]] += 1.0
    for pair in (told, learned):
        update_by_tally(pair[1], clicks, passes)
        for belief in pair:
            imagine(belief, np.random.default_rng(3))
        assert pair[0].shape == pytest.approx(pair[1].shape)
        assert pair[0].rate == pytest.approx(pair[1].rate, rel=1e-3)


def test_the_mode_is_found_again_as_the_data_grow_and_not_at_every_round() -> None:
    belief, rng = _learned(), np.random.default_rng(4)
    imagine(belief, rng)
    before = belief.mode.copy()
    update(belief, np.array([0, 1, 2]), 1)
    imagine(belief, rng)
    assert np.array_equal(belief.mode, before)
    for _ in range(20):
        update(belief, np.array([0, 1, 2]), 1)
    imagine(belief, rng)
    assert belief.mode[1] > before[1]


@pytest.mark.parametrize("id", ["kl-moss", "posterior-sampling", "posterior-sampling-known"])
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
        ({"acts": "daily"}, "acts must be rounds or epochs, got 'daily'"),
    ],
)
def test_a_wrong_prior_is_refused_by_name(id: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        policy(id, **options).start(Setting(2, 3, 10, np.array([1.0, 0.5])))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("id", "option"),
    [
        ("kl-moss", "bias_shape"),
        ("kl-moss", "bias_spread"),
        ("posterior-sampling", "bias_rate"),
        ("set-sampling", "bias_shape"),
    ],
)
def test_a_wrong_prior_of_the_bias_is_refused_by_name(id: str, option: str) -> None:
    for wrong in (0.0, float("inf"), "wide", None):
        with pytest.raises(InvalidInput, match=option):
            policy(id, **{option: wrong}).start(Setting(2, 3, 10))


def test_a_prior_may_differ_by_item() -> None:
    """What is expected of an item before it is seen decides whether it is shown first."""
    eager = policy("posterior-sampling-known", shape=[1e4, 1.0, 1.0, 1.0], rate=[1e4, 1e3, 1e3, 1e3])
    acting = eager.start(Setting(1, 4, 10, np.array([1.0])))
    from slotwise.policies import choose

    assert choose(acting, np.random.default_rng(1)).tolist() == [0]
