"""TS-MNL: features of visitors and items, by Thompson sampling with optimistic draws; Oh and Iyengar (2019)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from research.contextual.contextual_mnl import context_of, see_features
from research.contextual.online_logit import OnlineLogit, online_logit, refresh, update
from slotwise.core import validation
from slotwise.core.policy_task import PolicyTask
from slotwise.core.small_linalg import inverse_root
from slotwise.core.types import FloatArray, Ranking
from slotwise.jit import record
from slotwise.optimize.list_solver import arrange
from slotwise.policies.interface import choose, learn, lists_for
from slotwise.policies.policy_registry import register


@record
class TSMNL:
    """Draw θ M times from a normal distribution around its estimate, and rank each item by the largest of its M xᵀθ.

    M = ⌈1 - log K/log(1 - 1/(4√(eπ)))⌉, as in the paper, so that the draws are optimistic for K items at once. The
    estimate and its curvature H are those of `research.contextual.online_logit`, and the covariance of the draws is
    a²H⁻¹. The paper instead maximises the likelihood again in every round, at a growing cost, and takes Σ x xᵀ for H.
    Its a grows like √d log t by its proof; here it is `width`. The paper has no slots: here the k-th largest goes to
    the slot with the k-th largest bias. If no features change from round to round, every item has an indicator of its
    own as its feature.

    The full text of the paper was not available. This is the algorithm as it is commonly described, not checked line by
    line against the paper.
    """

    model: OnlineLogit
    #: a
    width: float
    lists: Any
    #: those of this round, items × features
    features: FloatArray
    #: R with RRᵀ = a²H⁻¹, standard normal numbers, and θ as drawn, M × features
    root: FloatArray
    normal: FloatArray
    drawn: FloatArray
    index: FloatArray
    ranking: Ranking


@register(
    "ts-mnl",
    name="TS-MNL",
    position_bias="known",
    citation="Oh and Iyengar, Thompson Sampling for Multinomial Logit Contextual Bandits (2019)",
    limits={
        "goal": "it supports neither values nor constraints",
        "tally": "it needs the features of each round, which a tally does not have",
    },
    rival=True,
)
def ts_mnl(task: PolicyTask, *, width: float = 0.5, ridge: float = 1.0) -> TSMNL:
    """TS-MNL for slots with a known bias."""
    assert task.position_bias is not None
    context = context_of(task)
    features = np.zeros((task.items, context)) if context else np.eye(task.items)
    count = features.shape[1]
    draws = math.ceil(1.0 - math.log(task.slots) / math.log(1.0 - 0.25 / math.sqrt(math.e * math.pi)))
    return TSMNL(
        model=online_logit(task.position_bias, count, validation.positive_number("ridge", ridge)),
        width=validation.positive_number("width", width),
        lists=lists_for(task),
        features=features,
        root=np.zeros((count, count)),
        normal=np.zeros(count),
        drawn=np.zeros((draws, count)),
        index=np.zeros(task.items),
        ranking=np.zeros(task.slots, np.int64),
    )


@see_features.register(TSMNL)
def _see_features(policy: TSMNL, features: FloatArray) -> None:
    policy.features[:] = features


@choose.register(TSMNL)
def _choose(policy: TSMNL, rng: np.random.Generator) -> Ranking:
    model, features, drawn, normal = policy.model, policy.features, policy.drawn, policy.normal
    draws, count = drawn.shape
    refresh(model)
    inverse_root(model.factor, policy.width, policy.root)
    for draw in range(draws):
        for feature in range(count):
            normal[feature] = rng.standard_normal()
        for feature in range(count):
            value = model.weights[feature]
            for other in range(feature, count):
                value += policy.root[feature, other] * normal[other]
            drawn[draw, feature] = value
    for item in range(len(policy.index)):
        largest = -math.inf
        for draw in range(draws):
            value = 0.0
            for feature in range(count):
                value += features[item, feature] * drawn[draw, feature]
            largest = max(largest, value)
        policy.index[item] = largest
    arrange(policy.lists, policy.index, model.position_bias, policy.ranking, rng)
    return policy.ranking


@learn.register(TSMNL)
def _learn(policy: TSMNL, ranking: Ranking, clicked: int) -> None:
    update(policy.model, policy.features, ranking, clicked)
