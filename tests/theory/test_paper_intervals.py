from __future__ import annotations

import math

import numpy as np
import pytest

from slotwise import MNL, Tally
from slotwise.core.errors import InvalidInput
from slotwise.estimators import algorithm_1, known_bias, sensitivity
from slotwise.theory import (
    corollary_1,
    lemma_3,
    lemma_3_from_data,
    theorem_1,
    theorem_1_from_data,
    theorem_2,
    theorem_2_intervals,
    theorem_2_radius,
)

BIAS = np.array([1.0, 0.5])


def _tally(epochs: int, seed: int) -> Tally:
    """Complete epochs of random rankings of three items in two slots."""
    users = MNL(position_bias=BIAS, attractiveness=[0.5, 0.3, 0.8])
    rng = np.random.default_rng(seed)
    rankings = rng.permuted(np.tile(np.arange(3), (epochs, 1)), axis=1)[:, :2]
    gamma = users.position_bias * users.attractiveness[rankings]
    clicks = rng.poisson(gamma * rng.exponential(size=(epochs, 1)))
    shown = rankings[:, :, None] == np.arange(3)
    return Tally((clicks[:, :, None] * shown).sum(axis=0), shown.sum(axis=0))


@pytest.fixture(scope="module")
def tally() -> Tally:
    return _tally(2_000, seed=1)


def test_inverted_intervals_end_where_their_inequality_does(tally: Tally) -> None:
    clicks = tally.clicks.sum(axis=0)
    exposure, second = BIAS @ tally.passes, BIAS**2 @ tally.passes
    log_c = math.log(2 / 0.1)
    made = theorem_1(tally, BIAS, level=0.9)
    for end in (made.low, made.high):
        slack = np.sqrt(2 * (end * exposure + end**2 * second) * log_c) + 4 * log_c
        assert np.abs(clicks - end * exposure) == pytest.approx(slack)
    c = math.log(3 * 2_000**2 / 2)
    made = lemma_3(tally, BIAS)
    mean = clicks / exposure
    for end in (made.low, made.high):
        assert np.abs(mean - end) == pytest.approx(np.sqrt(4 * end * c / exposure) + 4 * c / exposure)
    assert made.level == pytest.approx(1 - 4 / 6_000)


def test_intervals_from_data_are_the_papers(tally: Tally) -> None:
    clicks, exposure = tally.clicks.sum(axis=0), BIAS @ tally.passes
    log_c = math.log(4 / 0.05)
    made = theorem_1_from_data(tally, BIAS)
    assert made.high - clicks / exposure == pytest.approx((np.sqrt(8 * clicks * log_c) + 4 * log_c) / exposure)
    c = math.log(3 * 2_000**2 / 2)
    made = lemma_3_from_data(tally, BIAS)
    mean = clicks / exposure
    assert made.high - mean == pytest.approx(np.sqrt(8 * mean * c / exposure) + 8 * c / exposure)
    assert made.level == pytest.approx(1 - 6 / 6_000)


def test_corollary_1_is_the_papers(tally: Tally) -> None:
    made = corollary_1(tally)
    wanted = algorithm_1(tally).attractiveness + 6 * sensitivity(tally) * math.sqrt(math.log(3 * 2_000**2))
    assert made.high == pytest.approx(wanted)


def test_a_higher_level_is_wider_and_more_data_narrower(tally: Tally) -> None:
    for interval in (theorem_1, theorem_1_from_data):
        assert (interval(tally, BIAS, level=0.99).width > interval(tally, BIAS, level=0.9).width).all()
    for adaptive in (lemma_3, lemma_3_from_data):
        assert (adaptive(_tally(200, seed=2), BIAS).width > adaptive(tally, BIAS).width).all()
    assert (theorem_2_intervals(tally, 0.99).width > theorem_2_intervals(tally, 0.9).width).all()


def test_theorem_1_covers_more_often_than_it_promises_and_a_truth_moved_away_less() -> None:
    """400 tallies of 400 epochs: it is conservative, and seldom holds what is half as much again or a third less."""
    made = [theorem_1(_tally(400, seed), BIAS, level=0.5) for seed in range(400)]
    truth = np.array([0.5, 0.3, 0.8])
    share = np.mean([one.covers(truth) for one in made])
    # were it exact, 1,200 intervals at 50 % would cover more than 56 % by chance once in 10,000
    assert share > 0.56
    assert np.mean([one.covers(truth * 1.5) for one in made]) < 0.2
    assert np.mean([one.covers(truth / 1.5) for one in made]) < 0.2


def test_items_never_shown_may_be_anything() -> None:
    tally = Tally(np.array([[4, 0], [2, 0]]), np.array([[9, 0], [9, 0]]))
    for made in (theorem_1(tally, BIAS), theorem_1_from_data(tally, BIAS), lemma_3(tally, BIAS), corollary_1(tally)):
        assert made.low[1] == 0.0
        assert made.high[1] == math.inf
        assert np.isfinite(made.high[0])
    assert known_bias(tally, BIAS).attractiveness[0] == pytest.approx(6 / 13.5)


def test_theorem_2_is_the_minimum_of_its_chernoff_bound() -> None:
    """Over all slopes η that the proof admits: exp(η²β_1²M - ηδ)."""
    p, beta_1, beta_2 = 0.5, 0.2, 0.1
    spread = beta_1**2 * math.sqrt(1 - p) / (p * (1 - (1 - p) ** 0.25))
    slopes = np.linspace(0, -math.log(1 - p) / (2 * beta_2), 200_001)[1:]
    for deviation in (0.5, 2.0, 8.0):
        wanted = float(np.exp(slopes**2 * spread - slopes * deviation).min())
        assert theorem_2(deviation, beta_1, beta_2, p) == pytest.approx(wanted, rel=1e-6)


def test_the_exponent_of_the_statement_is_not_that_of_the_proof_for_large_deviations() -> None:
    """The smaller of the two exponents, as stated, is always the first; the proof does not give it beyond its range."""
    p, beta_1, beta_2, deviation = 0.5, 0.2, 0.1, 8.0
    spread = beta_1**2 * math.sqrt(1 - p) / (p * (1 - (1 - p) ** 0.25))
    stated = math.exp(-(deviation**2) / (4 * spread))
    assert theorem_2(deviation, beta_1, beta_2, p) > 10 * stated


def test_at_the_radius_the_bound_equals_the_error_probability() -> None:
    for beta_2 in (1e-4, 0.05, 0.5):
        radius = theorem_2_radius(0.95, 0.2, beta_2)
        assert 2 * theorem_2(radius, 0.2, beta_2) == pytest.approx(0.05)


def test_arguments_are_checked(tally: Tally) -> None:
    with pytest.raises(InvalidInput, match=r"level must be between 0 and 1, got 1\.5"):
        theorem_1(tally, BIAS, level=1.5)
    with pytest.raises(InvalidInput, match="at least one complete epoch, got none"):
        lemma_3(Tally.empty(2, 3), BIAS)
    with pytest.raises(InvalidInput, match="at least one complete epoch, got none"):
        corollary_1(Tally.empty(2, 3))
    with pytest.raises(InvalidInput, match="beta_1 must be positive, got 0"):
        theorem_2(1.0, 0, 1.0)
    with pytest.raises(InvalidInput, match="one entry per slot, 2, got 3"):
        theorem_1(tally, [1.0, 0.5, 0.2])


def test_little_data_gives_an_interval_without_an_upper_end() -> None:
    """With little data the slack grows with α as fast as α·Λ does: no α is too large."""
    made = theorem_1(Tally(np.zeros((2, 3), int), np.array([[5, 3, 2], [2, 5, 3]])), BIAS)
    assert (made.low == 0).all()
    assert (made.high == math.inf).all()
