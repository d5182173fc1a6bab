"""OFU-MNL+: features of visitors and items, and an upper bound on each item's weight; Lee and Oh (2024)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from research.contextual.contextual_mnl import context_of, see_features
from research.contextual.online_logit import OnlineLogit, online_logit, refresh, update
from slotwise.core import validation
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import FloatArray, Ranking
from slotwise.jit import record
from slotwise.optimize.list_solver import arrange
from slotwise.policies.interface import choose, learn, lists_for
from slotwise.policies.policy_registry import register


@record
class OFUMNL:
    """Rank by xᵀθ + β_t √(xᵀH⁻¹x) with θ and H of `research.contextual.online_logit`.

    β_t = width · √d log(1 + t), which has the order of the paper's bound; its constants serve its proof. `width` and
    `ridge` are our own choices. The paper has no slots: here the k-th largest goes to the slot of the k-th largest
    bias, and the bias is part of the likelihood. If no features change from round to round, every item has an indicator
    of its own as its feature.

    The full text of the paper was not available. This is the algorithm as it is commonly described, not checked line by
    line against the paper.
    """

    model: OnlineLogit
    width: float
    lists: Any
    #: t - 1, rounds learned from
    rounds: float
    #: those of this round, items × features
    features: FloatArray
    #: scratch per feature, and the index per item
    direction: FloatArray
    index: FloatArray
    ranking: Ranking


@register(
    "ofu-mnl",
    name="OFU-MNL+",
    position_bias="known",
    citation="Lee and Oh, Nearly Minimax Optimal Regret for Multinomial Logistic Bandit (2024)",
    limits={
        "goal": "it supports neither values nor constraints",
        "tally": "it needs the features of each round, which a tally does not have",
    },
    rival=True,
)
def ofu_mnl(task: PolicyTask, *, width: float = 0.1, ridge: float = 1.0) -> OFUMNL:
    """OFU-MNL+ for slots with a known bias."""
    assert task.position_bias is not None
    context = context_of(task)
    features = np.zeros((task.items, context)) if context else np.eye(task.items)
    count = features.shape[1]
    return OFUMNL(
        model=online_logit(task.position_bias, count, validation.positive_number("ridge", ridge)),
        width=validation.positive_number("width", width),
        lists=lists_for(task),
        rounds=0.0,
        features=features,
        direction=np.zeros(count),
        index=np.zeros(task.items),
        ranking=np.zeros(task.slots, np.int64),
    )


@see_features.register(OFUMNL)
def _see_features(policy: OFUMNL, features: FloatArray) -> None:
    policy.features[:] = features


@choose.register(OFUMNL)
def _choose(policy: OFUMNL, rng: np.random.Generator) -> Ranking:
    model, features, direction = policy.model, policy.features, policy.direction
    refresh(model)
    factor, weights = model.factor, model.weights
    width = policy.width * math.sqrt(len(weights)) * math.log(policy.rounds + 2.0)
    for item in range(len(policy.index)):
        value, spread = 0.0, 0.0
        # L⁻¹x; its length is √(xᵀH⁻¹x)
        for row in range(len(weights)):
            here = features[item, row]
            value += here * weights[row]
            for before in range(row):
                here -= factor[row, before] * direction[before]
            direction[row] = here / factor[row, row]
            spread += direction[row] * direction[row]
        policy.index[item] = value + width * math.sqrt(spread)
    arrange(policy.lists, policy.index, model.position_bias, policy.ranking, rng)
    return policy.ranking


@learn.register(OFUMNL)
def _learn(policy: OFUMNL, ranking: Ranking, clicked: int) -> None:
    policy.rounds += 1.0
    update(policy.model, policy.features, ranking, clicked)
