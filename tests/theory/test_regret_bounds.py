from __future__ import annotations

import math

import numpy as np
import pytest

from slotwise import simulate
from slotwise.click_models import best_ranking, best_ranking_by_brute_force, regret
from slotwise.core.errors import InvalidInput
from slotwise.theory import (
    hard_instance,
    hardest_gap,
    lower_bound,
    lower_bound_shape,
    upper_bound_known_bias,
    upper_bound_unknown_bias,
)

BIAS = [1.0, 0.6, 0.3]


def test_upper_bounds_by_hand() -> None:
    # J = 10, T = 1000, K = 3, λ from 0.3 to 1
    logarithmic = (9 * 4 + 14 * 30 / 0.3 * math.log(5e6)) * (math.log(1000) + 1)
    assert upper_bound_known_bias(10, 1_000, BIAS) == pytest.approx(
        logarithmic + math.sqrt(192 * math.log(1e7) * 10_000 / 0.3)
    )
    assert upper_bound_unknown_bias(10, 1_000, BIAS, constant=2.0) == pytest.approx(
        32 + math.sqrt(288 * 10 * 81 * 1_000 * math.log(1e7))
    )


def test_bounds_grow_like_the_square_root_of_time() -> None:
    for bound in (upper_bound_known_bias, upper_bound_unknown_bias):
        assert bound(20, 10**14, BIAS) / bound(20, 10**12, BIAS) == pytest.approx(10, rel=0.12)
    assert lower_bound_shape(20, 400, BIAS) == pytest.approx(2 * lower_bound_shape(20, 100, BIAS))
    assert lower_bound(20, 10**10, BIAS) == pytest.approx(10 * lower_bound(20, 10**8, BIAS))


def test_the_gap_is_the_best_one() -> None:
    at_best = lower_bound(20, 10_000, BIAS)
    gap = hardest_gap(20, 10_000, BIAS)
    squares, total = 1.45, 1.9
    ratio = 3 / squares

    def proven(epsilon: float) -> float:
        loss = math.sqrt(17 * ratio * total * 10_000**3 * epsilon**4 / (2 * squares * 18))
        return epsilon * 10_000 / 7 - epsilon * ratio * total * 10_000 / (7 * 18) - loss

    assert at_best == pytest.approx(proven(gap))
    assert at_best >= max(proven(epsilon) for epsilon in np.linspace(0.0001, 0.5, 5_000))


def test_the_lower_bound_is_below_the_regret_of_policies_on_its_hard_instance() -> None:
    rounds = 5_000
    users = hard_instance(12, BIAS, hardest_gap(12, rounds, BIAS))
    for label, run in simulate(users, ["epoch-ucb", "pbm-ucb"], rounds=rounds, replications=10, seed=1).items():
        assert lower_bound(12, rounds, BIAS) < run.mean, label
        assert run.mean < upper_bound_known_bias(12, rounds, BIAS)


def test_the_hard_instance_is_the_construction_of_the_proof() -> None:
    users = hard_instance(5, BIAS, gap=0.2, best=[3, 0, 4])
    assert best_ranking(users).tolist() == best_ranking_by_brute_force(users).tolist() == [3, 0, 4]
    total, squares = 1.9, 1.45
    assert users.attractiveness == pytest.approx(
        [1 / total + 0.2 * 0.6 / squares, 1 / total, 1 / total, 1 / total + 0.2 / squares, 1 / total + 0.06 / squares]
    )
    # r(a) - r(a') = (1+ε)/(2+ε) - ½ for a list of none of its items' gaps
    assert regret(hard_instance(9, BIAS, gap=0.2), [6, 7, 8]) == pytest.approx(1.2 / 2.2 - 0.5)


@pytest.mark.parametrize(
    ("items", "bias", "message"),
    [
        (11, BIAS, "at least 12 items, four per slot, got 11"),
        (12, [0.5, 0.4, 0.3], "Σλ² > 1, got 0.5"),
        (12, [1.0, 0.3, 0.6], "1 ≥ λ_1 > λ_2"),
        (12, [1.5, 0.6, 0.3], "1 ≥ λ_1 > λ_2"),
    ],
)
def test_the_lower_bound_names_its_requirements(items: int, bias: list[float], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        lower_bound(items, 100, bias)


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidInput, match="items must be at least 3, got 2"):
        upper_bound_known_bias(2, 100, BIAS)
    with pytest.raises(InvalidInput, match="rounds must be at least 1, got 0"):
        upper_bound_unknown_bias(5, 0, BIAS)
    with pytest.raises(InvalidInput, match=r"gap must be above 0 and at most 0\.5, got 0\.7"):
        hard_instance(5, BIAS, gap=0.7)
