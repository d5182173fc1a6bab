"""Forgetting: decay of counts by a half-life, which is given or selected by its predictions.

A half-life is scored by its one-step-ahead predictive log-likelihood: the counts of the past decay by it, and its score
is the log-probability that they give to the clicks of the next period. The hierarchical posterior does that while it
learns (`end_period`). Rounds are counted in periods; at the end of each the past decays under every half-life that is
tried, and the period is added. The log-probability is
Σ_c [log Γ(A+n) - log Γ(A) + A log B - (A+n) log(B+e)] + Σ n log λ over cells c, with Gamma(A, B) the posterior of
attractiveness given the decayed counts, n the clicks of the period and e its exposure. `best_half_life` does the same
for counts by period of a log or a service, with a beta prime prior in place of the hierarchical one.
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
from slotwise.posterior.hyperparameters import find_mode
from slotwise.posterior.state import (
    DECAYED,
    IN_USE,
    PERIOD_COUNTS,
    BiasPosterior,
    Forgetting,
    ItemPrior,
    PosteriorCounts,
    SegmentEffects,
)

#: half-lives that are tried, in rounds, if one is to be selected
HALF_LIFE_GRID = (math.inf, 100_000.0, 30_000.0, 10_000.0, 3_000.0, 1_000.0)
#: rounds of a period at most, and the periods of a half-life at least
MAX_PERIOD = 1_000.0
MIN_PERIODS_PER_HALF_LIFE = 20.0
#: the weight of a score after a period, and the lead over no forgetting that a half-life needs, in nats
SCORE_DECAY = 0.98
MIN_LEAD = 4.0
#: first parameter of the beta prime prior of an item's attractiveness in `best_half_life`
PRIOR_SHAPE = 1.0


def parse_half_lives(half_life: HalfLife) -> FloatArray:
    """Return the half-lives to try, in rounds: none for "none", a grid for "auto", or the given one."""
    if half_life is None or half_life == "none":
        return np.zeros(0)
    if half_life == "auto":
        return np.array(HALF_LIFE_GRID)
    if isinstance(half_life, str):
        raise InvalidInput(f"half_life must be none, auto or a number of rounds, got {half_life!r}")
    return np.array([validation.positive_number("half_life", half_life)])


def start_forgetting(half_life: HalfLife, segments: int, items: int, slots: int) -> Forgetting:
    """Return the state before the first round."""
    tried = parse_half_lives(half_life)
    # without forgetting no period ends
    period = MAX_PERIOD if len(tried) else math.inf
    if len(tried) == 1:
        period = max(1.0, min(MAX_PERIOD, float(tried[0]) / MIN_PERIODS_PER_HALF_LIFE))
    room = (segments, items, slots) if len(tried) else (0, 0, 0)
    return Forgetting(
        half_lives=tried,
        scores=np.zeros(len(tried)),
        modes=np.zeros((len(tried), slots)),
        is_selected=len(tried) > 1,
        best=0,
        period=period,
        rounds_left=period,
        weights=np.zeros(len(tried)),
        past=np.zeros(room),
        now=np.zeros(room),
    )


@jit
def end_period(
    forgetting: Forgetting, counts: PosteriorCounts, bias: BiasPosterior, items: ItemPrior, segments: SegmentEffects
) -> bool:
    """Score the half-lives by the period that ends, decay their counts, and use those of the best.

    Returns whether the counts in use changed. Until the best half-life is finite, they are those of no forgetting.
    """
    tried = len(forgetting.half_lives)
    rounds = forgetting.period - forgetting.rounds_left
    was_decayed = forgetting.half_lives[forgetting.best] < math.inf
    if forgetting.is_selected:
        weigh_lists(counts, segments, PERIOD_COUNTS, forgetting.now)
        for number in range(tried):
            weigh_lists(counts, segments, DECAYED + number, forgetting.past)
            score = _predictive_log_probability(forgetting, counts, bias, items, segments, number)
            forgetting.scores[number] = SCORE_DECAY * forgetting.scores[number] + score
        forgetting.best = 0
        for number in range(1, tried):
            lead = MIN_LEAD if forgetting.best == 0 else 0.0
            if forgetting.scores[number] > forgetting.scores[forgetting.best] + lead:
                forgetting.best = number
    for number in range(tried):
        forgetting.weights[number] = 0.5 ** (rounds / forgetting.half_lives[number])
    is_replaced = was_decayed or forgetting.half_lives[forgetting.best] < math.inf
    decay(counts, forgetting.weights, forgetting.best, is_replaced)
    forgetting.rounds_left = forgetting.period
    if is_replaced:
        weigh_lists(counts, segments, IN_USE, counts.passes)
        sum_rounds(counts)
    return bool(is_replaced)


@jit
def _predictive_log_probability(
    forgetting: Forgetting,
    counts: PosteriorCounts,
    bias: BiasPosterior,
    items: ItemPrior,
    segments: SegmentEffects,
    number: int,
) -> float:
    """Return the log-probability of the period's clicks given the counts under one half-life."""
    past, now, kind = forgetting.past, forgetting.now, DECAYED + number
    number_of_segments, number_of_items, slots = past.shape
    mode = forgetting.modes[number]
    if not bias.is_known:
        find_mode(counts, kind, past, bias, mode, items, segments)
    else:
        for slot in range(slots):
            mode[slot] = bias.mode[slot]
    score = 0.0
    for segment in range(number_of_segments):
        if not segments.is_used[segment]:
            continue
        for slot in range(slots):
            score += counts.slot_clicks[PERIOD_COUNTS, segment, slot] * mode[slot]
        for item in range(number_of_items):
            exposure, added = 0.0, 0.0
            for slot in range(slots):
                slot_bias = math.exp(mode[slot]) * segments.slot_deviation[segment, slot]
                exposure += slot_bias * past[segment, item, slot]
                added += slot_bias * now[segment, item, slot]
            if added > 0.0:
                shape, rate = items.shape, items.shape / items.mean[item]
                if number_of_segments > 1:
                    own = items.segment_mean[segment, item]
                    shape, rate = segments.similarity, segments.similarity / (segments.level[item] * own)
                clicks = counts.clicks[PERIOD_COUNTS, segment, item]
                shape += counts.clicks[kind, segment, item]
                rate += exposure
                score += math.lgamma(shape + clicks) - math.lgamma(shape)
                score += shape * math.log(rate) - (shape + clicks) * math.log(rate + added)
    return score


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
