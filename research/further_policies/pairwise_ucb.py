"""Pairwise-UCB: an upper bound on each item's odds against no click, for known position bias."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from research.further_policies.pairwise_bounds import Bound, bernstein, exploration, is_kl
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import EMPTY, NO_CLICK, FloatArray, Ranking
from slotwise.jit import inlined, jit, record
from slotwise.optimize.list_solver import arrange
from slotwise.policies.baselines.p2mle_ucb import most_likely
from slotwise.policies.indices.kl_bernoulli import MAX_STEPS, PARABOLA, STEP
from slotwise.policies.interface import choose, learn, lists_for, update_from_tally
from slotwise.policies.policy_registry import register


@record
class PairwiseUCB:
    """Rank by the largest α that an item's trials in all slots allow, with c from the item's share of trials.

    kl: Σ_k n_k log((1+λ_kα)/(1+λ_kα̂)) - N log(α/α̂) ≤ c, the likelihood ratio to the item's maximum-likelihood α̂.
    bernstein: αΛ - N ≤ √(2αΛ'c) + αλ_max c/3 with Λ = Σ_kλ_kÑ_k and Λ' = Σ_kλ_kn_k.
    c = log(x(1 + log²x)) with x = max(1, Σ_i n_i/(J n_j)).
    """

    #: λ, per slot, and the largest
    position_bias: FloatArray
    largest_bias: float
    lists: Any
    kl: bool
    #: n, items × slots, and its sums per item and overall
    trials: FloatArray
    item_trials: FloatArray
    all_trials: float
    #: per item: clicks N, and the exposures Λ over the passes and Λ' over all trials
    clicks: FloatArray
    exposure: FloatArray
    variation: FloatArray
    #: per item: α̂, infinite before the first pass
    mean: FloatArray
    index: FloatArray
    ranking: Ranking


@register(
    "pairwise-ucb",
    name="Pairwise-UCB",
    position_bias="known",
    citation="slotwise; after Saha and Gaillard (2024) and Chen, Dai, Lyu and Zhou (2026)",
)
def pairwise_ucb(task: PolicyTask, *, bound: Bound = "kl") -> PairwiseUCB:
    """Pairwise-UCB with the `kl` or the `bernstein` bound."""
    assert task.position_bias is not None
    slots, items = task.slots, task.items
    return PairwiseUCB(
        position_bias=task.position_bias,
        largest_bias=float(task.position_bias.max()),
        lists=lists_for(task),
        kl=is_kl(bound),
        trials=np.zeros((items, slots)),
        item_trials=np.zeros(items),
        all_trials=0.0,
        clicks=np.zeros(items),
        exposure=np.zeros(items),
        variation=np.zeros(items),
        mean=np.full(items, np.inf),
        index=np.full(items, np.inf),
        ranking=np.zeros(slots, np.int64),
    )


@choose.register(PairwiseUCB)
def _choose(policy: PairwiseUCB, rng: np.random.Generator) -> Ranking:
    index, mean, item_trials, clicks = policy.index, policy.mean, policy.item_trials, policy.clicks
    per_item = policy.all_trials / len(index)
    for item in range(len(index)):
        # the bound of an item without a pass is infinite
        if mean[item] < math.inf:
            level = exploration(per_item / item_trials[item])
            if level == 0.0:
                index[item] = mean[item]
            elif policy.kl:
                index[item] = _kl_bound(
                    clicks[item], policy.trials[item], policy.position_bias, mean[item], level, index[item]
                )
            else:
                index[item] = bernstein(
                    clicks[item], policy.exposure[item], policy.variation[item], policy.largest_bias, level
                )
    arrange(policy.lists, index, policy.position_bias, policy.ranking, rng)
    return policy.ranking


@learn.register(PairwiseUCB)
def _learn(policy: PairwiseUCB, ranking: Ranking, clicked: int) -> None:
    if clicked == NO_CLICK:
        for slot in range(len(ranking)):
            if ranking[slot] != EMPTY:
                policy.exposure[ranking[slot]] += policy.position_bias[slot]
                _count_trial(policy, slot, ranking[slot])
    else:
        policy.clicks[ranking[clicked]] += 1.0
        _count_trial(policy, clicked, ranking[clicked])


@update_from_tally.register(PairwiseUCB)
def _update_from_tally(policy: PairwiseUCB, clicks: FloatArray, passes: FloatArray) -> None:
    slots, items = clicks.shape
    for item in range(items):
        for slot in range(slots):
            policy.clicks[item] += clicks[slot, item]
            policy.exposure[item] += policy.position_bias[slot] * passes[slot, item]
            _count_trials(policy, slot, item, clicks[slot, item] + passes[slot, item])
        _estimate(policy, item)


@inlined
def _count_trial(policy: PairwiseUCB, slot: int, item: int) -> None:
    _count_trials(policy, slot, item, 1.0)
    _estimate(policy, item)


@inlined
def _count_trials(policy: PairwiseUCB, slot: int, item: int, trials: float) -> None:
    policy.trials[item, slot] += trials
    policy.item_trials[item] += trials
    policy.all_trials += trials
    policy.variation[item] += policy.position_bias[slot] * trials


@inlined
def _estimate(policy: PairwiseUCB, item: int) -> None:
    if policy.exposure[item] > 0.0:
        if policy.kl:
            start = policy.mean[item] if policy.mean[item] < math.inf else 0.0
            policy.mean[item] = most_likely(policy.clicks[item], policy.trials[item], policy.position_bias, start)
        else:
            policy.mean[item] = policy.clicks[item] / policy.exposure[item]


@jit
def _kl_bound(
    clicks: float, trials: FloatArray, position_bias: FloatArray, mean: float, level: float, start: float
) -> float:
    """The pooled kl bound, by Newton's method in log α as in `slotwise.policies.indices.kl_bernoulli.kl_bound`."""
    slope_at_mean = 0.0
    for slot in range(len(trials)):
        share = 1.0 / (1.0 + position_bias[slot] * mean)
        slope_at_mean += trials[slot] * position_bias[slot] * share * share
    alpha = start
    if mean > 0.0:
        near = math.sqrt(2.0 * level / (mean * slope_at_mean))
        if near < PARABOLA:
            return mean * math.exp(near)
        if not mean * (1.0 + 0.5 * near) < alpha < math.inf:
            alpha = mean * math.exp(min(near, 300.0))
    elif not 0.0 < alpha < math.inf:
        alpha = level / slope_at_mean
    for _ in range(MAX_STEPS):
        distance = math.log(alpha / mean) if mean > 0.0 else 1.0
        excess, slope = -level - clicks * distance, -clicks
        for slot in range(len(trials)):
            if trials[slot] > 0.0:
                here = position_bias[slot] * alpha
                excess += trials[slot] * math.log((1.0 + here) / (1.0 + position_bias[slot] * mean))
                slope += trials[slot] * here / (1.0 + here)
        step = excess / slope
        alpha *= math.exp(min(-step, 300.0))
        if abs(step) < STEP * distance:
            break
    return alpha
