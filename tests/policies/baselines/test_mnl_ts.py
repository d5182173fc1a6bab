from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from slotwise import PolicyTask, get_policy
from slotwise.policies import choose
from slotwise.policies.interface import learn_epoch
from tests.statistical_assertions import assert_frequencies

pytestmark = pytest.mark.usefixtures("interpreting")


def test_draws_follow_the_beta_posterior() -> None:
    """After 4 epochs with 3 clicks on a pair, 1/(1 + v) ~ Beta(1 + 4, 1 + 3)."""
    rng = np.random.default_rng(1)
    inner = get_policy("mnl-ts").start(PolicyTask(1, 2, 100)).policy
    for clicks in (2, 0, 1, 0):
        learn_epoch(inner, np.array([0]), np.array([clicks]))
    drawn = []
    for _ in range(2_000):
        choose(inner, rng)
        drawn.append(1.0 / (1.0 + inner.drawn[0, 0]))
    tenths = stats.beta(5, 4).ppf(np.arange(11) / 10)
    assert_frequencies(np.full(10, 0.1), np.histogram(drawn, tenths)[0])


def test_the_list_is_best_for_the_drawn_parameters() -> None:
    rng = np.random.default_rng(2)
    inner = get_policy("mnl-ts").start(PolicyTask(2, 4, 100)).policy
    for _ in range(50):
        ranking = choose(inner, rng).copy()
        best = max(inner.drawn[0, i] + inner.drawn[1, j] for i in range(4) for j in range(4) if i != j)
        assert inner.drawn[[0, 1], ranking].sum() == pytest.approx(best)
