"""Which half-life foretells clicks best, of counts that are kept by period, few and all of them at hand.

As in `slotwise.belief.memory`: under each half-life the counts of the past fade, and it is as good as the probability
that they give to the clicks of the next period.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from slotwise.belief.memory import FADE, LEAD
from slotwise.typing import FloatArray

#: before anything was counted, an item's attractiveness is believed to be exponential
SHAPE = 1.0


class Seen(NamedTuple):
    """What was seen in a period, per item: clicks, and exposure Σ_k λ_kÑ_k."""

    #: when it was, in the unit of the half-lives
    when: float
    clicks: FloatArray
    exposure: FloatArray


def best_half_life(periods: Sequence[Seen], half_lives: Sequence[float], lead: float = LEAD) -> float | None:
    """The one under which faded counts foretold the next period's clicks best; None to forget nothing.

    `periods` are in order of time. A half-life is taken where it leads forgetting nothing by `lead`, in nats.

    >>> ones = np.ones(1)
    >>> change = [Seen(day, (90 if day < 20 else 20) * ones, 100 * ones) for day in range(40)]
    >>> best_half_life(change, (20.0, 5.0, 2.0)), best_half_life(change[:20], (20.0, 5.0, 2.0))
    (2.0, None)
    """
    clicks, exposure = sum(seen.clicks.sum() for seen in periods), sum(seen.exposure.sum() for seen in periods)
    if len(periods) < 2 or not (clicks > 0.0 and exposure > 0.0):
        return None
    rate = SHAPE * exposure / clicks
    tried = np.array([math.inf, *half_lives])
    past = np.zeros((2, len(tried), len(periods[0].clicks)))
    scores, before = np.zeros(len(tried)), periods[0].when
    for seen in periods:
        past *= 0.5 ** ((seen.when - before) / tried)[:, None]
        before = seen.when
        scores = FADE * scores + foretold(past, rate, seen.clicks, seen.exposure).sum(axis=1)
        past[0] += seen.clicks
        past[1] += seen.exposure
    return leading(scores, tried, lead)


def leading(scores: FloatArray, tried: FloatArray, lead: float = LEAD) -> float | None:
    """Of half-lives that were tried, the first being to forget nothing, the one that leads that; None if none does."""
    best = 1 + int(scores[1:].argmax())
    return float(tried[best]) if scores[best] > scores[0] + lead else None


def foretold(past: FloatArray, rate: float, clicks: FloatArray, exposure: FloatArray) -> FloatArray:
    """The log-probability of clicks on items after these in the past, less what is the same under all half-lives.

    `past` are clicks and exposure, half-lives × items; `rate` is what exposure is worth before anything was counted. An
    item that was not shown says nothing.
    """
    # here, for it takes long to import, and few placements need it
    from scipy.special import gammaln

    shape, rates = SHAPE + past[0], rate + past[1]
    found: FloatArray = (
        gammaln(shape + clicks) - gammaln(shape) + shape * np.log(rates) - (shape + clicks) * np.log(rates + exposure)
    )
    found[:, exposure == 0.0] = 0.0
    return found
