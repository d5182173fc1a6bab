"""An upper bound on each item's odds, pooled over slots, after the abstract of P2MLE-UCB; Chen et al. (2026)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.core.policy_task import PolicyTask
from slotwise.core.tally import count_no_clicks
from slotwise.core.types import EMPTY, NO_CLICK, FloatArray, Ranking
from slotwise.jit import inlined, jit, record
from slotwise.optimize.list_solver import arrange
from slotwise.policies.indices.kl_bernoulli import MAX_STEPS
from slotwise.policies.interface import choose, learn, lists_for, update_from_tally
from slotwise.policies.policy_registry import register

CITATION = (
    "after Chen, Dai, Lyu and Zhou, Learning in Position-Aware Multinomial Logit Bandits: From Multiplicative to "
    "General Position Effects (2026), arXiv 2605.17238"
)
#: Newton's method stops after a step of this size relative to α̂; about its square remains as error
MEAN_STEP = 1e-5
#: α̂ is clipped here: it is infinite for an item that was never passed
MAX_MEAN = 100.0


@record
class P2MLEUCB:
    """Rank by α̂ + √(2α̂x/D) + 3x/D with x = 2 log t in round t, for known position bias.

    A round is a trial of the pair (k, j) if item j in slot k was clicked, or nothing was. A trial is a click with
    probability λ_kα_j/(1 + λ_kα_j), whatever else was shown. α̂ maximises the likelihood of the item's trials in all
    slots, and is clipped. D = Σ_k n_k λ_k/(1 + λ_kα̂)², so that α̂/D is the variance of α̂.

    Of the paper only the abstract was available. By it, a decision follows every round, and the estimator is a clipped
    pairwise maximum-likelihood estimator across positions. The bound is our own: the one of Saha and Gaillard (2024)
    for pairs, p̂ + √(2p̂(1 - p̂)x/n) + 3x/n, carried over to α. So is the limit at which α̂ is clipped.
    """

    #: λ, per slot
    position_bias: FloatArray
    lists: Any
    #: t - 1, rounds learned from
    rounds: float
    #: n, items × slots; per item: clicks, and α̂
    trials: FloatArray
    clicks: FloatArray
    mean: FloatArray
    index: FloatArray
    ranking: Ranking


@register("p2mle-ucb-like", name="like P2MLE-UCB", position_bias="known", citation=CITATION, rival=True)
def p2mle_ucb(task: PolicyTask) -> P2MLEUCB:
    """Pairwise maximum likelihood across slots, with an upper confidence bound."""
    assert task.position_bias is not None
    return P2MLEUCB(
        position_bias=task.position_bias,
        lists=lists_for(task),
        rounds=0.0,
        trials=np.zeros((task.items, task.slots)),
        clicks=np.zeros(task.items),
        mean=np.full(task.items, np.inf),
        index=np.zeros(task.items),
        ranking=np.zeros(task.slots, np.int64),
    )


@choose.register(P2MLEUCB)
def _choose(policy: P2MLEUCB, rng: np.random.Generator) -> Ranking:
    index, position_bias = policy.index, policy.position_bias
    level = 2.0 * math.log(policy.rounds + 1.0)
    for item in range(len(index)):
        mean, curvature = policy.mean[item], 0.0
        if mean == math.inf:
            index[item] = mean
            continue
        for slot in range(len(position_bias)):
            share = 1.0 + position_bias[slot] * mean
            curvature += policy.trials[item, slot] * position_bias[slot] / (share * share)
        index[item] = mean + math.sqrt(2.0 * mean * level / curvature) + 3.0 * level / curvature
    arrange(policy.lists, index, position_bias, policy.ranking, rng)
    return policy.ranking


@learn.register(P2MLEUCB)
def _learn(policy: P2MLEUCB, ranking: Ranking, clicked: int) -> None:
    policy.rounds += 1.0
    for slot in range(len(ranking)):
        if ranking[slot] != EMPTY and (slot == clicked or clicked == NO_CLICK):
            policy.trials[ranking[slot], slot] += 1.0
            policy.clicks[ranking[slot]] += 1.0 if slot == clicked else 0.0
            _estimate(policy, ranking[slot])


@update_from_tally.register(P2MLEUCB)
def _update_from_tally(policy: P2MLEUCB, clicks: FloatArray, passes: FloatArray) -> None:
    slots, items = clicks.shape
    policy.rounds += clicks.sum() + count_no_clicks(passes)
    for item in range(items):
        for slot in range(slots):
            policy.trials[item, slot] += clicks[slot, item] + passes[slot, item]
            policy.clicks[item] += clicks[slot, item]
        if policy.trials[item].sum() > 0.0:
            _estimate(policy, item)


@inlined
def _estimate(policy: P2MLEUCB, item: int) -> None:
    trials = policy.trials[item]
    if policy.clicks[item] == trials.sum():
        policy.mean[item] = MAX_MEAN
    else:
        start = policy.mean[item] if policy.mean[item] < MAX_MEAN else 0.0
        policy.mean[item] = min(MAX_MEAN, most_likely(policy.clicks[item], trials, policy.position_bias, start))


@jit
def most_likely(clicks: float, trials: FloatArray, position_bias: FloatArray, start: float) -> float:
    """Return the α̂ at which Σ_k n_k λ_kα/(1+λ_kα) = N, by Newton's method from the last one.

    The left side is concave in α and at most α Σ_k n_k λ_k, so N/Σ_k n_k λ_k ≤ α̂. From the first step on, the iterates
    increase toward α̂.
    """
    exposure = 0.0
    for slot in range(len(trials)):
        exposure += trials[slot] * position_bias[slot]
    least = clicks / exposure
    alpha = max(least, start)
    for _ in range(MAX_STEPS):
        expected, slope = 0.0, 0.0
        for slot in range(len(trials)):
            share = position_bias[slot] / (1.0 + position_bias[slot] * alpha)
            expected += trials[slot] * share * alpha
            slope += trials[slot] * share / (1.0 + position_bias[slot] * alpha)
        old = alpha
        alpha = max(least, alpha + (clicks - expected) / slope)
        if abs(alpha - old) <= MEAN_STEP * alpha:
            break
    return alpha
