from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from slotwise import MNL, NO_CLICK, Goal, Setting, policy, simulate
from slotwise.bounds.poisson import upper_bound
from slotwise.policies import choose, learn
from slotwise.policies.randomised_moss import KEEP, ORDER, RandomisedMoss
from tests.chance import assert_frequencies

pytestmark = pytest.mark.usefixtures("interpreting")

BIAS = np.array([1.0, 0.5])
FIELDS = ("belief", "prior", "lists", "shown", "mean", "index", "order_index", "ranking")


def _after(history: list[tuple[list[int], int, int]]) -> Any:
    """The policy after so many rounds of each list and outcome."""
    started = policy("randomised-moss-known").start(Setting(2, 4, 10_000, BIAS))
    rng = np.random.default_rng(1)
    for ranking, clicked, times in history:
        for _ in range(times):
            choose(started, rng)
            learn(started, np.array(ranking), clicked)
    choose(started, rng)
    return started


HISTORY = [
    ([0, 1], 0, 90),
    ([0, 1], 1, 20),
    ([0, 1], NO_CLICK, 200),
    ([2, 3], 0, 4),
    ([2, 3], 1, 1),
    ([2, 3], NO_CLICK, 16),
    ([3, 2], NO_CLICK, 6),
]


def _shares(started: Any, draws: int, rng: np.random.Generator) -> dict[tuple[int, ...], int]:
    counted: dict[tuple[int, ...], int] = {}
    last = started.ranking.copy()
    for _ in range(draws):
        # always from the same state: the shortcut depends on the last list, the result must not
        started.ranking[:] = last
        again = RandomisedMoss(**{name: getattr(started, name) for name in FIELDS})
        shown = tuple(sorted(choose(again, rng).tolist()))
        counted[shown] = counted.get(shown, 0) + 1
    return counted


@pytest.mark.parametrize("last", [[0, 1], [1, 0], [2, 0], [3, 2]], ids=str)
def test_sets_are_shown_as_often_as_the_definition_says(last: list[int]) -> None:
    """Against all bounds drawn by NumPy from their definition; the shortcut from the last list changes nothing."""
    started, rng = _after(HISTORY), np.random.default_rng(2)
    started.ranking[:] = last
    counted = _shares(started, 3_000, rng)
    shape, rate = started.belief.shape, started.belief.rate
    fair = (started.shown.rounds + 1) * 2 / 4
    expected: dict[tuple[int, ...], int] = {}
    draws = 40_000
    levels = np.minimum(rng.exponential(size=(draws, 4)), np.log1p(fair / started.shown.shows))
    for row in levels:
        bounds = [upper_bound(shape[j] / rate[j], max(row[j], 1e-15) / rate[j]) for j in range(4)]
        shown = tuple(sorted(np.argsort(bounds)[-2:].tolist()))
        expected[shown] = expected.get(shown, 0) + 1
    assert len(counted) >= 3
    every = sorted(set(expected) | set(counted))
    # the reference is drawn too: its error is small beside that of the counts, and the chance of a false alarm with it
    assert_frequencies([expected.get(one, 0) / draws for one in every], [counted.get(one, 0) for one in every])


def test_the_order_is_by_a_small_bonus_for_what_was_seen_little() -> None:
    started = _after(HISTORY)
    mean, rate = started.belief.shape / started.belief.rate, started.belief.rate
    average = rate.mean()
    for item in started.ranking.tolist():
        q = started.order_index[item]
        if rate[item] >= average:
            assert q == mean[item]
        else:
            divergence = mean[item] * math.log(mean[item] / q) + q - mean[item]
            assert divergence * rate[item] == pytest.approx(ORDER * math.log(average / rate[item]), rel=1e-3)
    first, second = started.ranking
    assert started.order_index[first] >= started.order_index[second]


def test_a_draw_of_the_bias_is_kept_for_a_few_decisions_once_there_are_many_rounds() -> None:
    started, rng = policy("randomised-moss").start(Setting(2, 4, 10_000)), np.random.default_rng(3)
    drawn = []
    for now in range(2_000):
        ranking = choose(started, rng).copy()
        drawn.append(started.belief.position_bias[0])
        learn(started, ranking, NO_CLICK if now % 3 else 0)
    assert len(set(drawn[:100])) == 100
    lengths = np.diff(np.flatnonzero(np.diff(drawn[1_200:])))
    assert (lengths == KEEP).all()


@pytest.mark.long
def test_a_list_is_not_kept_where_values_decide() -> None:
    """As many items as slots, all of them shown, and yet the best list leaves one out: it must be found again."""
    users = MNL(position_bias=[1.0, 0.8], attractiveness=[2.0, 0.5])
    goal = Goal(values=[10.0, 4.0], may_be_empty=True)
    run = simulate(users, "randomised-moss", rounds=20_000, replications=4, seed=1, goal=goal)["randomised-moss"]
    # kept for good, it loses 0.31 a round
    assert run.final_regret.max() < 0.1 * 0.31 * 20_000
