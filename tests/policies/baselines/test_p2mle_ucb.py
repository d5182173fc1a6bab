from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit

from slotwise import MNL, NO_CLICK, PolicyTask, get_policy, simulate
from slotwise.click_models import draw
from slotwise.environments import paper_problems
from slotwise.policies import choose, learn
from slotwise.policies.baselines.p2mle_ucb import MAX_MEAN
from tests.statistical_assertions import assert_mean_is_below

USERS = MNL(position_bias=[0.4, 1.0], attractiveness=[0.5, 2.0, 0.2, 0.3])


def _most_likely(trials: list[tuple[int, bool]]) -> float:
    """Of one item's trials, each with its slot and whether it was a click; searched for, in log α."""

    def loss(log_alpha: float) -> float:
        chances = [expit(log_alpha + math.log(USERS.position_bias[slot])) for slot, _ in trials]
        return -sum(math.log(p if click else 1 - p) for p, (_, click) in zip(chances, trials, strict=True))

    if all(click for _, click in trials):
        return MAX_MEAN
    if not any(click for _, click in trials):
        return 0.0
    return math.exp(
        minimize_scalar(loss, bounds=(-9.0, math.log(MAX_MEAN)), method="bounded", options={"xatol": 1e-9}).x
    )


@pytest.mark.usefixtures("interpreting")
def test_the_index_is_the_pairwise_maximum_likelihood_estimate_and_its_bound() -> None:
    started = get_policy("p2mle-ucb-like").start(PolicyTask(2, 4, 500, USERS.position_bias))
    rng, trials = np.random.default_rng(1), [list[tuple[int, bool]]() for _ in range(4)]
    for now in range(1, 150):
        ranking = choose(started, rng).copy()
        if now % 10 == 0:
            x = 2 * math.log(now)
            for item in range(4):
                alpha = _most_likely(trials[item])
                assert started.mean[item] == pytest.approx(alpha, rel=1e-4, abs=1e-9)
                bias = np.array([USERS.position_bias[slot] for slot, _ in trials[item]])
                curvature = (bias / (1 + bias * alpha) ** 2).sum()
                bound = alpha + math.sqrt(2 * alpha * x / curvature) + 3 * x / curvature
                assert started.index[item] == pytest.approx(bound, rel=1e-3)
            first, second = np.argsort(-started.index)[:2]
            assert ranking.tolist() == [second, first]  # the second slot has the larger bias
        clicked = draw(USERS, ranking, rng)
        learn(started, ranking, clicked)
        for slot, item in enumerate(ranking):
            if clicked in (slot, NO_CLICK):
                trials[item].append((slot, clicked == slot))
    assert min(map(len, trials)) > 10


@pytest.mark.usefixtures("interpreting")
def test_an_item_that_was_never_passed_is_clipped() -> None:
    started = get_policy("p2mle-ucb-like").start(PolicyTask(1, 2, 10, np.ones(1)))
    for _ in range(3):
        learn(started, np.array([1]), 0)
    assert started.mean[1] == MAX_MEAN
    learn(started, np.array([1]), NO_CLICK)
    assert started.mean[1] == pytest.approx(3.0)


@pytest.mark.long
def test_regret_grows_with_the_root_of_time_and_is_below_that_of_epochs() -> None:
    """The paper's claims: Õ(√(NT)), and less than the policies that wait for an epoch to end."""
    problem = paper_problems()["a"]
    run = simulate(
        problem.users, ["p2mle-ucb-like", "epoch-ucb"], rounds=80_000, replications=10, seed=1, record_at=[20_000]
    )
    early, late = run["p2mle-ucb-like"].regret.T
    assert_mean_is_below(late, 2.0 * early)
    assert_mean_is_below(late, run["epoch-ucb"].final_regret)
