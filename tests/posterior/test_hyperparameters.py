"""Hyperparameters: against scipy, and against the parameters that the data were drawn from."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize, special

from slotwise import NO_CLICK, PolicyTask, Rankings
from slotwise.core.types import EMPTY, FloatArray
from slotwise.estimators import maximum_likelihood
from slotwise.posterior import HierarchicalPosterior, draw_parameters, update, update_by_tally
from slotwise.posterior.counts import weigh_lists
from slotwise.posterior.gamma_prior import NO_EXPOSURE
from slotwise.posterior.hyperparameters import (
    find_mode,
    fit_bias,
    refit,
    update_means,
)
from slotwise.posterior.posterior_interface import set_segment
from tests.posterior.plain_posterior import drawn_rounds, list_sum, parts, plain_hierarchical_posterior
from tests.statistical_assertions import assert_mean_is

pytestmark = pytest.mark.usefixtures("interpreting")

SHAPE, RATE, STRENGTH = 0.7, 1.3, 2.0


def _held(posterior: HierarchicalPosterior, shape: float = SHAPE, rate: float = RATE) -> HierarchicalPosterior:
    """With a prior of items that is given and not learned."""
    posterior.items.shape = shape
    posterior.items.mean[:] = shape / rate
    return posterior


def _counts(segments: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Clicks and passes, segments × slots × items; one cell was never passed."""
    rng = np.random.default_rng(seed)
    passes = rng.integers(0, 60, (segments, 3, 4)).astype(float)
    passes[-1, :, 3] = 0.0
    return rng.poisson(0.3 * passes).astype(float), passes


@pytest.mark.parametrize("segments", [1, 3])
def test_the_mode_is_the_maximum(segments: int) -> None:
    """ℓ(log λ) = Σ_k [(c + N_k) log λ_k - cλ_k] - Σ_cells (a + N) log(b + Σ_k λ_k δ_k Ñ_k), by scipy."""
    posterior = _held(
        plain_hierarchical_posterior(PolicyTask(3, 4, 100, segments=segments), passes="hard", bias_shape=STRENGTH)
    )
    clicks, passes = _counts(segments, 1)
    rng = np.random.default_rng(2)
    if segments > 1:
        posterior.segments.similarity, posterior.segments.is_used[:] = 5.0, True
        posterior.segments.level[:] = rng.uniform(0.2, 0.5, 4)
        posterior.segments.slot_deviation[:] = rng.uniform(0.8, 1.2, (segments, 3))
    shape = SHAPE if segments == 1 else 5.0
    rate = np.full(4, RATE) if segments == 1 else 5.0 / posterior.segments.level

    def loss(log_bias: FloatArray) -> float:
        bias = np.exp(log_bias)
        of_slots = (STRENGTH + clicks.sum(axis=(0, 2))) * log_bias - STRENGTH * bias
        exposure = np.einsum("k,sk,skj->sj", bias, posterior.segments.slot_deviation, passes)
        return float(((shape + clicks.sum(axis=1)) * np.log(rate + exposure)).sum() - of_slots.sum())

    posterior.counts.item_rounds[:] = 1.0
    posterior.counts.clicks[0], posterior.counts.slot_clicks[0] = clicks.sum(axis=1), clicks.sum(axis=2)
    for _ in range(2):
        passed = np.ascontiguousarray(passes.transpose(0, 2, 1))
        find_mode(posterior.counts, 0, passed, posterior.bias, posterior.bias.mode, posterior.items, posterior.segments)
    best = optimize.minimize(loss, np.zeros(3), tol=1e-10).x
    assert posterior.bias.mode == pytest.approx(best, abs=1e-5)
    # and the root that draws are made with is that of the curvature there
    step, shifts = 1e-3, 1e-3 * np.eye(3)
    signs = ((-1, -1), (-1, 1), (1, -1), (1, 1))
    curvature = [
        [sum(s * t * loss(best + s * a + t * b) for s, t in signs) / 4 / step**2 for b in shifts] for a in shifts
    ]
    lower = np.tril(posterior.bias.cholesky)
    assert lower @ lower.T == pytest.approx(np.array(curvature), rel=1e-3, abs=1e-3)


def _with_counts(**options: Any) -> HierarchicalPosterior:
    posterior = _held(
        plain_hierarchical_posterior(PolicyTask(3, 4, 100), passes="hard", bias_shape=STRENGTH, **options)
    )
    (clicks, passes), counts = _counts(1, 1), posterior.counts
    counts.clicks[0], counts.slot_clicks[0] = clicks.sum(axis=1), clicks.sum(axis=2)
    counts.unlisted_passes[0] = counts.passes[:] = passes.transpose(0, 2, 1)
    counts.rounds = counts.item_rounds[:] = 1_000.0
    return posterior


def test_the_spread_is_a_root_of_the_inverse_curvature() -> None:
    posterior = _with_counts()
    fit_bias(*parts(posterior))
    lower, root = np.tril(posterior.bias.cholesky), posterior.bias.root
    assert root @ root.T == pytest.approx(np.linalg.inv(lower @ lower.T))
    assert np.array_equal(root, np.triu(root))


def test_draws_of_the_bias_have_the_mode_as_their_mean_and_that_spread() -> None:
    posterior, rng = _with_counts(), np.random.default_rng(1)
    fit_bias(*parts(posterior))
    # as if there were nothing more to learn
    posterior.refit_at = math.inf
    drawn = []
    for _ in range(4_000):
        posterior.draw.decisions_left = 0
        draw_parameters(posterior, rng)
        drawn.append(np.log(posterior.position_bias))
    mode, root = posterior.bias.mode, posterior.bias.root
    assert_mean_is(mode, drawn)
    assert_mean_is(np.diag(root @ root.T), (np.array(drawn) - mode) ** 2)


def _segments(taste: float, seed: int, segments: int = 4, items: int = 30) -> HierarchicalPosterior:
    """The fit to Poisson clicks of segments with ε ~ Gamma(taste, taste) and a known λ."""
    rng = np.random.default_rng(seed)
    posterior = plain_hierarchical_posterior(
        PolicyTask(2, items, 1_000, np.array([1.0, 0.5]), segments=segments), passes="hard"
    )
    level = rng.gamma(3.0, 0.1, items)
    for segment in range(segments):
        alpha = level * (rng.gamma(taste, 1.0 / taste, items) if taste < math.inf else 1.0)
        passes = np.full((2, items), 200.0)
        set_segment(posterior, segment)
        update_by_tally(posterior, rng.poisson(np.outer([1.0, 0.5], alpha) * passes).astype(float), passes)
    for _ in range(20):
        refit(*parts(posterior))
    return posterior


def test_the_similarity_of_segments_is_estimated() -> None:
    same, near, far = (_segments(taste, seed=4) for taste in (math.inf, 30.0, 2.0))
    assert same.segments.similarity > 100.0
    # the standard error of log κ from 120 cells is about 0.15
    assert near.segments.similarity == pytest.approx(30.0, rel=0.5)
    assert far.segments.similarity == pytest.approx(2.0, rel=0.5)
    assert same.segments.similarity > near.segments.similarity > far.segments.similarity
    # and the spread of items among themselves with it
    assert same.items.shape == pytest.approx(3.0, rel=0.6)


def test_the_similarity_of_segments_is_the_fixed_point_of_em() -> None:
    """κ maximises Σ_cells log ∫ Poisson·Gamma given the levels, and the expected term of the pseudo-cells; by scipy."""
    posterior = _segments(5.0, seed=5)
    clicks, exposure, level = posterior.counts.clicks[0], posterior.segments.exposure, posterior.segments.level
    start, extra = 20.0, 2.0

    def loss(log_taste: float) -> float:
        k = math.exp(log_taste)
        rate = k / level
        cells = special.gammaln(k + clicks) - special.gammaln(k)
        cells = cells + k * np.log(rate) - (k + clicks) * np.log(rate + exposure)
        # a pseudo-cell has E ε = 1 and E log ε = ψ(20) - log 20
        made_up = k * math.log(k) - special.gammaln(k) + k * (special.digamma(start) - math.log(start)) - k
        return -float(cells.sum() + extra * made_up)

    best = math.exp(optimize.minimize_scalar(loss, bounds=(-2.0, 8.0), method="bounded").x)
    assert posterior.segments.similarity == pytest.approx(best, rel=0.02)


def test_items_without_exposure_teach_nothing() -> None:
    one, other = (
        plain_hierarchical_posterior(PolicyTask(1, items, 100, np.ones(1)), passes="hard") for items in (3, 4)
    )
    passes = np.array([[30.0, 20.0, 40.0, 0.0]])
    clicks = np.array([[9.0, 1.0, 4.0, 5.0]])
    update_by_tally(one, clicks[:, :3], passes[:, :3])
    update_by_tally(other, clicks, passes)
    assert one.items.shape == other.items.shape
    assert other.segments.exposure[0, 3] < NO_EXPOSURE


ALPHA, BIAS = np.array([0.9, 0.3, 1.5, 0.6]), np.array([1.0, 0.5])


def _at_the_truth(posterior: HierarchicalPosterior) -> None:
    posterior.segments.mean[:] = ALPHA
    posterior.segments.mean_bias[:] = BIAS


def test_soft_passes_at_the_truth_are_rounds_over_one_plus_the_sum() -> None:
    """T_A/(1+S_A) for each pair of a list, clicked or not: the mean of hard passes, with a smaller variance."""
    soft = plain_hierarchical_posterior(PolicyTask(2, 4, 1_000))
    expected, rng = np.zeros((4, 2)), np.random.default_rng(7)
    hard, counts = [], []
    for ranking, clicked in drawn_rounds(np.outer(BIAS, ALPHA), 2_000, rng):
        if rng.random() < 0.1:
            ranking[1], clicked = EMPTY, NO_CLICK
        _at_the_truth(soft)
        update(soft, ranking, clicked)
        weight = 1.0 / (1.0 + list_sum(soft, 0, ranking))
        for slot, item in enumerate(ranking):
            if item != EMPTY:
                expected[item, slot] += weight
        if ranking[1] != EMPTY:
            hard.append(float(clicked == NO_CLICK) - weight)
        counts.append(weight)
    assert soft.counts.passes[0] == pytest.approx(expected, rel=1e-12)
    assert soft.counts.no_clicks == pytest.approx(sum(counts), rel=1e-12)
    # weighed again from the table it is the same
    weigh_lists(soft.counts, soft.segments, 0, soft.counts.passes)
    assert soft.counts.passes[0] == pytest.approx(expected, rel=1e-12)
    assert_mean_is(0.0, hard)


def _fixed_point(posterior: HierarchicalPosterior, times: int = 100) -> None:
    for _ in range(times):
        fit_bias(*parts(posterior))
        update_means(*parts(posterior))


def _soft(strength: float, shape: float, rate: float, rounds: list[tuple[Any, int]]) -> HierarchicalPosterior:
    posterior = _held(plain_hierarchical_posterior(PolicyTask(2, 4, 1_000), bias_shape=strength), shape, rate)
    for ranking, clicked in rounds:
        update(posterior, ranking, clicked)
    _fixed_point(posterior)
    return posterior


def test_soft_passes_settle_at_the_joint_maximum() -> None:
    """Of Σ N log γ - Σ_A T_A log(1+S_A) with both Gamma priors on log λ and log α; by scipy."""
    rounds = drawn_rounds(np.outer(BIAS, ALPHA), 300, np.random.default_rng(8))
    posterior = _soft(STRENGTH, SHAPE, RATE, rounds)

    def loss(parameters: FloatArray) -> float:
        bias, alpha = np.exp(parameters[:2]), np.exp(parameters[2:])
        found = (STRENGTH * (parameters[:2] - bias)).sum() + (SHAPE * parameters[2:] - RATE * alpha).sum()
        for ranking, clicked in rounds:
            gamma = bias * alpha[ranking]
            found += (0.0 if clicked == NO_CLICK else math.log(gamma[clicked])) - math.log1p(gamma.sum())
        return -float(found)

    best = np.exp(optimize.minimize(loss, np.zeros(6), tol=1e-8).x)
    assert posterior.segments.mean_bias[0] == pytest.approx(best[:2], rel=1e-3)
    assert posterior.segments.mean[0] == pytest.approx(best[2:], rel=1e-3)


def test_soft_passes_with_hardly_a_prior_are_maximum_likelihood() -> None:
    """Most visits click here, and hard passes, which leave those out, are not."""
    rounds = drawn_rounds(np.outer(BIAS, 2.0 * ALPHA), 1_000, np.random.default_rng(9))
    estimate = maximum_likelihood(Rankings.of_rounds(*map(np.array, zip(*rounds, strict=True)), items=4))
    posterior = _soft(1e-3, 1e-3, 1e-3, rounds)
    scale = posterior.segments.mean_bias[0, 0]
    assert posterior.segments.mean_bias[0] / scale == pytest.approx(estimate.position_bias, rel=2e-3)
    assert posterior.segments.mean[0] * scale == pytest.approx(estimate.attractiveness, rel=2e-3)
    hard = _held(plain_hierarchical_posterior(PolicyTask(2, 4, 1_000), passes="hard", bias_shape=1e-3), 1e-3, 1e-3)
    for ranking, clicked in rounds:
        update(hard, ranking, clicked)
    _fixed_point(hard, 5)
    assert np.abs(hard.segments.mean[0] * hard.segments.mean_bias[0, 0] / estimate.attractiveness - 1.0).max() > 0.02
