"""OFU-MNL+: features of visitors and items, and an upper bound on each item's weight; Lee and Oh (2024)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from research.contextual.contextual_mnl import context_of, see_features
from research.contextual.online_logit import OnlineLogit, online_logit, refresh, step_size, update
from slotwise.core import validation
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import FloatArray, Ranking
from slotwise.jit import inlined, record
from slotwise.optimize.list_solver import arrange
from slotwise.policies.interface import choose, learn, lists_for
from slotwise.policies.policy_registry import register


@record
class OFUMNL:
    """Rank by xᵀθ + β_t √(xᵀH⁻¹x) with θ and H of `research.contextual.online_logit`.

    H starts as λ times the identity. The option `constants` has

        paper        λ = 84√2 dη and the paper's β_t, with B = 1 and δ = 1:
                     β² = 2η[(3 log(1 + (K+1)t) + 3)(17λ/16 + 2√λ c + 16c²) + 2 + 7√6/6 dη log(1 + (t+1)/2λ)] + 4λ,
                     c = log(2√(1 + 2t)),  η = log(K + 1)/2 + 2
        experiments  the same with a tenth of β_t, as in the authors' experiments
        tuned        λ = 1 and β_t = 0.1 √d log(1 + t), our own choice

    The constants are those of the authors' public code. The paper has no slots: here the k-th largest goes to the slot
    of the k-th largest bias, and the bias is part of the likelihood. If no features change from round to round, every
    item has an indicator of its own as its feature.

    The full text of the paper was not available. This is the algorithm as it is commonly described, not checked line by
    line against the paper. Its authors bring θ back into a ball of radius B, which is not done here.
    """

    model: OnlineLogit
    #: whether β_t is our own, and the multiple of it
    tuned: bool
    width: float
    #: λ
    ridge: float
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
def ofu_mnl(task: PolicyTask, *, constants: str = "paper") -> OFUMNL:
    """OFU-MNL+ for slots with a known bias."""
    assert task.position_bias is not None
    validation.one_of("constants", constants, ("paper", "experiments", "tuned"))
    context = context_of(task)
    features = np.zeros((task.items, context)) if context else np.eye(task.items)
    count = features.shape[1]
    ridge = 1.0 if constants == "tuned" else 84.0 * math.sqrt(2.0) * count * step_size(task.slots)
    return OFUMNL(
        model=online_logit(task.position_bias, count, ridge),
        tuned=constants == "tuned",
        width=1.0 if constants == "paper" else 0.1,
        ridge=ridge,
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
    width = policy.width * _radius(policy, policy.rounds + 1.0)
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


@inlined
def _radius(policy: OFUMNL, now: float) -> float:
    """β_t."""
    count = len(policy.model.weights)
    if policy.tuned:
        return math.sqrt(count) * math.log(1.0 + now)
    slots, ridge, rate = len(policy.ranking), policy.ridge, policy.model.rate
    level = math.log(2.0 * math.sqrt(1.0 + 2.0 * now))
    noise = 17.0 / 16.0 * ridge + 2.0 * math.sqrt(ridge) * level + 16.0 * level * level
    steps = 2.0 + math.sqrt(6.0) * 7.0 / 6.0 * rate * count * math.log(1.0 + (now + 1.0) / (2.0 * ridge))
    return math.sqrt(2.0 * rate * ((3.0 * math.log(1.0 + (slots + 1.0) * now) + 3.0) * noise + steps) + 4.0 * ridge)


@learn.register(OFUMNL)
def _learn(policy: OFUMNL, ranking: Ranking, clicked: int) -> None:
    policy.rounds += 1.0
    update(policy.model, policy.features, ranking, clicked)
