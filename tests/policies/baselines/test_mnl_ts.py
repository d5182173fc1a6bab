from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from slotwise import PolicyTask, get_policy
from slotwise.policies import choose
from slotwise.policies.interface import learn_epoch
from tests.statistical_assertions import assert_frequencies

pytestmark = pytest.mark.usefixtures("interpreting")


@pytest.mark.parametrize("id", ["mnl-ts", "mnl-ts-pairs"])
def test_draws_follow_the_beta_posterior(id: str) -> None:
    """After 4 epochs with 3 clicks, 1/(1 + v) ~ Beta(1 + 4, 1 + 3)."""
    rng = np.random.default_rng(1)
    inner = get_policy(id).start(PolicyTask(1, 2, 100)).policy
    for clicks in (2, 0, 1, 0):
        learn_epoch(inner, np.array([0]), np.array([clicks]))
    drawn = []
    for _ in range(2_000):
        choose(inner, rng)
        drawn.append(1.0 / (1.0 + inner.drawn.flat[0]))
    tenths = stats.beta(5, 4).ppf(np.arange(11) / 10)
    assert_frequencies(np.full(10, 0.1), np.histogram(drawn, tenths)[0])


def test_items_share_what_is_learned_in_all_slots() -> None:
    """The paper's products have no slots: V and n of an item are sums over them, and the largest draws are shown."""
    rng = np.random.default_rng(3)
    inner = get_policy("mnl-ts").start(PolicyTask(2, 4, 100)).policy
    clicks, epochs = np.zeros(4), np.zeros(4)
    for _ in range(60):
        ranking = choose(inner, rng).copy()
        assert ranking.tolist() == np.argsort(-inner.drawn)[:2].tolist()
        counted = rng.poisson(0.7, 2)
        learn_epoch(inner, ranking, counted)
        clicks[ranking] += counted
        epochs[ranking] += 1
    assert inner.clicks.tolist() == clicks.tolist()
    assert inner.passes.tolist() == epochs.tolist()
    assert epochs.min() > 0


def test_the_list_of_pairs_is_best_for_the_drawn_parameters() -> None:
    rng = np.random.default_rng(2)
    inner = get_policy("mnl-ts-pairs").start(PolicyTask(2, 4, 100)).policy
    for _ in range(50):
        ranking = choose(inner, rng).copy()
        best = max(inner.drawn[0, i] + inner.drawn[1, j] for i in range(4) for j in range(4) if i != j)
        assert inner.drawn[[0, 1], ranking].sum() == pytest.approx(best)
