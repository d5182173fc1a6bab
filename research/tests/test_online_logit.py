from __future__ import annotations

import math

import numpy as np
import pytest

from research.contextual.online_logit import online_logit, refresh, update

pytestmark = pytest.mark.usefixtures("interpreting")


def test_a_step_is_that_of_the_paper() -> None:
    rng = np.random.default_rng(1)
    bias, ridge = np.array([1.0, 0.5]), 1.5
    model = online_logit(bias, 3, ridge)
    theta, h, eta = np.zeros(3), ridge * np.eye(3), 0.5 * math.log(3) + 2

    def foreseen(x: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        weight = bias * np.exp(x @ at)
        p = weight / (1 + weight.sum())
        return p, (x.T * p) @ x - np.outer(p @ x, p @ x)

    for now in range(30):
        features, ranking, clicked = rng.normal(size=(4, 3)), rng.permutation(4)[:2], int(rng.integers(-1, 2))
        x = features[ranking]
        p, g = foreseen(x, theta)
        y = np.arange(2) == clicked
        theta = theta - eta * np.linalg.solve(h + eta * g, (p - y) @ x)
        h = h + foreseen(x, theta)[1]
        update(model, features, ranking, clicked)
        assert model.weights == pytest.approx(theta), now
    refresh(model)
    lower = np.tril(model.factor)
    assert lower @ lower.T == pytest.approx(h)
