"""MNL-bandit: each slot-item pair is a product; Algorithm 4 of Grant and Leslie after Agrawal et al. (2019)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.core.policy_task import PolicyTask
from slotwise.core.tally import add_counts, count_epoch, count_no_clicks
from slotwise.core.types import EMPTY, FloatArray, IntArray, Ranking
from slotwise.jit import inlined, record
from slotwise.optimize.list_solver import arrange_pairs
from slotwise.policies.epochs import Epochs, in_epochs
from slotwise.policies.indices.epoch_index import WIDTH, agrawal_bounds, log_term, upper_bounds
from slotwise.policies.interface import choose, learn_epoch, pair_lists_for, update_from_tally
from slotwise.policies.policy_registry import register

#: the factor of log(√N l + 1)/T in Algorithm 1 of Agrawal et al.
AGRAWAL_WIDTH = 48.0


@record
class MNLBandit:
    """Assign by γ̄ + √(4 min(1, 2γ̄) c/Ñ) + 4c/Ñ with c = log(JKl²/2) in epoch l.

    Or, if `agrawal`, by γ̄ + √(48 γ̄ c/Ñ) + 48c/Ñ with c = log(√(JK) l + 1).
    """

    agrawal: bool
    #: l - 1, complete epochs
    epochs: float
    #: per slot and item, over complete epochs: N, Ñ, their ratio γ̄ (infinite before the first), and 1/Ñ
    clicks: FloatArray
    passes: FloatArray
    mean: FloatArray
    uncertainty: FloatArray
    index: FloatArray
    lists: Any
    ranking: Ranking


@register(
    "mnl-bandit",
    name="MNL-bandit",
    position_bias="unknown",
    citation="Grant and Leslie, Learning to Rank under Multinomial Logit Choice, Algorithm 4",
)
def mnl_bandit(task: PolicyTask) -> Epochs:
    """Algorithm 4."""
    return start(task, agrawal=False)


def start(task: PolicyTask, *, agrawal: bool) -> Epochs:
    """The algorithm on pairs with either kind of bounds."""
    shape = (task.slots, task.items)
    policy = MNLBandit(
        agrawal=agrawal,
        epochs=0.0,
        clicks=np.zeros(shape),
        passes=np.zeros(shape),
        mean=np.full(shape, np.inf),
        uncertainty=np.zeros(shape),
        index=np.zeros(shape),
        lists=pair_lists_for(task),
        ranking=np.zeros(task.slots, np.int64),
    )
    return in_epochs(policy, task)


@choose.register(MNLBandit)
def _choose(policy: MNLBandit, rng: np.random.Generator) -> Ranking:
    index, mean, uncertainty = policy.index.ravel(), policy.mean.ravel(), policy.uncertainty.ravel()
    epoch = policy.epochs + 1.0
    if policy.agrawal:
        agrawal_bounds(mean, uncertainty, AGRAWAL_WIDTH * math.log(math.sqrt(len(index)) * epoch + 1.0), index)
    else:
        upper_bounds(mean, uncertainty, WIDTH * log_term(len(index), epoch), index)
    arrange_pairs(policy.lists, policy.index, policy.ranking, rng)
    return policy.ranking


@learn_epoch.register(MNLBandit)
def _learn_epoch(policy: MNLBandit, ranking: Ranking, clicks: IntArray) -> None:
    policy.epochs += 1.0
    count_epoch(policy.clicks, policy.passes, ranking, clicks)
    for slot in range(len(ranking)):
        if ranking[slot] != EMPTY:
            _estimate(policy, slot, ranking[slot])


@update_from_tally.register(MNLBandit)
def _update_from_tally(policy: MNLBandit, clicks: FloatArray, passes: FloatArray) -> None:
    slots, items = clicks.shape
    policy.epochs += count_no_clicks(passes)
    add_counts(policy.clicks, policy.passes, clicks, passes)
    for slot in range(slots):
        for item in range(items):
            if policy.passes[slot, item] > 0.0:
                _estimate(policy, slot, item)


@inlined
def _estimate(policy: MNLBandit, slot: int, item: int) -> None:
    policy.uncertainty[slot, item] = 1.0 / policy.passes[slot, item]
    policy.mean[slot, item] = policy.clicks[slot, item] * policy.uncertainty[slot, item]
