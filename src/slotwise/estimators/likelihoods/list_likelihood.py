"""Whole rankings under any model in which a list gets at most one click: the odds of each pair against no click.

With odds γ_kj of item j in slot k, a list A is clicked in slot k with probability γ/(1 + S_A) and not at all with
1/(1 + S_A), S_A being its sum. Multinomial logit has γ_kj = λ_kα_j; other models have other γ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from slotwise.core.rankings import Rankings
from slotwise.core.types import EMPTY, FloatArray, IntArray
from slotwise.jit import jit

#: sweeps over items and slots, and the error of expected clicks, in standard errors, below which they end
MAX_SWEEPS, TOLERANCE = 30, 0.05


class ExpectedClicks(NamedTuple):
    """Expected clicks of the lists that were shown, slots × items, and the log-likelihood of the clicks."""

    clicks: FloatArray
    #: the variance of these clicks, given the lists
    variance: FloatArray
    log_likelihood: float


def expected(rankings: Rankings, odds: FloatArray) -> ExpectedClicks:
    """Return the expected clicks Σ_A T_A γ/(1+S_A) and ℓ = Σ N log γ - Σ_A T_A log(1 + S_A).

    >>> seen = Rankings([[0, 1], [1, 0]], [[30, 21], [12, 8]], [50, 50], items=2)
    >>> result = expected(seen, np.outer([1.0, 0.7], [0.43, 0.40]))
    >>> result.clicks.round(1).tolist(), round(result.log_likelihood, 1)
    ([[25.4, 16.5], [12.4, 16.5]], -164.0)
    """
    clicks, variance = np.zeros(odds.shape), np.zeros(odds.shape)
    log_total = _add_expected(rankings.shown, rankings.times.astype(np.float64), odds, clicks, variance)
    observed = rankings.clicks_by_pair
    clicked = observed > 0
    with np.errstate(divide="ignore"):
        return ExpectedClicks(clicks, variance, float(observed[clicked] @ np.log(odds[clicked])) - log_total)


def log_likelihoods(rankings: Rankings, odds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the log-probability of a click on each slot of each ranking, and of no click; -∞ for an empty slot."""
    shown = rankings.shown
    with np.errstate(divide="ignore"):
        log_odds = np.log(np.where(shown != EMPTY, odds[np.arange(shown.shape[1]), np.maximum(shown, 0)], 0.0))
    silence = -np.log1p(np.exp(log_odds).sum(axis=1))
    return log_odds + silence[:, None], silence


def maximise_likelihood(rankings: Rankings, odds: FloatArray, first_items: Sequence[int] = (0,)) -> FloatArray:
    """Return odds near those of maximum likelihood: the expected clicks of items and slots are the observed ones.

    Factors of items and slots are updated by turns. Lists of several placements have items of their own, numbered one
    placement after the other from each of `first_items` on, and slots of their own.

    >>> seen = Rankings([[0, 1], [1, 0]], [[30, 21], [12, 8]], [50, 50], items=2)
    >>> likeliest = maximise_likelihood(seen, np.outer([1.0, 0.7], [0.43, 0.40]))
    >>> [expected(seen, likeliest).clicks.sum(axis=axis).round(1).tolist() for axis in (0, 1)]
    [[38.0, 33.0], [42.0, 29.0]]
    """
    slots, times = rankings.slots, rankings.times.astype(np.float64)
    items = np.maximum(rankings.shown, 0)
    placement = np.searchsorted(first_items, np.arange(rankings.items), side="right") - 1
    places = placement[items.max(axis=1, initial=0)][:, None] * slots + np.arange(slots)
    gamma = np.where(rankings.shown == EMPTY, 0.0, odds[np.arange(slots), items])
    by = [(items, rankings.items), (places, len(first_items) * slots)]
    clicks = [np.bincount(index.ravel(), rankings.clicks.ravel(), size) for index, size in by]
    factors = [np.ones(size) for _, size in by]
    step = np.ones(len(first_items) * slots)
    for _ in range(MAX_SWEEPS):
        error = 0.0
        for which, (index, size) in enumerate(by):
            means = np.full(size, 1e-300)
            _rescale_and_sum(gamma, times, step, by[1 - which][0], index, means)
            error = max(error, float((np.abs(clicks[which] - means) / np.sqrt(means + 1.0)).max()))
            step = clicks[which] / means
            factors[which] *= step
        if error < TOLERANCE:
            break
    of_slots = factors[1].reshape(-1, slots)[placement].T
    return np.asarray(odds * factors[0] * of_slots)


@jit
def _rescale_and_sum(
    gamma: FloatArray, times: FloatArray, step: FloatArray, last: IntArray, index: IntArray, sums: FloatArray
) -> None:
    """Multiply γ of each cell by the step of its `last` index, and add its expected clicks to a sum by its `index`."""
    for row in range(len(gamma)):
        total = 1.0
        for slot in range(gamma.shape[1]):
            gamma[row, slot] *= step[last[row, slot]]
            total += gamma[row, slot]
        for slot in range(gamma.shape[1]):
            sums[index[row, slot]] += times[row] * gamma[row, slot] / total


@jit
def _add_expected(
    shown: IntArray, times: FloatArray, odds: FloatArray, clicks: FloatArray, variance: FloatArray
) -> float:
    """Add to `clicks` and `variance`; return Σ T log(1 + S)."""
    log_total = 0.0
    for row in range(len(shown)):
        total = 1.0
        for slot in range(shown.shape[1]):
            if shown[row, slot] != EMPTY:
                total += odds[slot, shown[row, slot]]
        log_total += times[row] * math.log(total)
        for slot in range(shown.shape[1]):
            if shown[row, slot] != EMPTY:
                chance = odds[slot, shown[row, slot]] / total
                clicks[slot, shown[row, slot]] += times[row] * chance
                variance[slot, shown[row, slot]] += times[row] * chance * (1.0 - chance)
    return log_total
