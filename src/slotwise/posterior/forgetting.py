"""Forgetting: counts fade with a half-life that is given, or found from what comes next.

Rounds are counted in periods. At the end of each, the counts of the past are halved as often as half-lives fit into it,
once for each half-life that is tried; the period's own are added. A half-life is as good as it foresaw the period: by
the log-probability of its clicks, Σ_c [log Γ(A+n) - log Γ(A) + A log B - (A+n) log(B+e)] + Σ n log λ over cells c, with
Gamma(A, B) the belief about attractiveness that the faded counts left, n the period's clicks and e its exposure.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.types import FloatArray
from slotwise.jit import jit
from slotwise.posterior.counts import decay, sum_rounds, weigh_lists
from slotwise.posterior.hyperparameters import find_mode
from slotwise.posterior.state import DECAYED, IN_USE, PERIOD_COUNTS, Bias, Counts, Forgetting, Items, Segments

#: half-lives that are tried, in rounds, where one is to be found
GRID = (math.inf, 100_000.0, 30_000.0, 10_000.0, 3_000.0, 1_000.0)
#: rounds of a period, at most, and how many go into a half-life at least
PERIOD = 1_000.0
PERIODS_PER_HALF_LIFE = 20.0
#: what is left of a score after a period, and how far one must lead never forgetting
FADE = 0.98
LEAD = 4.0


def half_lives(half_life: Any) -> FloatArray:
    """The half-lives to try: none for "none", a grid for "auto", or the one that is given, in rounds."""
    if half_life is None or half_life == "none":
        return np.zeros(0)
    if half_life == "auto":
        return np.array(GRID)
    if isinstance(half_life, str):
        raise InvalidInput(f"half_life must be none, auto or a number of rounds, got {half_life!r}")
    return np.array([validation.positive_number("half_life", half_life)])


def starting_forgetting(half_life: Any, segments: int, items: int, slots: int) -> Forgetting:
    """Before the first round: nothing forgotten, "none" to forget nothing, a half-life in rounds, or "auto"."""
    tried = half_lives(half_life)
    # nothing ends where nothing is forgotten
    period = PERIOD if len(tried) else math.inf
    if len(tried) == 1:
        period = max(1.0, min(PERIOD, float(tried[0]) / PERIODS_PER_HALF_LIFE))
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
def end_period(forgetting: Forgetting, counts: Counts, bias: Bias, items: Items, segments: Segments) -> bool:
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
            forgetting.scores[number] = FADE * forgetting.scores[number] + score
        forgetting.best = 0
        for number in range(1, tried):
            if forgetting.scores[number] > forgetting.scores[forgetting.best] + (LEAD if forgetting.best == 0 else 0.0):
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
    forgetting: Forgetting, counts: Counts, bias: Bias, items: Items, segments: Segments, number: int
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
