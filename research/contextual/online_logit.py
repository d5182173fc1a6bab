"""Multinomial logit with features, estimated round by round: online mirror descent, Lee and Oh (2024).

Item j in slot k weighs λ_k exp(x_jᵀθ) against 1 for no click. After each round θ moves by one step against its
curvature, so that a round costs the same however many there were before.
"""

from __future__ import annotations

import math

import numpy as np

from slotwise.core.small_linalg import factorise, solve
from slotwise.core.types import FloatArray, Ranking
from slotwise.jit import inlined, jit, record


@record
class OnlineLogit:
    """θ and its curvature H, of rounds in which items had features x.

    With p the chances of clicks under θ, y the click that was, m = Σ_k p_k x_k and G(θ) = Σ_k p_k x_k x_kᵀ - m mᵀ:

        θ ← θ - η (H + η G(θ))⁻¹ Σ_k (p_k - y_k) x_k,    then    H ← H + G(θ),    η = log(K + 1)/2 + 2

    The paper then brings θ back into a ball that it is known to lie in; here none is known.
    """

    #: λ, per slot
    position_bias: FloatArray
    #: η
    rate: float
    #: θ, and H, features × features
    weights: FloatArray
    curvature: FloatArray
    #: the Cholesky factor of H, below and on the diagonal, once `refresh` was called
    factor: FloatArray
    #: room: per feature, per slot
    least: FloatArray
    step: FloatArray
    mean: FloatArray
    chances: FloatArray


def step_size(slots: int) -> float:
    """η = log(K + 1)/2 + 2."""
    return 0.5 * math.log(slots + 1.0) + 2.0


def online_logit(position_bias: FloatArray, features: int, ridge: float) -> OnlineLogit:
    """Nothing seen yet: θ = 0, H = `ridge` times the identity."""
    return OnlineLogit(
        position_bias=position_bias,
        rate=step_size(len(position_bias)),
        weights=np.zeros(features),
        curvature=ridge * np.eye(features),
        factor=np.zeros((features, features)),
        least=np.zeros(features),
        step=np.zeros(features),
        mean=np.zeros(features),
        chances=np.zeros(len(position_bias)),
    )


@jit
def refresh(model: OnlineLogit) -> None:
    """Bring the factor up to date."""
    _copy_curvature(model)
    factorise(model.factor, model.least, 0)


@jit
def update(model: OnlineLogit, features: FloatArray, ranking: Ranking, clicked: int) -> None:
    """Take in one round, in which items had these features, items × features."""
    _foresee(model, features, ranking)
    step, weights = model.step, model.weights
    for feature in range(len(step)):
        step[feature] = model.mean[feature]
        if clicked >= 0:
            step[feature] -= features[ranking[clicked], feature]
    _copy_curvature(model)
    _add_curvature(model, features, ranking, model.rate, model.factor)
    factorise(model.factor, model.least, 0)
    solve(model.factor, step, 0)
    for feature in range(len(step)):
        weights[feature] -= model.rate * step[feature]
    _foresee(model, features, ranking)
    _add_curvature(model, features, ranking, 1.0, model.curvature)


@inlined
def _copy_curvature(model: OnlineLogit) -> None:
    for row in range(len(model.factor)):
        for column in range(row + 1):
            model.factor[row, column] = model.curvature[row, column]


@inlined
def _foresee(model: OnlineLogit, features: FloatArray, ranking: Ranking) -> None:
    """Fill `chances` with the probability of a click per slot, and `mean` with Σ_k p_k x_k."""
    chances, mean, weights = model.chances, model.mean, model.weights
    total = 1.0
    for slot in range(len(ranking)):
        logarithm = 0.0
        for feature in range(len(weights)):
            logarithm += features[ranking[slot], feature] * weights[feature]
        chances[slot] = model.position_bias[slot] * math.exp(min(logarithm, 300.0))
        total += chances[slot]
    for feature in range(len(mean)):
        mean[feature] = 0.0
    for slot in range(len(ranking)):
        chances[slot] /= total
        for feature in range(len(mean)):
            mean[feature] += chances[slot] * features[ranking[slot], feature]


@inlined
def _add_curvature(
    model: OnlineLogit, features: FloatArray, ranking: Ranking, scale: float, matrix: FloatArray
) -> None:
    """Add `scale` times G to the lower triangle of a matrix."""
    chances, mean = model.chances, model.mean
    for row in range(len(mean)):
        for column in range(row + 1):
            value = -mean[row] * mean[column]
            for slot in range(len(ranking)):
                item = ranking[slot]
                value += chances[slot] * features[item, row] * features[item, column]
            matrix[row, column] += scale * value
