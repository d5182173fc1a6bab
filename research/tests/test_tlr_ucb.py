from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from research.further_policies.tlr_ucb import start
from slotwise import MNL, NO_CLICK, PolicyTask, get_policy, simulate
from slotwise.click_models import draw
from slotwise.policies import choose, learn
from slotwise.policies.epochs import Epochs
from tests.statistical_assertions import assert_mean_is_below

USERS = MNL(position_bias=[1.0, 0.6, 0.3], attractiveness=[0.9, 0.7, 0.5, 0.3, 0.2, 0.1])


@pytest.mark.usefixtures("interpreting")
def test_items_are_ranked_by_the_truncated_regression_and_its_bound() -> None:
    bias = np.array([0.9, 0.4])
    started = get_policy("tlr-ucb-like").start(PolicyTask(2, 3, 1_000, bias))
    rng = np.random.default_rng(1)
    responses: list[list[tuple[float, int]]] = [[], [], []]
    for epoch in range(1, 80):
        ranking = choose(started, rng).copy()
        clicks = rng.geometric(0.5, 2) - 1
        if epoch == 40:
            clicks[0] = 30  # far beyond what a geometric variable reaches: counted as none
        for slot in range(2):
            for _ in range(clicks[slot]):
                learn(started, ranking, slot)
            kept = int(clicks[slot]) if clicks[slot] <= 2.0 * math.log2(epoch + 1) else 0
            responses[ranking[slot]].append((bias[slot], kept))
        learn(started, ranking, NO_CLICK)
        if all(responses):
            expected = []
            for seen in responses:
                squares = sum(weight**2 for weight, _ in seen)
                mean = sum(weight * count for weight, count in seen) / squares
                expected.append(mean + math.sqrt(4 * math.log(3 * (epoch + 1) ** 2 / 2) / squares))
            shown = choose(started, rng)
            # by value: items of the same history are equal, and in either order
            assert [expected[item] for item in shown] == pytest.approx(sorted(expected)[:0:-1])


@pytest.mark.usefixtures("interpreting")
def test_ei_tlr_rotates_and_then_goes_on_with_the_bias_that_it_found() -> None:
    started = get_policy("ei-tlr-like").start(PolicyTask(3, 6, 40_000))
    inner, rng = started.policy, np.random.default_rng(2)
    assert inner.exploring == 204  # √40,000 in whole rotations of 6
    shown = np.zeros((3, 6))
    while inner.epochs < inner.exploring:
        ranking = choose(started, rng).copy()
        clicked = draw(USERS, ranking, rng)
        if clicked == NO_CLICK:
            shown[np.arange(3), ranking] += 1
        learn(started, ranking, clicked)
    assert (shown == 34).all()
    # 34·2.7·λ clicks on a slot, geometric ones: the estimate's deviation is below 0.1
    assert np.abs(inner.position_bias - USERS.position_bias).max() < 0.4
    assert inner.position_bias.max() == 1.0
    squares = (inner.position_bias[:, None] ** 2 * inner.shows).sum(axis=0)
    assert inner.squares.tolist() == pytest.approx(squares.tolist())


@pytest.mark.long
def test_regret_grows_like_the_root_and_without_the_slots_in_proportion() -> None:
    """The paper's two claims: Õ(√T) for TLR-UCB, and linear regret for whoever neglects position effects."""

    def neglecting(task: PolicyTask) -> Epochs:
        return start(replace(task, position_bias=None), np.ones(task.slots), exploring=0.0)

    run = simulate(
        USERS, ["tlr-ucb-like", "ei-tlr-like"], rounds=32_000, replications=12, seed=1, record_at=[8_000, 32_000]
    )
    blind = simulate(USERS, neglecting, rounds=32_000, replications=6, seed=1, record_at=[2_000, 8_000, 32_000])[
        "neglecting"
    ]
    for id in ("tlr-ucb-like", "ei-tlr-like"):
        early, late = run[id].regret.T
        # four times the rounds: √4, and a logarithm in the bound
        assert late.mean() / early.mean() < 2.0 * math.sqrt(math.log(32_000) / math.log(8_000)) + 0.2
    first, early, late = blind.regret.mean(axis=0)
    # per round, later and before: 1 if regret grows in proportion, 0.5 if like the root
    assert (late - early) / 24_000 > 0.75 * (early - first) / 6_000
    assert_mean_is_below(run["tlr-ucb-like"].final_regret, blind.final_regret)
