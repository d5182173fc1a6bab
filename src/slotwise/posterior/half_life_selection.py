"""Half-life selection by one-step-ahead predictive likelihood over counts by period.

As in `slotwise.posterior.forgetting`, which does it incrementally inside a policy: under each half-life the counts of
the past
decay, and its score is the log-probability that they give to the clicks of the next period.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from slotwise.core.types import BoolArray, FloatArray, IntArray
from slotwise.posterior.forgetting import FADE, LEAD

#: first parameter of the beta prime prior of an item's attractiveness
SHAPE = 1.0


class CountsByPeriod(NamedTuple):
    """Counts by period and item, one row for each period in which an item was shown, in order of time."""

    #: per period: its time, in the unit of the half-lives, and whether its clicks are predicted or only learned from
    times: FloatArray
    is_scored: BoolArray
    #: per row
    period: IntArray
    item: IntArray
    clicks: FloatArray
    #: E = Σ_k λ_k·passes_k
    exposure: FloatArray

    @classmethod
    def of_matrices(cls, clicks: FloatArray, exposure: FloatArray) -> CountsByPeriod:
        """Of matrices, periods × items, where a period is the unit of time."""
        period, item = np.nonzero((clicks > 0.0) | (exposure > 0.0))
        times, is_scored = np.arange(len(clicks), dtype=np.float64), np.ones(len(clicks), bool)
        return cls(times, is_scored, period, item, clicks[period, item], exposure[period, item])


def best_half_life(counts: CountsByPeriod, half_lives: Sequence[float]) -> float | None:
    """Return the half-life under which decayed counts predicted the next period's clicks best; None to forget nothing.

    A half-life is used if its score leads that of forgetting nothing by `LEAD`, in nats: about 1 in 100 series of
    counts without a change has one.

    Parameters
    ----------
    counts
        Clicks and exposure by period and item.
    half_lives
        The candidates, in the unit of `counts.times`.

    Examples
    --------
    >>> clicks = np.where(np.arange(40) < 20, 90.0, 20.0)[:, None]
    >>> series = [CountsByPeriod.of_matrices(clicks[:end], np.full((end, 1), 100.0)) for end in (40, 20)]
    >>> [best_half_life(counts, (20.0, 5.0, 2.0)) for counts in series]
    [2.0, None]
    """
    clicks, exposure = counts.clicks.sum(), counts.exposure.sum()
    if len(np.unique(counts.period)) < 2 or not (clicks > 0.0 and exposure > 0.0):
        return None
    tried = np.array([math.inf, *half_lives])
    of_rows = _predictive(_decayed(counts, tried), SHAPE * exposure / clicks, counts.clicks, counts.exposure)
    of_periods = np.zeros((len(counts.times), len(tried)))
    np.add.at(of_periods, counts.period, of_rows.T)
    scores = np.zeros(len(tried))
    for added in of_periods[counts.is_scored]:
        scores = FADE * scores + added
    best = 1 + int(scores[1:].argmax())
    return float(tried[best]) if scores[best] > scores[0] + LEAD else None


def _decayed(counts: CountsByPeriod, half_lives: FloatArray) -> FloatArray:
    """Clicks and exposure of each row's item before its period, 2 × half-lives × rows."""
    items = counts.item.max() + 1
    # at the time when the item was last shown
    last, shown_at = np.zeros((2, len(half_lives), items)), np.full(items, counts.times[0])
    decayed = np.empty((2, len(half_lives), len(counts.item)))
    ends = np.searchsorted(counts.period, np.arange(len(counts.times)), side="right")
    begin = 0
    for time, end in zip(counts.times.tolist(), ends.tolist(), strict=True):
        item = counts.item[begin:end]
        past = last[:, :, item] * 0.5 ** ((time - shown_at[item]) / half_lives[:, None])
        decayed[:, :, begin:end] = past
        last[:, :, item] = past + np.stack([counts.clicks[begin:end], counts.exposure[begin:end]])[:, None]
        shown_at[item] = time
        begin = end
    return decayed


def _predictive(past: FloatArray, prior_exposure: float, clicks: FloatArray, exposure: FloatArray) -> FloatArray:
    """The log-probability of clicks after a past, half-lives × rows, less the terms that all half-lives share.

    Between two passes an item is clicked a geometric number of times, so clicks given passes are negative binomial. A
    beta prime prior of the odds is conjugate: log B(a + n, b + e) - log B(a, b), with a and b the past clicks and
    exposure and the prior's. A Poisson likelihood would be less dispersed than the clicks are, and prefer short
    half-lives, whose predictions are wider, though nothing changes. `prior_exposure` is the exposure that the prior is
    worth. An item without exposure predicts nothing.
    """
    # imported here: it takes half a second, and few placements need it
    from scipy.special import betaln

    shape, passed = SHAPE + past[0], 1.0 + prior_exposure + past[1]
    log_probability: FloatArray = betaln(shape + clicks, passed + exposure) - betaln(shape, passed)
    log_probability[:, exposure == 0.0] = 0.0
    return log_probability
