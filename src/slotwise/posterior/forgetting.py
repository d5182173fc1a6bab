"""Forgetting: decay of counts by a given half-life, or as far as tastes are found to have changed.

With "auto", changes are detected while the posterior learns (`slotwise.posterior.taste_changes`).

`best_half_life` selects a half-life for counts by period of a log or a service, by its one-step-ahead predictive
log-likelihood: the counts of the past decay by it, and its score is the log-probability that they give to the clicks of
the next period.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.types import BoolArray, FloatArray, HalfLife, IntArray
from slotwise.jit import jit
from slotwise.posterior.counts import decay, sum_rounds, weigh_lists
from slotwise.posterior.state import IN_USE, Forgetting, ItemPrior, PosteriorCounts, SegmentEffects
from slotwise.posterior.taste_changes import DRIFT_HALF_LIVES, PERIOD, WINDOWS, start_changes, watch

#: rounds of a period at most, and the periods of a half-life at least
MAX_PERIOD = 1_000.0
MIN_PERIODS_PER_HALF_LIFE = 20.0
#: in `best_half_life`: the weight of a score after a period, and the lead over no forgetting that is needed, in nats
SCORE_DECAY = 0.98
MIN_LEAD = 4.0
#: first parameter of the beta prime prior of an item's attractiveness in `best_half_life`
PRIOR_SHAPE = 1.0


def parse_half_lives(half_life: HalfLife) -> FloatArray:
    """Return the half-life of each memory of the past, in rounds; no memory for "none"."""
    if half_life is None or half_life == "none":
        return np.zeros(0)
    if half_life == "auto":
        return np.array([math.inf] * WINDOWS + list(DRIFT_HALF_LIVES))
    if isinstance(half_life, str):
        raise InvalidInput(f"half_life must be none, auto or a number of rounds, got {half_life!r}")
    return np.array([validation.positive_number("half_life", half_life)])


def period_of(half_life: HalfLife) -> float:
    """Return the rounds of a period; without forgetting no period ends."""
    memories = parse_half_lives(half_life)
    if len(memories) == 1:
        return max(1.0, min(MAX_PERIOD, float(memories[0]) / MIN_PERIODS_PER_HALF_LIFE))
    return PERIOD if len(memories) else math.inf


def start_forgetting(half_life: HalfLife, segments: int, items: int, slots: int) -> Forgetting:
    """Return the state before the first round."""
    memories = parse_half_lives(half_life)
    is_watched = len(memories) > 1
    return Forgetting(
        half_lives=memories,
        period=period_of(half_life),
        rounds_left=period_of(half_life),
        weights=np.zeros(len(memories)),
        passes=np.zeros((segments, items, slots) if is_watched else (0, 0, 0)),
        changes=start_changes(items, is_watched),
    )


@jit
def end_period(forgetting: Forgetting, counts: PosteriorCounts, items: ItemPrior, segments: SegmentEffects) -> bool:
    """Decay the counts, or drop those before a change; returns whether the counts in use changed."""
    if forgetting.changes.is_watched:
        return watch(forgetting, counts, items, segments)
    rounds = forgetting.period - forgetting.rounds_left
    forgetting.weights[0] = 0.5 ** (rounds / forgetting.half_lives[0])
    decay(counts, forgetting.weights, 0, True)
    weigh_lists(counts, segments, IN_USE, counts.passes)
    sum_rounds(counts)
    forgetting.rounds_left = forgetting.period
    return True


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

    A half-life is used if its score leads that of forgetting nothing by `MIN_LEAD`, in nats: about 1 in 100 series of
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
    of_rows = _predictive(_decayed(counts, tried), PRIOR_SHAPE * exposure / clicks, counts.clicks, counts.exposure)
    of_periods = np.zeros((len(counts.times), len(tried)))
    np.add.at(of_periods, counts.period, of_rows.T)
    scores = np.zeros(len(tried))
    for added in of_periods[counts.is_scored]:
        scores = SCORE_DECAY * scores + added
    best = 1 + int(scores[1:].argmax())
    return float(tried[best]) if scores[best] > scores[0] + MIN_LEAD else None


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

    shape, passed = PRIOR_SHAPE + past[0], 1.0 + prior_exposure + past[1]
    log_probability: FloatArray = betaln(shape + clicks, passed + exposure) - betaln(shape, passed)
    log_probability[:, exposure == 0.0] = 0.0
    return log_probability
