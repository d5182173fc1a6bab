"""OFU-MNL+: features of visitors and items, and an upper bound on what each item weighs; Lee and Oh (2024)."""

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

    β_t = width · √d log(1 + t): the order that the paper has, whose constants are for its proof; `width` and `ridge`
    are choices of ours. The paper has no slots: here the k-th largest goes to the slot of the k-th largest bias, and
    the bias counts in what is learned. Without features that differ from round to round every item has one of its own,
    that it is this item.

    The text of the paper could not be had in full: this is its algorithm as it is known, not checked line by line.
    """

    model: OnlineLogit
    width: float
    lists: Any
    #: t - 1, rounds learned from
    rounds: float
    #: of this round, items × features
    features: FloatArray
    #: room per feature, and the index per item
    direction: FloatArray
    index: FloatArray
    ranking: Ranking


@register(
    "ofu-mnl",
    name="OFU-MNL+",
    position_bias="known",
    citation="Lee and Oh, Nearly Minimax Optimal Regret for Multinomial Logistic Bandit (2024)",
    limits={
        "goal": "it knows no values and no constraints",
        "tally": "what it remembers, the features of those who clicked, does not follow from a tally",
    },
    rival=True,
)
def ofu_mnl(task: PolicyTask, *, width: float = 0.1, ridge: float = 1.0) -> OFUMNL:
    """OFU-MNL+ where the slots have a bias."""
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
        # L⁻¹x, whose length is √(xᵀH⁻¹x)
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
