"""Posterior variance of an item's attractiveness in a segment from uncertainty about κ, the similarity of segments.

The hierarchical posterior uses one value of κ, in α_sj = m_jν_sjε_sj with ε ~ Gamma(κ, κ), fitted by EM. A few segments
hardly determine it. Here κ has a posterior on a grid,

    p(κ | N) ∝ p(κ) Π_j ∫ p(m_j) Π_s NB(N_sj; κ, m_jν_sjE_sj) dm_j,

the integral over m by Laplace's method in log m. Its prior is that of pseudo-cells, as similar as those that κ is
fitted to (`slotwise.posterior.hyperparameters`), but fewer: lists are better if segments count as similar until they
are seen to differ, and intervals must cover in both cases. By the law of total variance, around the reported mean, the
variance of log α_sj is Σ_κ p(κ | N)·(V_κ + (log ᾱ_κ - log ᾱ)²).
"""

from __future__ import annotations

import numpy as np

from slotwise.core.types import BoolArray, FloatArray
from slotwise.posterior.hyperparameters import MAX_SIMILARITY, SEGMENT_SIMILARITY
from slotwise.posterior.state import IN_USE, ItemPrior, PosteriorCounts, SegmentEffects

#: candidates of κ, even in log κ, from segments with little in common to segments that are alike
GRID = np.geomspace(0.3, MAX_SIMILARITY, 16)
#: pseudo-cells of the prior of κ
PSEUDO_CELLS = 0.5
#: with more cells κ is well determined, and its posterior takes long to compute
MAX_CELLS = 5_000
NEWTON_STEPS = 8
#: the longest step of Newton's method in log m
MAX_STEP = 1.0


def variance_from_similarity(
    counts: PosteriorCounts, items: ItemPrior, segments: SegmentEffects, segment: int
) -> FloatArray:
    """Return the extra variance of log α of each item in a segment due to uncertainty about κ; 0 with one segment."""
    number_of_segments, number_of_items = segments.exposure.shape
    seen: BoolArray = np.any(segments.exposure, axis=1)
    if number_of_segments == 1 or seen.sum() * number_of_items > MAX_CELLS:
        return np.zeros(number_of_items)
    # other segments inform κ only if they were shown something
    seen[segment] = True
    clicks, scale = counts.clicks[IN_USE][seen], (items.segment_mean * segments.exposure)[seen]
    similarities = np.append(GRID, segments.similarity)
    level, curvature, evidence = _levels(items, segments, similarities, clicks, scale)
    own = int(np.count_nonzero(seen[:segment]))
    expected = level * scale[own]
    kappa = similarities[:, None]
    # V_κ, and the log of the mean up to a constant
    part = kappa / (kappa + expected)
    varies = 1.0 / (kappa + clicks[own]) + part**2 / curvature
    mean = np.log((kappa + clicks[own]) * level / (kappa + expected))
    weights = np.exp(evidence[:-1] - evidence[:-1].max())
    weights /= weights.sum()
    extra: FloatArray = weights @ (varies[:-1] + (mean[:-1] - mean[-1]) ** 2) - varies[-1]
    return np.maximum(0.0, extra)


def _levels(
    items: ItemPrior, segments: SegmentEffects, similarities: FloatArray, clicks: FloatArray, scale: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return, for each κ, m at its mode in log m, the curvature there, and log p(κ)p(N | κ) up to a constant."""
    # imported here: it takes half a second, and few callers need it
    from scipy.special import digamma, gammaln

    shape, prior_rate = items.shape, items.shape / items.mean
    kappa, total = similarities[:, None, None], clicks.sum(axis=0)
    log_level = np.tile(np.log(segments.level), (len(similarities), 1))
    for _ in range(NEWTON_STEPS):
        level = np.exp(log_level)
        expected = level[:, None, :] * scale
        pull = (kappa + clicks) / (kappa + expected)
        slope = shape - prior_rate * level + total - (pull * expected).sum(axis=1)
        curvature = prior_rate * level + (pull * expected * kappa / (kappa + expected)).sum(axis=1)
        log_level += np.clip(slope / curvature, -MAX_STEP, MAX_STEP)
    level = np.exp(log_level)
    expected = level[:, None, :] * scale
    each = (
        gammaln(kappa + clicks)
        - gammaln(kappa)
        + kappa * np.log(kappa)
        - (kappa + clicks) * np.log(kappa + expected)
        + clicks * log_level[:, None, :]
    )
    of_levels = shape * log_level - prior_rate * level - 0.5 * np.log(curvature)
    pseudo = PSEUDO_CELLS * (
        similarities * np.log(similarities)
        - gammaln(similarities)
        + similarities * (digamma(SEGMENT_SIMILARITY) - np.log(SEGMENT_SIMILARITY) - 1.0)
    )
    return level, curvature, pseudo + each.sum(axis=(1, 2)) + of_levels.sum(axis=1)
