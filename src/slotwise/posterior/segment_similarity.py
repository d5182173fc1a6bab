"""How alike segments are is learned, and not known: what that adds to what is not known of an item in one of them.

A belief takes κ, of which α_sj = m_jν_sjε_sj with ε ~ Gamma(κ, κ), at the one value that its EM steps find. Of few
segments that is far from known. Here it has a posterior distribution on a grid,

    p(κ | N) ∝ p(κ) Π_j ∫ p(m_j) Π_s NB(N_sj; κ, m_jν_sjE_sj) dm_j,

the integral over m by Laplace's method in log m, and the prior that of made-up cells which are as alike as those that κ
is learned from (`slotwise.posterior.hyperparameters`), but fewer: lists are better where crowds are taken to be alike
until they
are seen to differ, and intervals are to hold whether they are or not. By the law of total variance, around what is
reported, the variance of log α_sj then is Σ_κ p(κ | N)·(V_κ + (log ᾱ_κ - log ᾱ)²).
"""

from __future__ import annotations

import numpy as np

from slotwise.core.types import BoolArray, FloatArray
from slotwise.posterior.hyperparameters import MAX_ALIKE, OWN_TASTE
from slotwise.posterior.state import IN_USE, Counts, Items, Segments

#: values of κ that are tried, evenly in log κ: from crowds that have little in common to crowds that are alike
GRID = np.geomspace(0.3, MAX_ALIKE, 16)
#: cells that the prior of κ is made of
MADE_UP_CELLS = 0.5
#: cells beyond which κ is known well enough, and finding out how well would take long
MAX_CELLS = 5_000
NEWTON_STEPS = 8
#: of Newton's method in log m
MAX_STEP = 1.0


def variance_of_likeness(counts: Counts, items: Items, segments: Segments, segment: int) -> FloatArray:
    """How much more log α of each item varies in the segment at hand, because κ is not known; none of one segment."""
    number_of_segments, number_of_items = segments.exposure.shape
    seen: BoolArray = np.any(segments.exposure, axis=1)
    if number_of_segments == 1 or seen.sum() * number_of_items > MAX_CELLS:
        return np.zeros(number_of_items)
    # other segments than this one tell of κ only where they were seen
    seen[segment] = True
    clicks, scale = counts.clicks[IN_USE][seen], (items.segment_mean * segments.exposure)[seen]
    tastes = np.append(GRID, segments.similarity)
    level, curvature, evidence = _levels(items, segments, tastes, clicks, scale)
    own = int(np.count_nonzero(seen[:segment]))
    expected = level * scale[own]
    kappa = tastes[:, None]
    # V_κ, and the log of the mean but for what is the same for all
    part = kappa / (kappa + expected)
    varies = 1.0 / (kappa + clicks[own]) + part**2 / curvature
    mean = np.log((kappa + clicks[own]) * level / (kappa + expected))
    weights = np.exp(evidence[:-1] - evidence[:-1].max())
    weights /= weights.sum()
    found: FloatArray = weights @ (varies[:-1] + (mean[:-1] - mean[-1]) ** 2) - varies[-1]
    return np.maximum(0.0, found)


def _levels(
    items: Items, segments: Segments, tastes: FloatArray, clicks: FloatArray, scale: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """For each κ: m at its mode in log m, the curvature there, and the log of p(κ)p(N | κ) but for a constant."""
    # here, as it takes long to import
    from scipy.special import digamma, gammaln

    shape, prior_rate = items.shape, items.shape / items.mean
    kappa, total = tastes[:, None, None], clicks.sum(axis=0)
    log_level = np.tile(np.log(segments.level), (len(tastes), 1))
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
    made_up = MADE_UP_CELLS * (
        tastes * np.log(tastes) - gammaln(tastes) + tastes * (digamma(OWN_TASTE) - np.log(OWN_TASTE) - 1.0)
    )
    return level, curvature, made_up + each.sum(axis=(1, 2)) + of_levels.sum(axis=1)
