from __future__ import annotations

import math

import numpy as np
import pytest

from slotwise import NO_CLICK, PolicyTask, get_policy
from slotwise import available_policies as registered
from slotwise.jit import interpreted
from slotwise.policies import choose, holds_lists, learn
from tests.registered_components import policies

pytestmark = pytest.mark.usefixtures("interpreting")

TASK = PolicyTask(2, 4, 1_000, np.array([1.0, 0.5]))
with interpreted():
    EPOCH_POLICIES = [entry for entry in policies() if holds_lists(entry.start(TASK))]


def test_the_papers_policies_with_epochs_act_in_them() -> None:
    ids = {"epoch-ucb", "epoch-ucb-w", "epoch-ucb-upb", "epoch-ucb-upb-star", "mnl-bandit"}
    assert {entry.id for entry in registered() if holds_lists(entry.start(TASK))} >= ids


@pytest.mark.parametrize("id", [entry.id for entry in EPOCH_POLICIES])
def test_a_ranking_is_held_until_a_no_click(id: str) -> None:
    rng = np.random.default_rng(1)
    started = get_policy(id).start(TASK)
    for _ in range(30):
        held = choose(started, rng).copy()
        for _ in range(rng.integers(4)):
            learn(started, held, int(rng.integers(2)))
            assert choose(started, rng).tolist() == held.tolist()
        learn(started, held, NO_CLICK)


def test_clicks_of_an_unfinished_epoch_wait() -> None:
    rng = np.random.default_rng(1)
    started = get_policy("epoch-ucb").start(TASK)
    ranking = choose(started, rng).copy()
    learn(started, ranking, 1)
    assert started.policy.clicks.sum() == 0
    learn(started, ranking, NO_CLICK)
    assert started.policy.clicks[ranking].tolist() == [0.0, 1.0]
    assert started.policy.exposure[ranking].tolist() == [1.0, 0.5]


@pytest.mark.parametrize(("id", "factor", "log_term"), [
    ("epoch-ucb", 4.0, lambda items, epoch: math.log(items * epoch**2 / 2)),
    ("epoch-ucb-w", 48.0, lambda items, epoch: math.log(math.sqrt(items) * epoch / math.sqrt(2))),
])  # fmt: skip
def test_the_index_is_the_papers(id: str, factor: float, log_term: object) -> None:
    assert callable(log_term)
    rng = np.random.default_rng(2)
    started = get_policy(id).start(TASK)
    for _ in range(40):
        ranking = choose(started, rng).copy()
        inner = started.policy
        clicks, exposure, epoch = inner.clicks, inner.exposure, inner.epochs + 1
        if (exposure > 0).all():
            c = log_term(4, epoch)
            mean = clicks / exposure
            wanted = mean + np.sqrt(factor * np.minimum(1, 2 * mean) * c / exposure) + factor * c / exposure
            assert inner.index == pytest.approx(wanted)
            assert wanted[ranking] == pytest.approx(np.sort(wanted)[::-1][:2])
        for slot in rng.integers(2, size=rng.integers(3)):
            learn(started, ranking, int(slot))
        learn(started, ranking, NO_CLICK)


@pytest.mark.parametrize(("id", "width"), [
    ("epoch-ucb-upb", lambda beta, items, epoch: np.sqrt(36 * beta**2 * np.log(items * epoch**2))),
    ("epoch-ucb-upb-star", lambda beta, items, epoch: 0.5 * np.sqrt(beta**2 * np.log(np.sqrt(items) * epoch))),
])  # fmt: skip
@pytest.mark.parametrize("sensitivity", ["analytic", "finite-difference"])
def test_the_index_for_unknown_bias_is_the_papers(id: str, width: object, sensitivity: str) -> None:
    """Against the estimator and the sensitivity of the library, from scratch, every epoch."""
    from slotwise import Tally
    from slotwise.estimators import algorithm_1
    from slotwise.estimators import sensitivity as by_formula
    from tests.estimators.uncertainty.test_sensitivity import by_differences

    beta_of = by_formula if sensitivity == "analytic" else by_differences
    assert callable(width)
    rng = np.random.default_rng(3)
    started = get_policy(id, sensitivity=sensitivity).start(TASK)
    compared = 0
    for _ in range(400):
        ranking = choose(started, rng).copy()
        inner = started.policy
        tally = Tally(inner.clicks.astype(int), inner.passes.astype(int))
        if inner.epochs >= 200:
            estimate = algorithm_1(tally)
            assert estimate.converged
            beta = beta_of(tally)
            wanted = estimate.attractiveness + width(beta, 4, inner.epochs + 1)
            assert inner.index == pytest.approx(wanted, rel=2e-3)
            compared += 1
        # users with γ = λα, λ = (1, 0.5), α = (0.4, 0.8, 0.6, 0.5)
        gamma = np.array([1.0, 0.5]) * np.array([0.4, 0.8, 0.6, 0.5])[ranking]
        for slot, clicks in enumerate(rng.geometric(1 / (1 + gamma)) - 1):
            for _ in range(clicks):
                learn(started, ranking, slot)
        learn(started, ranking, NO_CLICK)
    assert compared == 200
