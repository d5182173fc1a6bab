"""TS-Cascade: Thompson sampling for users who look from the top to the first click; Cheung, Tan and Zhong (2019)."""

from __future__ import annotations

import math

import numpy as np

from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import FloatArray, IntArray, Ranking
from slotwise.jit import record
from slotwise.optimize.top_k import select_best
from slotwise.policies.baselines.cascade_ucb import LIMITS, learn_looks
from slotwise.policies.interface import choose, learn
from slotwise.policies.policy_registry import register


@record
class TSCascade:
    """Algorithm 1: show the items with the largest ŵ + Zσ, largest first, with one standard normal Z for all items.

    σ = max(√(ŵ(1 - ŵ) log(t + 1)/(n + 1)), log(t + 1)/(n + 1)) in round t. Items before the clicked one were examined,
    items after it were not. An item was examined n times and clicked in the share ŵ of them, 0 before the first.

    The paper's text was available in part. This is the algorithm as it is commonly described, not checked line by line.
    """

    #: t - 1, rounds learned from
    rounds: float
    #: per item: how often it was examined, and clicked
    looks: FloatArray
    clicks: FloatArray
    index: FloatArray
    #: items by decreasing index, sorted as far as needed
    item_order: IntArray
    ranking: Ranking


@register(
    "ts-cascade",
    name="TS-Cascade",
    position_bias="ordered",
    citation="Cheung, Tan and Zhong, A Thompson Sampling Algorithm for Cascading Bandits (2019)",
    limits=LIMITS,
    rival=True,
)
def ts_cascade(task: PolicyTask) -> TSCascade:
    """Algorithm 1, with Gaussian draws of the empirical variance."""
    return TSCascade(
        rounds=0.0,
        looks=np.zeros(task.items),
        clicks=np.zeros(task.items),
        index=np.zeros(task.items),
        item_order=np.arange(task.items),
        ranking=np.zeros(task.slots, np.int64),
    )


@choose.register(TSCascade)
def _choose(policy: TSCascade, rng: np.random.Generator) -> Ranking:
    index, ranking = policy.index, policy.ranking
    drawn, level = rng.standard_normal(), math.log(policy.rounds + 2.0)
    for item in range(len(index)):
        looks = policy.looks[item]
        share = policy.clicks[item] / max(1.0, looks)
        scale = level / (looks + 1.0)
        index[item] = share + drawn * max(math.sqrt(share * (1.0 - share) * scale), scale)
    select_best(index, policy.item_order, len(ranking), rng)
    for slot in range(len(ranking)):
        ranking[slot] = policy.item_order[slot]
    return ranking


learn.register(TSCascade)(learn_looks)
