"""Departures from the model: each test has its level if the model is true, and finds its own departure."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from slotwise import NO_CLICK, Rankings
from slotwise.core.types import FloatArray, IntArray
from slotwise.estimators import departures
from slotwise.estimators.departures import DepartureTest, find_changed_tastes, find_departures
from slotwise.estimators.likelihoods.list_likelihood import maximise_likelihood
from tests.statistical_assertions import FALSE_ALARM

BIAS = np.array([1.0, 0.7, 0.5, 0.35])
ALPHA = np.geomspace(0.1, 1.2, 12)


def lists_of(count: int, rng: np.random.Generator) -> IntArray:
    return np.argsort(rng.random((count, len(ALPHA))), axis=1)[:, : len(BIAS)]


def choices(odds: FloatArray) -> FloatArray:
    return np.asarray(odds / (1.0 + odds.sum(axis=1, keepdims=True)))


def clicks_of(rates: FloatArray, rng: np.random.Generator) -> IntArray:
    """The clicked slots, given the probability of a click on each."""
    clicked = (np.cumsum(rates, axis=1) <= rng.random(len(rates))[:, None]).sum(axis=1)
    return np.where(clicked < rates.shape[1], clicked, NO_CLICK)


def run_tests(lists: IntArray, clicked: IntArray, odds: FloatArray) -> dict[str, DepartureTest]:
    seen = Rankings.of_rounds(lists, clicked, items=len(ALPHA))
    quarter = 4 * np.arange(len(lists)) // len(lists)
    likeliest = maximise_likelihood(seen, odds)
    found = find_departures(seen, odds, likeliest)
    found.append(find_changed_tastes(quarter, lists, clicked, np.ones(len(lists)), likeliest))
    return {test.departure: test for test in found}


@pytest.fixture(scope="module")
def without_a_departure() -> list[dict[str, DepartureTest]]:
    """Tests of 60 logs of the model, with odds that are off by a standard deviation of 15 % for each item and slot."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(60):
        lists = lists_of(1_500, rng)
        clicked = clicks_of(choices(BIAS * ALPHA[lists]), rng)
        off = np.outer(np.exp(0.15 * rng.normal(size=4)), np.exp(0.15 * rng.normal(size=12)))
        found.append(run_tests(lists, clicked, np.outer(BIAS, ALPHA) * off))
    return found


@pytest.mark.parametrize("departure", ["bots", "top to bottom"])
def test_p_values_are_uniform_though_odds_are_off(
    departure: str, without_a_departure: list[dict[str, DepartureTest]]
) -> None:
    p_values = [tests[departure].p_value for tests in without_a_departure]
    assert stats.kstest(p_values, "uniform").pvalue > FALSE_ALARM


@pytest.mark.parametrize("departure", ["mixed visitors", "changed tastes"])
def test_small_p_values_are_rare(departure: str, without_a_departure: list[dict[str, DepartureTest]]) -> None:
    """More than 11 of 60 are below 5 % with a probability of 5e-5."""
    assert sum(tests[departure].p_value < 0.05 for tests in without_a_departure) <= 11


def _bots(lists: IntArray, rng: np.random.Generator) -> FloatArray:
    return np.where(rng.random((len(lists), 1)) < 0.1, 0.25, choices(BIAS * ALPHA[lists]))


def _cascade(lists: IntArray, _rng: np.random.Generator) -> FloatArray:
    attraction = (ALPHA / 2 / (1 + ALPHA / 2))[lists]
    looks = np.cumprod(np.column_stack([np.ones(len(lists)), 1.0 - attraction]), axis=1)
    return attraction * looks[:, :-1]


def _mixed(lists: IntArray, rng: np.random.Generator) -> FloatArray:
    is_other = rng.random((len(lists), 1)) < 0.5
    return np.where(is_other, choices(BIAS * ALPHA[::-1][lists]), choices(BIAS * ALPHA[lists]))


def _swapped(lists: IntArray, _rng: np.random.Generator) -> FloatArray:
    is_later = np.arange(len(lists))[:, None] >= len(lists) // 2
    return np.where(is_later, choices(BIAS * ALPHA[::-1][lists]), choices(BIAS * ALPHA[lists]))


@pytest.mark.parametrize(
    ("departure", "users"),
    [("bots", _bots), ("top to bottom", _cascade), ("mixed visitors", _mixed), ("changed tastes", _swapped)],
)
def test_each_departure_is_found_and_clearest_by_its_own_test(departure: str, users: object) -> None:
    """Scores are 6 standard errors or more from 0 on average; the limit is 2.8."""
    rng = np.random.default_rng(2)
    lists = lists_of(40_000, rng)
    clicked = clicks_of(users(lists, rng), rng)  # type: ignore[operator]
    seen = Rankings.of_rounds(lists, clicked, items=len(ALPHA))
    tests = run_tests(lists, clicked, maximise_likelihood(seen, np.outer(BIAS, ALPHA)))
    assert tests[departure].is_found
    assert min(tests.values(), key=lambda test: test.p_value).departure == departure


def test_one_list_shows_no_departure_of_lists() -> None:
    seen = Rankings([[0, 1, 2]], [[300, 200, 100]], [400], items=3)
    odds = np.array([[0.75, 0, 0], [0, 0.5, 0], [0, 0, 0.25]])
    assert all(not test.is_found and test.smallest == np.inf for test in find_departures(seen, odds, odds))


def test_a_small_log_is_not_conclusive() -> None:
    rng = np.random.default_rng(3)
    lists = lists_of(150, rng)
    tests = run_tests(lists, clicks_of(choices(BIAS * ALPHA[lists]), rng), np.outer(BIAS, ALPHA))
    assert not tests["bots"].is_conclusive
    assert not tests["top to bottom"].is_conclusive


def test_the_smallest_share_of_bots_falls_with_the_square_root_of_the_log() -> None:
    rng = np.random.default_rng(4)
    lists = lists_of(10_000, rng)
    clicked = clicks_of(choices(BIAS * ALPHA[lists]), rng)
    one, four = (
        run_tests(np.tile(lists, (times, 1)), np.tile(clicked, times), np.outer(BIAS, ALPHA))["bots"]
        for times in (1, 4)
    )
    assert one.smallest == pytest.approx(2 * four.smallest, rel=1e-6)


def test_levels_of_the_tests_add_up() -> None:
    assert pytest.approx(4 * departures.TEST_LEVEL) == departures.DEPARTURE_LEVEL


def test_the_law_of_an_eigenvalue_that_one_pair_of_items_makes() -> None:
    """It is |N(0, 1)| then, whose upper 0.1 % begin at 3.29: 10 laws of 400 draws give 0.0005 to 0.002 on average."""
    rng = np.random.default_rng(5)
    laws = [departures._EigenvalueLaw.of(np.abs(rng.normal(size=400)).tolist()) for _ in range(10)]
    assert 0.0005 < np.mean([law.tail(3.29) for law in laws]) < 0.002


def test_opposite_tastes_that_cancel_leave_the_verdict_open() -> None:
    """Items look alike, so the log would not show tastes that differ as little."""
    rng = np.random.default_rng(6)
    lists = lists_of(10_000, rng)
    clicked = clicks_of(choices(np.broadcast_to(BIAS * 0.4, lists.shape)), rng)
    assert not run_tests(lists, clicked, np.outer(BIAS, np.full(12, 0.4)))["mixed visitors"].is_conclusive
    clicked = clicks_of(choices(BIAS * ALPHA[lists]), rng)
    assert run_tests(lists, clicked, np.outer(BIAS, ALPHA))["mixed visitors"].is_conclusive
