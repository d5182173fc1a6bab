"""Changes of tastes, detected in the clicks: drift, which the means follow, and breaks, at which the past is dropped.

At the end of a period, the clicks n_j on each item are compared with the number e_j that the posterior expected, which
assumes that nothing ever changes. Two other models predict n_j one step ahead. Their n_j is Poisson with mean r_j e_j
and r_j ~ Gamma(a + N_j, b + M_j), where N and M are earlier clicks and expected clicks:

- *Drift*: items move about their level. a = b = κ, and N and M decay with a half-life. Both are those, of a grid, that
  predicted best.
- *Break*: at the start of some period, every item got a new attractiveness from the population, Gamma(s, s/μ_j). Then
  a = s and b = s·m_j/μ_j, with m_j the level so far, and N and M are counted since that period.

Under drift, means are multiplied by the mean of r_j, and the posterior is as wide as before: a deviation that passes is
not worth exploring for. After a break the counts before it are dropped, so the posterior is wide, and the policy
explores again. Either needs evidence: it has to make the clicks 1/FALSE_ALARMS times as likely as the model in use,
and a break as many times more as there were periods to start in. That is the Shiryaev-Roberts rule with estimated
parameters (Lorden and Pollak, 2005). Until then counts and draws are those of a posterior that never forgets.
"""

from __future__ import annotations

import math

import numpy as np

from slotwise.core.types import FloatArray
from slotwise.jit import inlined, jit
from slotwise.posterior.counts import clear, decay, sum_rounds, weigh_lists
from slotwise.posterior.state import (
    DECAYED,
    IN_USE,
    PERIOD_COUNTS,
    Forgetting,
    ItemPrior,
    PosteriorCounts,
    SegmentEffects,
    TasteChanges,
)

#: rounds of a period
PERIOD = 250.0
#: half-lives of deviations that are tried, in rounds, and their κ
DRIFT_HALF_LIVES = (100_000.0, 30_000.0, 10_000.0, 3_000.0, 1_000.0)
DRIFT_SHAPES = (2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
#: periods at whose start a break may have been; their ages are about a geometric series
WINDOWS = 8
#: the weight of a model's log-likelihood after a period: models are compared over the last 50,000 rounds
SCORE_DECAY = 0.995
#: the chance of evidence for a change if there is none
FALSE_ALARMS = 0.01
NO_DRIFT = -1


def start_changes(items: int, is_watched: bool) -> TasteChanges:
    """Return the state before the first round; `is_watched` if changes are to be detected."""
    windows, half_lives = (WINDOWS, len(DRIFT_HALF_LIVES)) if is_watched else (0, 0)
    return TasteChanges(
        is_watched=is_watched,
        clicks=np.zeros((1 + windows + half_lives, items if is_watched else 0)),
        expected=np.zeros((1 + windows + half_lives, items if is_watched else 0)),
        unchanged=0.0,
        drifts=np.zeros(half_lives * len(DRIFT_SHAPES)),
        drift=NO_DRIFT,
        is_drifting=False,
        ratio=np.ones(items),
        ages=np.full(windows, -1.0),
        leads=np.zeros(windows),
        age=0.0,
    )


@jit
def watch(forgetting: Forgetting, counts: PosteriorCounts, items: ItemPrior, segments: SegmentEffects) -> bool:
    """Judge the period that ends: follow drift, and drop the counts before a break.

    Returns whether counts were dropped.
    """
    changes = forgetting.changes
    rounds = forgetting.period - forgetting.rounds_left
    _observe(changes, forgetting.passes, counts, segments)
    changes.age += 1.0
    in_use = _score_drifts(changes)
    window = _find_break(changes, items, segments, in_use)
    for number in range(len(forgetting.half_lives)):
        forgetting.weights[number] = 0.5 ** (rounds / forgetting.half_lives[number])
    decay(counts, forgetting.weights, max(0, window), window >= 0)
    if window >= 0:
        _drop_before(changes, window)
        for number in range(WINDOWS, len(forgetting.half_lives)):
            clear(counts, DECAYED + number)
        weigh_lists(counts, segments, IN_USE, counts.passes)
        sum_rounds(counts)
    _follow(changes, forgetting.weights)
    clear(counts, DECAYED + _open_window(changes))
    forgetting.rounds_left = forgetting.period
    return window >= 0


@jit
def _observe(changes: TasteChanges, passes: FloatArray, counts: PosteriorCounts, segments: SegmentEffects) -> None:
    """Sum clicks and expected clicks by item, in the period and in each memory."""
    number_of_segments, items, slots = passes.shape
    changes.clicks[:] = 0.0
    changes.expected[:] = 0.0
    for row in range(len(changes.clicks)):
        kind = PERIOD_COUNTS + row
        weigh_lists(counts, segments, kind, passes)
        for segment in range(number_of_segments):
            if segments.is_used[segment]:
                for item in range(items):
                    exposure = 0.0
                    for slot in range(slots):
                        exposure += segments.mean_bias[segment, slot] * passes[segment, item, slot]
                    changes.expected[row, item] += exposure * segments.mean[segment, item]
                    changes.clicks[row, item] += counts.clicks[kind, segment, item]


@inlined
def _log_probability(shape: float, rate: float, clicks: float, expected: float) -> float:
    """Return the negative binomial log-probability of clicks, without the terms that all models share."""
    log_probability = math.lgamma(shape + clicks) - math.lgamma(shape)
    return log_probability + shape * math.log(rate) - (shape + clicks) * math.log(rate + expected)


@jit
def _score_drifts(changes: TasteChanges) -> float:
    """Score all models of drift by the period, select one or none, and return the score of the model in use.

    A model of drift takes the place of no change there as soon as the evidence for it would be enough for a break.
    """
    clicks, expected = changes.clicks, changes.expected
    unchanged = 0.0
    for item in range(clicks.shape[1]):
        unchanged -= expected[0, item]
    before, in_use = changes.drift, unchanged
    changes.unchanged = SCORE_DECAY * changes.unchanged + unchanged
    changes.drift, best = NO_DRIFT, changes.unchanged - math.log(FALSE_ALARMS)
    for drift in range(len(changes.drifts)):
        memory, shape = 1 + WINDOWS + drift // len(DRIFT_SHAPES), DRIFT_SHAPES[drift % len(DRIFT_SHAPES)]
        score = 0.0
        for item in range(clicks.shape[1]):
            if expected[0, item] > 0.0:
                a, b = shape + clicks[memory, item], shape + expected[memory, item]
                score += _log_probability(a, b, clicks[0, item], expected[0, item])
        if drift == before:
            in_use = score
        changes.drifts[drift] = SCORE_DECAY * changes.drifts[drift] + score
        if changes.drifts[drift] > best:
            changes.drift, best = drift, changes.drifts[drift]
    is_drifting = best > changes.unchanged + _evidence_of_break(changes)
    if is_drifting and not changes.is_drifting:
        # drift explains what spoke for a break so far
        changes.ages[:] = -1.0
    changes.is_drifting = is_drifting
    return in_use if is_drifting else unchanged


@inlined
def _evidence_of_break(changes: TasteChanges) -> float:
    return math.log(changes.age / FALSE_ALARMS)


@jit
def _find_break(changes: TasteChanges, items: ItemPrior, segments: SegmentEffects, in_use: float) -> int:
    """Score the windows by the period; return the one since whose start there is most evidence of a break, or -1."""
    clicks, expected = changes.clicks, changes.expected
    best, most = -1, _evidence_of_break(changes)
    for window in range(len(changes.ages)):
        if changes.ages[window] < 0.0:
            continue
        score = 0.0
        for item in range(clicks.shape[1]):
            if expected[0, item] > 0.0:
                level = segments.level[item] if len(segments.is_used) > 1 else segments.mean[0, item]
                a = items.shape + clicks[1 + window, item]
                b = items.shape * level / items.mean[item] + expected[1 + window, item]
                score += _log_probability(a, b, clicks[0, item], expected[0, item])
        changes.leads[window] += score - in_use
        changes.ages[window] += 1.0
        if changes.leads[window] > most:
            best, most = window, changes.leads[window]
    return best


@jit
def _drop_before(changes: TasteChanges, window: int) -> None:
    """Start again at the start of a window."""
    changes.age = changes.ages[window]
    changes.unchanged, changes.drift, changes.is_drifting = 0.0, NO_DRIFT, False
    changes.drifts[:] = 0.0
    for other in range(len(changes.ages)):
        changes.leads[other] = 0.0
        if changes.ages[other] >= changes.age:
            changes.ages[other] = -1.0


@jit
def _follow(changes: TasteChanges, weights: FloatArray) -> None:
    """Set r_j to its mean under the model of drift in use, the period included."""
    clicks, expected, drift = changes.clicks, changes.expected, changes.drift
    for item in range(len(changes.ratio)):
        changes.ratio[item] = 1.0
        if drift != NO_DRIFT:
            memory, shape = 1 + WINDOWS + drift // len(DRIFT_SHAPES), DRIFT_SHAPES[drift % len(DRIFT_SHAPES)]
            weight = weights[memory - 1]
            changes.ratio[item] = (shape + weight * clicks[memory, item] + clicks[0, item]) / (
                shape + weight * expected[memory, item] + expected[0, item]
            )


@jit
def _open_window(changes: TasteChanges) -> int:
    """Open a window at the end of the period, and return its number; if all are open, one makes room.

    It is the one with the smallest quotient of the ages of its neighbours.
    """
    ages = changes.ages
    opened, closest = 0, math.inf
    for window in range(len(ages)):
        if ages[window] < 0.0:
            opened = window
            break
        older, younger = math.inf, 0.0
        for other in range(len(ages)):
            if ages[other] > ages[window]:
                older = min(older, ages[other])
            elif ages[other] < ages[window]:
                younger = max(younger, ages[other])
        if (older + 1.0) / (younger + 1.0) < closest:
            opened, closest = window, (older + 1.0) / (younger + 1.0)
    ages[opened], changes.leads[opened] = 0.0, 0.0
    return opened
