from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from slotwise import MNL, NO_CLICK, Setting, policy
from slotwise.bounds.pairwise import upper_odds
from slotwise.choice import draw
from slotwise.policies import choose, learn

USERS = MNL(position_bias=[0.4, 1.3, 0.1], attractiveness=[0.5, 0.9, 0.2, 2.0, 0.05])


@pytest.mark.usefixtures("interpreting")
@pytest.mark.parametrize("bound", ["kl", "bernstein"])
def test_the_ranking_is_the_best_assignment_of_the_bounds_from_effective_trials(bound: str) -> None:
    started = policy("pairwise-ucb-upb", bound=bound).start(Setting(3, 5, 1_000))
    rng = np.random.default_rng(1)
    for now in range(1_000):
        ranking = choose(started, rng).copy()
        if now % 20 == 0 and (started.item_trials > 0).all():
            # the effective trials are tested by themselves, in tests/estimate/test_pairwise.py
            model = started.model
            trials, odds = model.effective_trials, np.outer(model.position_bias, model.attractiveness)
            scarcity = np.maximum(1.0, trials.mean(axis=1, keepdims=True) / trials)
            level = np.log(scarcity * (1 + np.log(scarcity) ** 2))
            index = np.zeros((3, 5))
            for pair in np.ndindex(3, 5):
                n, g = trials[pair], odds[pair]
                index[pair] = upper_odds(bound == "kl", n * g / (1 + g), n / (1 + g), level[pair], math.inf)
            if np.isfinite(index).all():
                assert started.index == pytest.approx(index, rel=1e-5)
                best = index[linear_sum_assignment(index, maximize=True)].sum()
                assert index[np.arange(3), ranking].sum() == pytest.approx(best, rel=1e-5)
        learn(started, ranking, draw(USERS, ranking, rng))
    assert started.model.trials.sum() == started.item_trials.sum()


@pytest.mark.usefixtures("interpreting")
def test_the_counts_are_the_trials_of_the_tally() -> None:
    started = policy("pairwise-ucb-upb").start(Setting(2, 3, 100))
    learn(started, np.array([2, 0]), 1)
    learn(started, np.array([1, 2]), NO_CLICK)
    assert started.model.clicks.tolist() == [[0, 0, 0], [1, 0, 0]]
    assert started.model.trials.tolist() == [[0, 1, 0], [1, 0, 1]]
    assert started.item_trials.tolist() == [1, 1, 1]


@pytest.mark.usefixtures("interpreting")
def test_an_item_without_a_trial_is_shown_first() -> None:
    started = policy("pairwise-ucb-upb").start(Setting(2, 4, 100))
    rng = np.random.default_rng(1)
    first = choose(started, rng).copy()
    learn(started, first, NO_CLICK)
    assert not set(first) & set(choose(started, rng).tolist())


@pytest.mark.usefixtures("interpreting")
def test_a_wrong_order_of_the_slots_is_not_kept() -> None:
    """Ten thousand rounds of the best list but for two slots exchanged, which alone say nothing against it.

    The estimate is indifferent between the two; what is not known of the slots makes the policy try.
    """
    users = MNL(position_bias=[1.0, 0.2, 0.9], attractiveness=[0.2, 0.15, 0.1, 0.05])
    stuck = np.array([0, 1, 2])
    started = policy("pairwise-ucb-upb").start(Setting(3, 4, 20_000))
    rng = np.random.default_rng(2)
    learn(started, np.array([3, 1, 2]), NO_CLICK)
    for _ in range(10_000):
        learn(started, stuck, draw(users, stuck, rng))
    right = []
    for _ in range(2_000):
        ranking = choose(started, rng).copy()
        right.append(users.attractiveness[ranking[2]] > users.attractiveness[ranking[1]])
        learn(started, ranking, draw(users, ranking, rng))
    assert np.mean(right[:200]) > 0.1
    assert np.mean(right[1_000:]) > 0.9
