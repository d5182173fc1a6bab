from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from slotwise import EMPTY, PolicyTask, Tally
from slotwise.posterior import best_list, update_by_tally
from slotwise.posterior.best_list_draws import best_list_probabilities as chances_of
from tests.posterior.plain_posterior import fixed_prior_posterior, plain_hierarchical_posterior
from tests.statistical_assertions import assert_frequencies

pytestmark = pytest.mark.usefixtures("interpreting")

TALLY = Tally(np.array([[9, 6, 2, 0], [3, 4, 1, 0]]), np.array([[20, 20, 20, 0], [20, 20, 20, 0]]))


def best_list_probabilities(
    tally: Tally, *, shape: float, rate: float, position_bias: np.ndarray | None = None, **options: Any
) -> np.ndarray:
    task = PolicyTask(tally.slots, tally.items, 1, position_bias)
    posterior: Any
    if position_bias is None:
        posterior = plain_hierarchical_posterior(task, passes="hard")
    else:
        posterior = fixed_prior_posterior(task, shape, rate)
    update_by_tally(posterior, tally.clicks, tally.passes)
    return chances_of(posterior, position_bias=position_bias, **options)


def test_one_slot_two_items_is_a_beta_probability() -> None:
    """With the bias known and equal exposure, α_0/(α_0 + α_1) is Beta(s + N_0, s + N_1)."""
    tally, draws = Tally(np.array([[12, 8]]), np.array([[40, 40]])), 20_000
    found = best_list_probabilities(
        tally, shape=0.5, rate=1.0, position_bias=np.array([0.7]), draws=draws, rng=np.random.default_rng(1)
    )
    chance = stats.beta.sf(0.5, 12.5, 8.5)
    assert_frequencies([chance, 1 - chance], found * draws)


@pytest.mark.parametrize("bias", [None, np.array([1.0, 0.5])], ids=["learned", "known"])
def test_probabilities_add_up_to_the_slots_and_are_zero_for_excluded_items(bias: np.ndarray | None) -> None:
    rng = np.random.default_rng(2)
    chances = best_list_probabilities(TALLY, shape=0.5, rate=1.0, position_bias=bias, rng=rng)
    assert chances.sum() == pytest.approx(2.0)
    assert chances[0] > chances[2]
    without = best_list_probabilities(
        TALLY, shape=0.5, rate=1.0, position_bias=bias, excluded=np.array([0, 1]), rng=rng
    )
    assert without.tolist() == [0.0, 0.0, 1.0, 1.0]
    single = best_list_probabilities(
        TALLY, shape=0.5, rate=1.0, position_bias=bias, excluded=np.array([0, 1, 3]), rng=rng
    )
    assert single.tolist() == [0.0, 0.0, 1.0, 0.0]


def test_values_decide() -> None:
    values = np.array([1.0, 1.0, 100.0, 1.0])
    chances = best_list_probabilities(TALLY, shape=0.5, rate=1.0, values=values, rng=np.random.default_rng(3))
    assert chances[2] == 1.0


def test_items_never_shown_have_equal_probabilities() -> None:
    tally, draws = Tally.empty(1, 5), 10_000
    chances = best_list_probabilities(tally, shape=0.5, rate=1.0, draws=draws, rng=np.random.default_rng(4))
    assert_frequencies(np.full(5, 0.2), chances * draws)


def test_equal_posteriors_have_equal_probabilities() -> None:
    once, again = (best_list_probabilities(TALLY, shape=0.5, rate=1.0) for _ in range(2))
    assert np.array_equal(once, again)


@pytest.mark.parametrize("values", [None, np.array([1.0, 3.0, 2.0, 9.0, 1.0])], ids=["clicks", "values"])
@pytest.mark.parametrize("excluded", [None, np.array([1])], ids=["all", "excluded"])
def test_no_list_is_better_than_the_best(values: np.ndarray | None, excluded: np.ndarray | None) -> None:
    alpha, bias = np.array([0.3, 0.5, 0.2, 0.05, 0.4]), np.array([0.4, 1.0, 0.7])
    worth = np.ones(5) if values is None else values

    def value(ranking: Any) -> float:
        weights = bias * alpha[list(ranking)]
        return float(weights @ worth[list(ranking)] / (1.0 + weights.sum()))

    allowed = [item for item in range(5) if excluded is None or item not in excluded]
    found = best_list(alpha, bias, values=values, excluded=excluded)
    assert value(found) == pytest.approx(max(map(value, permutations(allowed, 3))))
    assert set(found.tolist()) <= set(allowed)


@pytest.mark.parametrize("values", [None, np.array([1.0, 2.0])], ids=["clicks", "values"])
def test_the_slots_that_are_seen_least_stay_empty(values: np.ndarray | None) -> None:
    alpha, bias = np.array([0.3, 0.5]), np.array([0.2, 1.0, 0.7])
    assert best_list(alpha, bias, values=values).tolist() == [EMPTY, 1, 0]
    there = np.array([True, False, True])
    assert best_list(alpha, bias, values=values, slots=there).tolist() == [0, EMPTY, 1]
    without = best_list(alpha, bias, values=values, excluded=np.array([1]), slots=there)
    assert without.tolist() == [EMPTY, EMPTY, 0]
