"""Epoch-UCB, known position bias, Algorithm 2 of Grant and Leslie; and Epoch-UCB-W, with wider bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.core.policy_task import PolicyTask
from slotwise.core.tally import count_no_clicks
from slotwise.core.types import EMPTY, FloatArray, IntArray, Ranking
from slotwise.jit import record
from slotwise.optimize.list_solver import arrange
from slotwise.policies.epochs import Epochs, in_epochs
from slotwise.policies.indices.epoch_index import WIDTH, log_term, upper_bounds
from slotwise.policies.interface import choose, learn_epoch, lists_for, update_from_tally
from slotwise.policies.policy_registry import register

#: of Epoch-UCB-W: 48 log(√J·l/√2) = 24 log(Jl²/2)
WIDER = 24.0


@record
class EpochUCB:
    """Rank by ᾱ + √(4 min(1, 2ᾱ) c/Λ) + 4c/Λ with c = log(Jl²/2) in epoch l."""

    #: λ, per slot
    position_bias: FloatArray
    lists: Any
    width: float
    #: l - 1, complete epochs
    epochs: float
    #: per item, over complete epochs: clicks, exposure Λ, their ratio ᾱ (infinite before the first), and 1/Λ
    clicks: FloatArray
    exposure: FloatArray
    mean: FloatArray
    uncertainty: FloatArray
    index: FloatArray
    ranking: Ranking


@register(
    "epoch-ucb",
    name="Epoch-UCB",
    position_bias="known",
    citation="Grant and Leslie, Learning to Rank under Multinomial Logit Choice, Algorithm 2",
)
def epoch_ucb(task: PolicyTask) -> Epochs:
    """Algorithm 2."""
    return _start(task, WIDTH)


@register(
    "epoch-ucb-w",
    name="Epoch-UCB-W",
    position_bias="known",
    citation="Grant and Leslie, Learning to Rank under Multinomial Logit Choice, §6, after Agrawal et al. (2019)",
)
def epoch_ucb_w(task: PolicyTask) -> Epochs:
    """Rank by ᾱ + √(48 min(1, 2ᾱ) c'/Λ) + 48c'/Λ with c' = log(√J·l/√2), from earlier concentration inequalities."""
    return _start(task, WIDER)


def _start(task: PolicyTask, width: float) -> Epochs:
    """Epoch-UCB with a confidence bound of this width."""
    assert task.position_bias is not None
    policy = EpochUCB(
        position_bias=task.position_bias,
        lists=lists_for(task),
        width=width,
        epochs=0.0,
        clicks=np.zeros(task.items),
        exposure=np.zeros(task.items),
        mean=np.full(task.items, np.inf),
        uncertainty=np.zeros(task.items),
        index=np.zeros(task.items),
        ranking=np.zeros(task.slots, np.int64),
    )
    return in_epochs(policy, task)


@choose.register(EpochUCB)
def _choose(policy: EpochUCB, rng: np.random.Generator) -> Ranking:
    index, ranking = policy.index, policy.ranking
    upper_bounds(policy.mean, policy.uncertainty, policy.width * log_term(len(index), policy.epochs + 1.0), index)
    arrange(policy.lists, index, policy.position_bias, ranking, rng)
    return ranking


@learn_epoch.register(EpochUCB)
def _learn_epoch(policy: EpochUCB, ranking: Ranking, clicks: IntArray) -> None:
    total, exposure, position_bias = policy.clicks, policy.exposure, policy.position_bias
    mean, uncertainty = policy.mean, policy.uncertainty
    policy.epochs += 1.0
    for slot in range(len(ranking)):
        item = ranking[slot]
        if item == EMPTY:
            continue
        total[item] += clicks[slot]
        exposure[item] += position_bias[slot]
        uncertainty[item] = 1.0 / exposure[item]
        mean[item] = total[item] * uncertainty[item]


@update_from_tally.register(EpochUCB)
def _update_from_tally(policy: EpochUCB, clicks: FloatArray, passes: FloatArray) -> None:
    slots, items = clicks.shape
    policy.epochs += count_no_clicks(passes)
    for slot in range(slots):
        for item in range(items):
            policy.clicks[item] += clicks[slot, item]
            policy.exposure[item] += policy.position_bias[slot] * passes[slot, item]
    for item in range(items):
        if policy.exposure[item] > 0.0:
            policy.uncertainty[item] = 1.0 / policy.exposure[item]
            policy.mean[item] = policy.clicks[item] * policy.uncertainty[item]
