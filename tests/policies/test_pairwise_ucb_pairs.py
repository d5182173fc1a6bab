from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from slotwise import MNL, NO_CLICK, Setting, policy
from slotwise.bounds.pairwise import upper_odds
from slotwise.choice import draw
from slotwise.policies import choose, learn

pytestmark = pytest.mark.usefixtures("interpreting")


@pytest.mark.parametrize("bound", ["kl", "bernstein"])
def test_the_ranking_is_the_best_assignment_of_the_pairs_bounds(bound: str) -> None:
    users = MNL(position_bias=[1.0, 0.3, 0.7], attractiveness=[0.9, 0.2, 0.6, 0.4])
    started = policy("pairwise-ucb-pairs", bound=bound).start(Setting(3, 4, 1_500))
    rng = np.random.default_rng(1)
    clicks, passes = np.zeros((3, 4)), np.zeros((3, 4))
    for now in range(1_500):
        new = passes == 0
        ranking = choose(started, rng).copy()
        if new.any():
            # a pair without a pass may be worth anything: as many of them as possible are shown
            assert new[np.arange(3), ranking].sum() == new[linear_sum_assignment(new, maximize=True)].sum()
        elif now % 20 == 0:
            trials = clicks + passes
            scarcity = np.maximum(1.0, trials.sum(axis=1, keepdims=True) / 4 / trials)
            level = np.log(scarcity * (1 + np.log(scarcity) ** 2))
            index = np.array(
                [
                    upper_odds(bound == "kl", *pair, math.inf)
                    for pair in zip(clicks.ravel(), passes.ravel(), level.ravel(), strict=True)
                ]
            ).reshape(3, 4)
            if np.isfinite(index).all():
                assert started.index == pytest.approx(index, rel=1e-5)
                best = index[linear_sum_assignment(index, maximize=True)].sum()
                assert index[np.arange(3), ranking].sum() == pytest.approx(best)
        clicked = draw(users, ranking, rng)
        learn(started, ranking, clicked)
        if clicked == NO_CLICK:
            passes[np.arange(3), ranking] += 1
        else:
            clicks[clicked, ranking[clicked]] += 1
    assert (passes > 0).all()
