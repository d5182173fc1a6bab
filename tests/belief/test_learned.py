"""The posterior of position bias with attractiveness integrated out, checked against its own formula by scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize

from slotwise import Setting
from slotwise.belief import LearnedBias, imagine, learned_bias, update, update_by_tally
from slotwise.belief.learned import find_mode
from slotwise.typing import FloatArray
from tests.chance import assert_mean_is

pytestmark = pytest.mark.usefixtures("interpreting")

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
