from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom

from research.further_policies.pairwise_ucb import _kl_bound
from slotwise import MNL, NO_CLICK, PolicyTask, get_policy, simulate
from slotwise.click_models import draw
from slotwise.core.types import FloatArray
from slotwise.environments import paper_problems
from slotwise.policies import choose, learn
from slotwise.policies.baselines.p2mle_ucb import most_likely

USERS = MNL(position_bias=[0.4, 1.3, 0.1], attractiveness=[0.5, 0.9, 0.2, 2.0, 0.05])


def _likelihood(alpha: float, clicks: FloatArray, trials: FloatArray) -> float:
    odds = USERS.position_bias * alpha
    return float((clicks * np.log(odds)).sum() - (trials * np.log1p(odds)).sum())


def _plain_kl(clicks: FloatArray, trials: FloatArray, level: float) -> float:
    """From the definition, by root finding on the likelihood of the slots' binomial counts."""

    def score(log_alpha: float) -> float:
        odds = USERS.position_bias * math.exp(log_alpha)
        return float(clicks.sum() - (trials * odds / (1 + odds)).sum())

    def lost(log_alpha: float) -> float:
        return best - _likelihood(math.exp(log_alpha), clicks, trials) - level

    least, best = -40.0, 0.0
    if clicks.sum() > 0:
        least = brentq(score, -40, 40, xtol=1e-13)
        best = _likelihood(math.exp(least), clicks, trials)
    return math.exp(least if level == 0 else brentq(lost, least, 60, xtol=1e-13))


def _plain_bernstein(clicks: FloatArray, trials: FloatArray, level: float) -> float:
    bias, total = USERS.position_bias, clicks.sum()
    exposure, variation = bias @ (trials - clicks), bias @ trials

    def beyond(alpha: float) -> float:
        return float(
            alpha * exposure - total - math.sqrt(2 * alpha * variation * level) - alpha * bias.max() * level / 3
        )

    if exposure <= bias.max() * level / 3:
        return math.inf
    return brentq(beyond, max(total / exposure, 1e-300), 1e9, xtol=1e-13) if level > 0 else float(total / exposure)


@pytest.mark.usefixtures("interpreting")
@pytest.mark.parametrize("bound", ["kl", "bernstein"])
def test_the_index_is_the_bound_from_all_trials_of_an_item(bound: str) -> None:
    plain = {"kl": _plain_kl, "bernstein": _plain_bernstein}[bound]
    started = get_policy("pairwise-ucb", bound=bound).start(PolicyTask(3, 5, 2_000, USERS.position_bias))
    rng = np.random.default_rng(1)
    clicks, passes = np.zeros((3, 5)), np.zeros((3, 5))
    compared = 0
    for now in range(2_000):
        ranking = choose(started, rng).copy()
        trials = clicks + passes
        if now % 40 == 0:
            wanted = np.full(5, np.inf)
            for item in np.flatnonzero(passes.sum(axis=0) > 0):
                scarcity = max(1.0, trials.sum() / 5 / trials[:, item].sum())
                level = math.log(scarcity * (1 + math.log(scarcity) ** 2))
                wanted[item] = plain(clicks[:, item], trials[:, item], level)
            assert started.index == pytest.approx(wanted, rel=1e-5, abs=1e-12)
            assert wanted[ranking][[1, 0, 2]] == pytest.approx(np.sort(wanted)[::-1][:3], rel=1e-5)
            compared += int((np.isfinite(wanted) & (wanted != started.mean)).sum())
        clicked = draw(USERS, ranking, rng)
        learn(started, ranking, clicked)
        if clicked == NO_CLICK:
            passes[np.arange(3), ranking] += 1
        else:
            clicks[clicked, ranking[clicked]] += 1
    assert compared > 50, "bounds that are not just means"


@pytest.mark.usefixtures("interpreting")
def test_an_item_without_a_pass_comes_first() -> None:
    started = get_policy("pairwise-ucb").start(PolicyTask(1, 3, 10, np.ones(1)))
    rng = np.random.default_rng(2)
    first = choose(started, rng).copy()
    learn(started, first, 0)
    assert started.index.tolist() == [math.inf] * 3
    learn(started, first, NO_CLICK)
    assert choose(started, rng)[0] != first[0]


@pytest.mark.usefixtures("interpreting")
def test_the_pooled_kl_bound_is_missed_with_probability_at_most_exp_minus_the_level() -> None:
    """Exactly: the clicks in two slots are a sum of two binomials, and all sums are gone through."""
    bias, trials, level = np.array([1.0, 0.2]), np.array([30.0, 50.0]), 1.5

    def bound(clicks: int) -> float:
        mean = most_likely(clicks, trials, bias, 0.0)
        return _kl_bound(clicks, trials, bias, mean, level, math.inf)

    bounds = np.array([bound(clicks) for clicks in range(80)] + [np.inf])
    missed = []
    for edge in bounds[:60]:
        alpha = edge * (1 + 1e-9)
        one, other = (
            binom.pmf(np.arange(int(n) + 1), n, b * alpha / (1 + b * alpha)) for n, b in zip(trials, bias, strict=True)
        )
        missed.append(np.convolve(one, other)[bounds < alpha].sum())
    assert max(missed) == pytest.approx(math.exp(-level))


@pytest.mark.parametrize(("bound", "mean", "deviation"), [("kl", 19.6, 8.6), ("bernstein", 21.8, 8.4)])
def test_regret_matches_the_recorded_regret(bound: str, mean: float, deviation: float) -> None:
    """Of 200 replications on problem (b), within 3.9 standard errors: a false alarm in 10,000."""
    chosen = paper_problems()["b"]
    results = simulate(chosen.users, get_policy("pairwise-ucb", bound=bound), rounds=chosen.rounds, replications=30)
    found = next(iter(results.values())).final_regret
    assert abs(found.mean() - mean) < 3.9 * deviation * math.sqrt(1 / 30 + 1 / 200)
