"""Statistical tests with a stated probability of failing by chance.

Every test that uses these has a fixed seed, so that it either always passes or always fails; `FALSE_ALARM` is the
chance that a correct program would have been given a seed on which it fails.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

FALSE_ALARM = 1e-4


def assert_mean_is(expected: ArrayLike, samples: ArrayLike) -> None:
    """Each column of `samples` has its mean where it is expected: z-tests, Bonferroni over the columns."""
    values = np.asarray(samples, np.float64)
    values = values.reshape(len(values), -1)
    error = values.std(axis=0, ddof=1) / math.sqrt(len(values))
    distance = values.mean(axis=0) - np.broadcast_to(np.ravel(expected), values.shape[1])
    scores = np.abs(distance) / np.where(error > 0, error, np.where(distance == 0, 1.0, 1e-300))
    limit = stats.norm.isf(FALSE_ALARM / 2 / values.shape[1])
    assert scores.max() < limit, f"{scores.max():.1f} standard errors off, {limit:.1f} allowed"


def assert_frequencies(probabilities: ArrayLike, counts: ArrayLike) -> None:
    """`counts` are a multinomial sample: chi-square, cells of fewer than five expected counts merged into one."""
    observed = np.asarray(counts, np.float64)
    expected = np.asarray(probabilities, np.float64) * observed.sum()
    rare = expected < 5
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    p = stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue
    assert p > FALSE_ALARM, f"p = {p:.2g}"


def assert_mean_is_below(lower: ArrayLike, higher: ArrayLike) -> None:
    """The mean of the first samples is below that of the second: a z-test of independent samples.

    It fails by chance where the means are so near that their order could have come out the other way.
    """
    one, other = np.asarray(lower, np.float64), np.asarray(higher, np.float64)
    error = math.sqrt(one.var(ddof=1) / len(one) + other.var(ddof=1) / len(other))
    score = (other.mean() - one.mean()) / error
    limit = stats.norm.isf(FALSE_ALARM)
    assert score > limit, (
        f"{one.mean():.4g} against {other.mean():.4g}: {score:.1f} standard errors, {limit:.1f} wanted"
    )
