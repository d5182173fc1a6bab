"""Fits of the hierarchical posterior with hyperparameters that are given: for studies of its samplers."""

from __future__ import annotations

import numpy as np

from slotwise.core.types import FloatArray
from slotwise.jit import jit
from slotwise.posterior.feature_regression import learn_items, use_fit
from slotwise.posterior.hyperparameters import fit_bias, learn_levels, update_means
from slotwise.posterior.sampling import draw_for_segment, draw_shared
from slotwise.posterior.state import IN_USE, HierarchicalPosterior

#: EM steps of the levels between two fits of the position bias
STEPS = 3


def set_counts(posterior: HierarchicalPosterior, clicks: FloatArray, passes: FloatArray) -> None:
    """Count clicks and passes, segments × items × slots, in place of all counted before, and fit nothing."""
    counts = posterior.counts
    counts.pair_clicks[IN_USE] = clicks
    counts.clicks[IN_USE] = clicks.sum(axis=2)
    counts.slot_clicks[IN_USE] = clicks.sum(axis=1)
    counts.unlisted_passes[IN_USE] = passes
    counts.passes[:] = passes
    counts.item_rounds[:] = passes.sum(axis=(0, 2))


@jit
def fit_with_prior(
    posterior: HierarchicalPosterior, shape: float, mean: FloatArray, similarity: float, times: int
) -> None:
    """Fit position bias and levels in turn, with s, μ and κ held."""
    counts, bias, items, segments = posterior.counts, posterior.bias, posterior.items, posterior.segments
    items.shape = shape
    segments.similarity = similarity
    for item in range(len(mean)):
        items.mean[item] = mean[item]
    for _ in range(times):
        fit_bias(counts, bias, items, segments)
        for _ in range(STEPS):
            learn_levels(counts, items, segments)
            segments.similarity = similarity
        update_means(counts, bias, items, segments)


@jit
def fit_weights_with_prior(posterior: HierarchicalPosterior, shape: float, ridge: float, times: int) -> None:
    """Fit position bias and the weights of features in turn, with s and the ridge held."""
    counts, bias, items, segments = posterior.counts, posterior.bias, posterior.items, posterior.segments
    items.featured.shape = shape
    use_fit(items, True)
    for _ in range(times):
        fit_bias(counts, bias, items, segments)
        learn_items(counts, items, segments)
        items.featured.shape = shape
        items.featured.ridge = ridge
        use_fit(items, True)
    fit_bias(counts, bias, items, segments)
    update_means(counts, bias, items, segments)


@jit
def use_pair_effects(posterior: HierarchicalPosterior, similarity: float) -> None:
    """Give the posterior effects of pairs with this ν, as if the test had fired."""
    pairs = posterior.counts.pairs
    _, items, slots = posterior.counts.passes.shape
    pairs.weight = np.ones((items, slots))
    pairs.clicks, pairs.expected = np.zeros((items, slots)), np.zeros((items, slots))
    pairs.is_used, pairs.similarity = True, similarity


@jit
def redraw(posterior: HierarchicalPosterior, rng: np.random.Generator) -> None:
    """Draw for the current segment, whether or not the last draw is still in use."""
    draw_shared(posterior, rng)
    draw_for_segment(posterior, rng)
