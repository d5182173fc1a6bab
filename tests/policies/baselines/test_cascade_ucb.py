from __future__ import annotations

import math

import numpy as np
import pytest

from slotwise import NO_CLICK, PolicyTask, get_policy, simulate
from slotwise.click_models import Cascade, draw
from slotwise.policies import choose, learn
from slotwise.policies.indices.kl_bernoulli import upper_probability
from tests.statistical_assertions import assert_mean_is_below


@pytest.mark.usefixtures("interpreting")
@pytest.mark.parametrize("id", ["cascade-ucb1", "cascade-kl-ucb"])
def test_the_index_is_that_of_kveton(id: str) -> None:
    users = Cascade(slots=2, attraction=[0.6, 0.2, 0.4, 0.3])
    started = get_policy(id).start(PolicyTask(2, 4, 500))
    rng = np.random.default_rng(1)
    looks, clicks = np.zeros(4), np.zeros(4)
    for now in range(1, 200):
        ranking = choose(started, rng).copy()
        if (looks > 0).all():
            if id == "cascade-ucb1":
                index = clicks / looks + np.sqrt(1.5 * math.log(now - 1) / looks)
            else:
                level = math.log(now) + 3 * math.log(math.log(now))
                index = np.array([upper_probability(c, n, level) for c, n in zip(clicks, looks, strict=True)])
            assert index[ranking].tolist() == pytest.approx(np.sort(index)[::-1][:2].tolist(), rel=1e-3)
        clicked = draw(users, ranking, rng)
        learn(started, ranking, clicked)
        looked_at = ranking if clicked == NO_CLICK else ranking[: clicked + 1]
        looks[looked_at] += 1
        if clicked != NO_CLICK:
            clicks[ranking[clicked]] += 1
    assert started.looks.tolist() == looks.tolist()


@pytest.mark.long
def test_regret_in_the_papers_setting() -> None:
    """§5.1: K items of attraction 0.2 among L of 0.05. Both keep to the bound of Theorem 3, and KL-UCB loses less."""
    items, slots, gap, rounds = 16, 2, 0.15, 20_000
    users = Cascade(slots=slots, attraction=[0.2] * slots + [0.2 - gap] * (items - slots))
    run = simulate(users, ["cascade-ucb1", "cascade-kl-ucb"], rounds=rounds, replications=10, seed=1)
    ucb1, kl = (run[id].final_regret for id in ("cascade-ucb1", "cascade-kl-ucb"))
    assert_mean_is_below(kl, ucb1)
    assert ucb1.max() < (items - slots) * 12 / gap * math.log(rounds) + math.pi**2 / 3 * items
