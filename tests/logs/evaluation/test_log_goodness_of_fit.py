"""Observed against fitted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from slotwise import Rankings
from slotwise.logs.evaluation.log_goodness_of_fit import goodness
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.holdout_split import split
from tests.logs.synthetic_impressions import rankings
from tests.statistical_assertions import FALSE_ALARM

ODDS = np.outer([1.0, 0.6, 0.4, 0.3], [0.5, 0.3, 0.2, 0.8, 0.1, 0.4, 0.05, 0.6])


@pytest.mark.parametrize("estimator", ["scaling", "maximum-likelihood"])
def test_p_values_are_uniform_if_the_model_is_true(estimator: str) -> None:
    rng = np.random.default_rng(1)
    found = [goodness(Fit.of_rankings(rankings(ODDS, 1_000, rng), estimator=estimator)) for _ in range(150)]
    p = [one.test.p_value for one in found if one is not None]
    assert stats.kstest(p, "uniform").pvalue > FALSE_ALARM


def test_maximum_likelihood_expects_the_clicks_of_every_slot() -> None:
    """By its equations: only the pairs can be off."""
    found = goodness(Fit.of_rankings(rankings(ODDS, 3_000, np.random.default_rng(2)), estimator="maximum-likelihood"))
    assert found is not None
    assert found.fitted == pytest.approx(found.observed, rel=1e-6)
    assert found.fitted_no_click == pytest.approx(found.no_click, rel=1e-6)
    assert found.standard_error == pytest.approx(np.sqrt(found.observed * (1 - found.observed) / 3_000))


def test_an_item_that_gains_in_one_slot_shows() -> None:
    odds = ODDS.copy()
    odds[1, 3] *= 3.0
    found = goodness(Fit.of_rankings(rankings(odds, 20_000, np.random.default_rng(3))))
    assert found is not None
    assert found.test.p_value < FALSE_ALARM
    assert (found.worst[0].slot, found.worst[0].item) == (2, "3")
    assert found.worst[0].clicks > found.worst[0].expected
    assert not found.in_words().startswith("Yes")


def test_the_excess_equals_the_simulated_one() -> None:
    """Pairs that are off by 20 %, give or take: the estimate of it is within a fifth, eight standard errors or so."""
    rng = np.random.default_rng(4)
    odds = np.outer(np.linspace(1.0, 0.3, 8), np.geomspace(0.02, 0.2, 40)) * np.exp(0.2 * rng.normal(size=(8, 40)))
    found = goodness(Fit.of_rankings(rankings(odds, 60_000, rng)))
    assert found is not None
    assert found.test.excess == pytest.approx(0.2, rel=0.2)


def test_a_log_without_testable_pairs_is_undecided() -> None:
    found = goodness(Fit.of_rankings(Rankings([[0, 1]], [[30, 20]], [50], items=2)))
    assert found is not None
    assert np.isnan(found.test.p_value)
    assert found.in_words().startswith("Undecided:")


def test_a_sample_of_a_log_from_the_model_fits() -> None:
    """Parameters of the whole log take up hardly any degrees of freedom of a small sample of it.

    Of 40 logs the p-value is below 5 % in more than 9 with a probability of 1e-5; it was in most of them when a sample
    was taken to have estimated its parameters itself.
    """
    rng = np.random.default_rng(11)
    odds = np.outer([1.0, 0.7, 0.5], np.linspace(0.1, 0.5, 40))
    low = 0
    for _ in range(40):
        whole = rankings(odds, 40_000, rng)
        sample, _ = split(whole, 0.1, rng)
        fit = replace(Fit.of_rankings(whole, estimator="scaling"), rankings=sample, sampled=True)
        found = goodness(fit)
        assert found is not None
        low += found.test.p_value < 0.05
    assert low <= 9
