"""Feature regression: against scipy, and against the parameters that the data were drawn from."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, special

from slotwise import PolicyTask
from slotwise.core.types import FloatArray
from slotwise.posterior import HierarchicalPosterior, update_by_tally
from slotwise.posterior.feature_regression import (
    LOG_SHAPE_SD,
    MAX_SHAPE,
    PROBABILITY_USELESS,
    RIDGE,
    RIDGES,
    fit_items,
    learn_items,
)
from slotwise.posterior.gamma_prior import EXTRA_ITEMS
from slotwise.posterior.hyperparameters import refit
from slotwise.posterior.posterior_interface import set_segment
from slotwise.posterior.state import ItemFit
from tests.posterior.plain_posterior import parts, plain_hierarchical_posterior
from tests.statistical_assertions import assert_mean_is

pytestmark = pytest.mark.usefixtures("interpreting")

FEATURES, WEIGHTS, NOTHING = 3, np.array([-1.5, 0.8, -0.5, 0.0]), np.array([-1.5, 0.0, 0.0, 0.0])


def _with_features(weights: FloatArray, seed: int, items: int = 40, shape: float = 3.0) -> HierarchicalPosterior:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(items, FEATURES))
    mean = np.exp(weights[0] + features @ weights[1:])
    posterior = plain_hierarchical_posterior(PolicyTask(1, items, 1_000, np.ones(1), features=features), passes="hard")
    passes = np.full((1, items), 100.0)
    update_by_tally(posterior, rng.poisson(rng.gamma(shape, mean / shape) * passes).astype(float), passes)
    for _ in range(3):
        refit(*parts(posterior))
    return posterior


def test_weights_of_features_are_found_within_their_stated_error() -> None:
    """The scores (β̂ - β)/sd of independent data sets have mean 0 and variance 1, up to the shrinkage of the ridge."""
    scores = []
    for seed in range(24):
        posterior = _with_features(WEIGHTS, seed)
        sd = np.sqrt(np.diag(posterior.items.featured.root @ posterior.items.featured.root.T))
        scores.append((posterior.items.featured.weights - WEIGHTS) / sd)
        assert 0.05 < sd.max() < 0.2
    found = np.array(scores)
    # the constant's pseudo-items and the ridge move it by less than half a standard deviation
    assert_mean_is(np.clip(found.mean(axis=0), -0.5, 0.5), found)
    # χ² of 96 scores, nearly independent: its 99.99 % interval, and a margin for the approximation
    assert 0.5 < (found**2).mean() < 1.7


def test_features_are_used_if_they_predict_something() -> None:
    useful, useless = (_with_features(weights, seed=6) for weights in (WEIGHTS, NOTHING))
    assert useful.items.uses_features
    assert useful.items.mean.tolist() == useful.items.featured.mean.tolist()
    assert useful.items.shape == useful.items.featured.shape > 2.0 * useful.items.constant.shape
    assert useful.items.featured.ridge < RIDGE < useless.items.featured.ridge
    assert not useless.items.uses_features
    assert useless.items.mean.tolist() == [useless.items.constant.mean[0]] * 40
    assert useless.items.shape == useless.items.constant.shape


@pytest.mark.parametrize("passes", [30.0, 30_000.0])
def test_few_items_of_two_kinds_are_not_taken_for_items_that_just_differ(passes: float) -> None:
    """Though a shape that lets items differ, as before anything is known, makes features look useless."""
    kinds = np.array([[1.0], [-1.0]] * 3)
    posterior, clicks = (
        plain_hierarchical_posterior(PolicyTask(1, 6, 1_000, np.ones(1), features=kinds), passes="hard"),
        0.5 * passes,
    )
    shown = np.full((1, 6), passes)
    update_by_tally(posterior, np.where(kinds.T > 0.0, clicks, 0.1 * clicks), shown)
    for _ in range(3):
        refit(*parts(posterior))
    assert posterior.items.uses_features
    assert posterior.items.constant.shape < 1.5 < 8.0 < posterior.items.featured.shape


def _log_likelihood(posterior: HierarchicalPosterior, shape: float, weights: FloatArray) -> float:
    """Of clicks that are negative binomial."""
    clicks, exposure = posterior.counts.clicks[0, 0], posterior.segments.exposure[0]
    mean = np.exp(posterior.items.features[:, : len(weights)] @ weights)
    likely = special.gammaln(shape + clicks) - special.gammaln(shape) + shape * np.log(shape / mean)
    return float((likely - (shape + clicks) * np.log(shape / mean + exposure)).sum())


def _pseudo_items(shape: float, constant: float) -> float:
    """The same of the pseudo-items, a click in one unit of exposure each."""
    likely = math.log(shape) + shape * (math.log(shape) - constant)
    return float(EXTRA_ITEMS * (likely - (shape + 1.0) * math.log(shape * math.exp(-constant) + 1.0)))


def _information(
    fit: ItemFit, posterior: HierarchicalPosterior, shape: float, weights: FloatArray, ridge: float
) -> FloatArray:
    """The information of the pseudo-items does not depend on `shape`."""
    features = posterior.items.features[:, : len(weights)]
    expected = np.exp(features @ weights) * posterior.segments.exposure[0]
    found = (features.T * (shape * expected / (shape + expected))) @ features
    middle, held = math.exp(weights[0]), fit.shape
    found[0, 0] += EXTRA_ITEMS * held * middle / (held + middle)
    return np.asarray(found + ridge * np.diag([0.0, *np.ones(len(weights) - 1)]))


def _likely(posterior: HierarchicalPosterior, fit: ItemFit, ridge: float) -> float:
    """How likely the clicks are with a ridge, as a logarithm: its own mode by scipy, and Laplace's method there."""
    shape = fit.shape

    def loss(tried: FloatArray) -> float:
        found = _log_likelihood(posterior, shape, tried) + _pseudo_items(shape, tried[0])
        return 0.5 * ridge * float((tried[1:] ** 2).sum()) - found

    best = optimize.minimize(loss, fit.weights)
    _, determinant = np.linalg.slogdet(_information(fit, posterior, shape, best.x, ridge))
    of_shape = 0.5 * (math.log(shape) / LOG_SHAPE_SD) ** 2
    return 0.5 * (len(fit.weights) - 1) * math.log(ridge) - float(best.fun) - 0.5 * float(determinant) - of_shape


@pytest.mark.parametrize("weights", [WEIGHTS, 0.2 * WEIGHTS, NOTHING])
def test_the_ridge_has_the_average_variance_of_weights_given_the_clicks(weights: FloatArray) -> None:
    posterior = _with_features(weights, seed=6)
    parts = special.softmax([_likely(posterior, posterior.items.featured, ridge) for ridge in RIDGES])
    assert posterior.items.featured.ridge == pytest.approx(1.0 / (parts / RIDGES).sum(), rel=0.1)


@pytest.mark.parametrize("part", [0.0, 0.2, 0.4, 1.0])
def test_the_fit_with_the_larger_marginal_likelihood_is_used(part: float) -> None:
    posterior = _with_features(NOTHING + part * (WEIGHTS - NOTHING), seed=9)
    by_features = special.logsumexp([_likely(posterior, posterior.items.featured, ridge) for ridge in RIDGES])
    lead = by_features - math.log(len(RIDGES)) - _likely(posterior, posterior.items.constant, RIDGE)
    # all ridges by one expansion, and not each by its own
    counts, items, segments = posterior.counts, posterior.items, posterior.segments
    by_features, by_constant = (fit_items(counts, items, segments, fit) for fit in (items.featured, items.constant))
    assert by_features - by_constant == pytest.approx(lead, abs=0.1)
    learn_items(posterior.counts, posterior.items, posterior.segments)
    assert posterior.items.uses_features == (lead > math.log(PROBABILITY_USELESS / (1.0 - PROBABILITY_USELESS)))


@pytest.mark.parametrize("shape", [0.7, 3.0, 15.0])
def test_the_shape_is_where_clicks_are_likeliest(shape: float) -> None:
    """With β integrated out by Laplace's method, and log s normal around 0 before anything is known."""
    posterior = _with_features(WEIGHTS, seed=7, shape=shape)
    fit = posterior.items.featured

    def loss(log_shape: float) -> float:
        tried = math.exp(log_shape)
        _, determinant = np.linalg.slogdet(_information(fit, posterior, tried, fit.weights, fit.ridge))
        of_shape = 0.5 * (log_shape / LOG_SHAPE_SD) ** 2
        return float(0.5 * determinant + of_shape) - _log_likelihood(posterior, tried, fit.weights)

    best = math.exp(optimize.minimize_scalar(loss, bounds=(-3.0, 4.6), method="bounded").x)
    assert fit.shape == pytest.approx(best, rel=0.02)


def test_the_shape_is_bounded_where_features_explain_everything() -> None:
    assert _with_features(WEIGHTS, seed=8, items=200, shape=1e6).items.shape == MAX_SHAPE


def test_the_shape_is_about_1_where_there_is_nothing_to_learn_it_by() -> None:
    posterior = plain_hierarchical_posterior(
        PolicyTask(1, 5, 1_000, np.ones(1), features=np.eye(5)[:, :2]), passes="hard"
    )
    for _ in range(5):
        refit(*parts(posterior))
    assert posterior.items.featured.shape == pytest.approx(1.0, rel=0.01)
    assert posterior.items.featured.ridge == pytest.approx(RIDGE)
    assert not posterior.items.uses_features


def test_several_segments_do_not_bias_the_shape() -> None:
    """Deviations of segments are estimated from the same clicks, which must not count twice."""
    rng, segments, items, own_taste, shape = np.random.default_rng(1), 4, 25, 2.0, 4.0
    features = rng.normal(size=(items, FEATURES))
    level = rng.gamma(shape, np.exp(WEIGHTS[0] + features @ WEIGHTS[1:]) / shape)
    task = PolicyTask(1, items, 1_000, np.ones(1), segments=segments, features=features)
    posterior, passes = plain_hierarchical_posterior(task, passes="hard"), np.full((1, items), 300.0)
    for segment in range(segments):
        set_segment(posterior, segment)
        alpha = level * rng.gamma(own_taste, 1.0 / own_taste, items)
        update_by_tally(posterior, rng.poisson(alpha * passes).astype(float), passes)
    for _ in range(40):
        refit(*parts(posterior))
    # the log of the shape fitted to 25 items has a standard deviation of about 0.35
    assert abs(math.log(posterior.items.shape / shape)) < 4 * 0.35


def test_collinear_features_do_no_harm() -> None:
    features = np.random.default_rng(10).normal(size=(30, 1)) * np.array([1e7, 1e7])
    posterior = plain_hierarchical_posterior(PolicyTask(1, 30, 1_000, np.ones(1), features=features), passes="hard")
    passes = np.full((1, 30), 50.0)
    update_by_tally(posterior, np.random.default_rng(11).poisson(0.2 * passes).astype(float), passes)
    assert np.isfinite(posterior.items.featured.weights).all()
    assert math.isfinite(posterior.items.featured.ridge)
