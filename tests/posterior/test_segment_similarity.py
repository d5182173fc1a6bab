"""The variance due to the similarity of segments: against the integral on a fine grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma

from slotwise import PolicyTask
from slotwise.core.types import FloatArray
from slotwise.posterior import posterior_after, segment_similarity, summarize_posterior
from slotwise.posterior.hyperparameters import SEGMENT_SIMILARITY
from tests.logs.synthetic_impressions import rankings
from tests.posterior.plain_posterior import plain_hierarchical_posterior
from tests.statistical_assertions import assert_mean_is

BIAS = np.array([1.0, 0.6, 0.3])


def _extra_variance(clicks: Any, exposure: Any, segment: int = 0, similarity: float = 8.0) -> FloatArray:
    """Of items in a segment, given the clicks and the exposure of segments × items."""
    exposure = np.array(exposure, float)
    segments, items = exposure.shape
    posterior = plain_hierarchical_posterior(PolicyTask(1, items, 1, segments=segments), own_taste=similarity)
    posterior.counts.clicks[0] = clicks
    posterior.segments.exposure[:] = exposure
    posterior.items.shape = 2.0
    posterior.items.mean[:] = posterior.segments.level[:] = 0.3
    return segment_similarity.variance_from_similarity(posterior.counts, posterior.items, posterior.segments, segment)


@pytest.mark.parametrize("clicks", [[[6], [40]], [[20], [24]], [[0], [3]]], ids=["differ", "alike", "hardly seen"])
def test_it_is_the_variance_under_the_posterior_of_kappa(clicks: list[list[int]]) -> None:
    """Of one item and two segments; m and κ have a grid of their own here, in place of a mode and a curvature."""
    kappa, level = np.meshgrid(segment_similarity.GRID, np.geomspace(1e-4, 30.0, 4_000), indexing="ij")
    log_joint = stats.gamma(2.0, scale=0.15).logpdf(level) + np.log(level)
    for ((count,),) in zip(clicks, strict=True):
        log_joint += stats.nbinom(kappa, kappa / (kappa + 100.0 * level)).logpmf(count)
    log_joint += segment_similarity.PSEUDO_CELLS * (
        stats.gamma.logpdf(1.0, kappa, scale=1.0 / kappa)
        + kappa * (digamma(SEGMENT_SIMILARITY) - np.log(SEGMENT_SIMILARITY))
    )
    joint = np.exp(log_joint - log_joint.max())
    of_kappa = joint.sum(axis=1) / joint.sum()

    def mean(x: Any) -> Any:
        return (joint * x).sum(axis=1) / joint.sum(axis=1)

    log_level = np.log(level)
    spread = mean(log_level**2) - mean(log_level) ** 2
    taste, middle, seen = segment_similarity.GRID, np.exp(mean(log_level)), clicks[0][0]

    def varies(taste: Any, middle: Any, spread: Any) -> Any:
        return 1.0 / (taste + seen) + (taste / (taste + 100.0 * middle)) ** 2 * spread

    def log_mean(taste: Any, middle: Any) -> Any:
        return np.log((taste + seen) * middle / (taste + 100.0 * middle))

    at = {name: np.interp(np.log(8.0), np.log(taste), of) for name, of in (("middle", middle), ("spread", spread))}
    around = log_mean(8.0, at["middle"])
    wanted = of_kappa @ (varies(taste, middle, spread) + (log_mean(taste, middle) - around) ** 2)
    more = _extra_variance(clicks, [[100.0], [100.0]])[0]
    assert more == pytest.approx(max(0.0, wanted - varies(8.0, **at)), rel=0.15, abs=0.004)


def test_where_there_is_one_segment_or_very_many_cells_there_is_nothing_to_add() -> None:
    assert _extra_variance([[3, 4]], [[10.0, 10.0]]).tolist() == [0.0, 0.0]
    many = np.full((3, segment_similarity.MAX_CELLS // 2), 5.0)
    assert not _extra_variance(many, 9.0 * many).any()


def test_a_segment_never_shown_anything_is_less_certain_if_the_others_differ() -> None:
    exposure = [[100.0] * 6, [100.0] * 6, [0.0] * 6]
    like, unlike = ([[20] * 6, [20, 22, 18, 21, 19, 20], [0] * 6], [[5, 40] * 3, [40, 5] * 3, [0] * 6])
    more = [_extra_variance(clicks, exposure, segment=2).mean() for clicks in (like, unlike)]
    assert more[1] > 5.0 * more[0]


def test_90_percent_intervals_cover_at_least_80_percent_with_two_hardly_seen_segments() -> None:
    """The worst that was found; taken as if κ were known, it was 75 %, and it is 90 % once more was seen."""
    rng = np.random.default_rng(5)
    covered = []
    for _ in range(120):
        alpha = rng.gamma(2.0, 0.1, 12) * rng.gamma(1.0, 1.0, (2, 12))
        seen = {segment: rankings(np.outer(BIAS, of), 60, rng).tally for segment, of in enumerate(alpha)}
        posterior = posterior_after(PolicyTask(3, 12, 1, segments=2), [seen])
        for segment, of in enumerate(alpha):
            found = (
                summarize_posterior(posterior, seen[segment], None, segment=segment)
                .estimate.intervals(0.9)
                .attractiveness
            )
            covered.append(found.covers(of).mean())
    assert_mean_is(np.clip(np.mean(covered), 0.8, 0.95), covered)
