from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from slotwise import NO_CLICK, Setting, policy
from slotwise.bounds.poisson import upper_bound
from slotwise.policies import choose, learn


@given(st.floats(1e-6, 1e3), st.floats(1e-9, 1e3))
def test_the_bound_is_the_root_of_the_divergence(mean: float, divergence: float) -> None:
    def excess(q: float) -> float:
        return mean * math.log(mean / q) + q - mean - divergence

    high = mean + 2 * divergence + 2 * math.sqrt(divergence * (divergence + 2 * mean)) + 1.0
    assert upper_bound(mean, divergence) == pytest.approx(optimize.brentq(excess, mean, high, xtol=1e-13), rel=1e-5)


@pytest.mark.parametrize("divergence", [1e-30, 1e-18, 1e-12])
def test_next_to_no_bonus(divergence: float) -> None:
    assert upper_bound(2.0, divergence) == pytest.approx(2.0, rel=1e-5)


@pytest.mark.usefixtures("interpreting")
def test_the_index_and_the_order() -> None:
    """After a known history: bounds at log(tK/(J·shows)), none for what was shown often, the order by means."""
    bias = np.array([1.0, 0.5])
    started = policy("kl-moss-known").start(Setting(2, 4, 100, bias))
    rng = np.random.default_rng(1)
    choose(started, rng)
    history = [([0, 1], 0)] * 6 + [([0, 1], NO_CLICK)] * 20 + [([2, 3], 1)] * 3 + [([3, 2], NO_CLICK)] * 5
    for ranking, clicked in history:
        learn(started, np.array(ranking), clicked)
        choose(started, rng)
    clicks = np.array([6.0, 0.0, 0.0, 3.0])
    exposure = np.array([20.0, 10.0, 2.5, 5.0])
    shows = np.array([26.0, 26.0, 8.0, 8.0])
    mean = (0.1 + clicks) / (0.1 + exposure)
    fair = (len(history) + 1) * 2 / 4
    assert started.mean == pytest.approx(mean)
    for item in range(4):
        if shows[item] >= fair:
            assert started.index[item] == mean[item]
        else:
            q = started.index[item]
            divergence = mean[item] * math.log(mean[item] / q) + q - mean[item]
            assert divergence * (0.1 + exposure[item]) == pytest.approx(math.log(fair / shows[item]), rel=1e-4)
    shown = choose(started, rng)
    assert set(shown.tolist()) == set(np.argsort(-started.index)[:2].tolist())
    assert started.mean[shown[0]] >= started.mean[shown[1]]
