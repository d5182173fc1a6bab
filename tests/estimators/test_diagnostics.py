"""Goodness of fit: p-values are uniform under the model, and misfits are found."""

from __future__ import annotations

import numpy as np
from scipy import stats

from slotwise.core.tally import Tally
from slotwise.core.types import FloatArray
from slotwise.estimators import scaling
from slotwise.estimators.diagnostics import GoodnessOfFit, goodness_of_fit
from tests.statistical_assertions import FALSE_ALARM

ODDS = np.outer([1.0, 0.6, 0.3], [0.3, 0.2, 0.15, 0.1, 0.05])


def fit_of_tally(odds: FloatArray, passes: int, seed: int) -> GoodnessOfFit:
    """Draw the clicks of each pair given its passes, estimate, and test the estimates."""
    clicks = np.random.default_rng(seed).negative_binomial(passes, 1.0 / (1.0 + odds))
    tally = Tally(clicks, np.full(odds.shape, passes))
    estimate = scaling(tally)
    fitted = np.outer(estimate.position_bias, estimate.attractiveness)
    expected = fitted * tally.passes
    return goodness_of_fit(tally.clicks, expected, expected * (1.0 + fitted))


def test_p_values_of_a_tally_are_uniform_if_the_model_is_true() -> None:
    p_values = [fit_of_tally(ODDS, 2_000, seed).p_value for seed in range(300)]
    assert stats.kstest(p_values, "uniform").pvalue > FALSE_ALARM


def test_a_small_misfit_of_many_clicks_is_close_or_rough_and_a_large_one_is_poor() -> None:
    for factor, verdict in ((1.03, "close"), (1.2, "rough"), (2.0, "poor")):
        odds = ODDS.copy()
        odds[1] *= [factor, 1 / factor, factor, 1 / factor, 1.0]
        assert fit_of_tally(odds, 200_000, 1).verdict == verdict


def test_a_fit_without_more_pairs_than_parameters_is_untestable() -> None:
    fit = goodness_of_fit(np.full((1, 3), 50), np.full((1, 3), 40.0), np.full((1, 3), 40.0))
    assert fit.verdict == "untestable"
    assert np.isnan(fit.p_value)
