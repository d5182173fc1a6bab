"""CascadeUCB1 and CascadeKL-UCB: users look from the top and stop at the first click, Kveton et al. (2015)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import NO_CLICK, FloatArray, IntArray, Ranking
from slotwise.jit import record
from slotwise.optimize.top_k import select_best
from slotwise.policies.indices.kl_bernoulli import kl_bound, level_at
from slotwise.policies.interface import choose, learn
from slotwise.policies.policy_registry import register

CITATION = "Kveton, Szepesvári, Wen and Ashkan, Cascading Bandits: Learning to Rank in the Cascade Model (2015)"
LIMITS = {
    "goal": "it supports neither values nor constraints",
    "tally": "it needs how often each item was examined, which a tally does not have",
}


@record
class CascadeUCB:
    """Algorithm 1: show the items with the largest bounds, largest first.

    Items before the clicked one were examined, items after it were not; without a click all were examined. If an item
    was examined n times and clicked in the share ŵ of them, the bounds are

        UCB1      ŵ + √(1.5 log(t - 1)/n)
        KL-UCB    the largest q with n kl(ŵ, q) ≤ log t + 3 log log t

    and an item that was never examined comes first. The paper assumes one observation of each item at the start.
    """

    kl: bool
    #: t - 1, rounds learned from
    rounds: float
    #: per item: how often it was examined, and clicked
    looks: FloatArray
    clicks: FloatArray
    index: FloatArray
    #: items by decreasing index, sorted as far as needed
    item_order: IntArray
    ranking: Ranking


@register("cascade-ucb1", name="CascadeUCB1", position_bias="ordered", citation=CITATION, limits=LIMITS, rival=True)
def cascade_ucb1(task: PolicyTask) -> CascadeUCB:
    """Algorithm 1 with the bounds of UCB1."""
    return start(task, kl=False)


@register("cascade-kl-ucb", name="CascadeKL-UCB", position_bias="ordered", citation=CITATION, limits=LIMITS, rival=True)
def cascade_kl_ucb(task: PolicyTask) -> CascadeUCB:
    """Algorithm 1 with the bounds of KL-UCB."""
    return start(task, kl=True)


def start(task: PolicyTask, *, kl: bool) -> CascadeUCB:
    """Algorithm 1 with either kind of bound."""
    return CascadeUCB(
        kl=kl,
        rounds=0.0,
        looks=np.zeros(task.items),
        clicks=np.zeros(task.items),
        index=np.full(task.items, np.inf),
        item_order=np.arange(task.items),
        ranking=np.zeros(task.slots, np.int64),
    )


@choose.register(CascadeUCB)
def _choose(policy: CascadeUCB, rng: np.random.Generator) -> Ranking:
    index, looks, clicks, ranking = policy.index, policy.looks, policy.clicks, policy.ranking
    level = level_at(policy.rounds + 1.0) if policy.kl else 1.5 * math.log(max(1.0, policy.rounds))
    for item in range(len(index)):
        if looks[item] == 0.0:
            index[item] = math.inf
        elif policy.kl:
            # as odds, which have the same order; Newton's method starts from the last bound
            passed_over = looks[item] - clicks[item]
            index[item] = kl_bound(clicks[item], passed_over, level, index[item]) if passed_over > 0.0 else math.inf
        else:
            index[item] = clicks[item] / looks[item] + math.sqrt(level / looks[item])
    select_best(index, policy.item_order, len(ranking), rng)
    for slot in range(len(ranking)):
        ranking[slot] = policy.item_order[slot]
    return ranking


@learn.register(CascadeUCB)
def learn_looks(policy: Any, ranking: Ranking, clicked: int) -> None:
    """Count the items down to the click as examined, and the clicked one as clicked."""
    policy.rounds += 1.0
    looked_at = len(ranking) if clicked == NO_CLICK else clicked + 1
    for slot in range(looked_at):
        policy.looks[ranking[slot]] += 1.0
    if clicked != NO_CLICK:
        policy.clicks[ranking[clicked]] += 1.0
