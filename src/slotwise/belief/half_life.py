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
        scores = FADE * scores + _foretold(SHAPE + past[0], rate + past[1], seen)
        past[0] += seen.clicks
        past[1] += seen.exposure
    best = 1 + int(scores[1:].argmax())
    return float(tried[best]) if scores[best] > scores[0] + lead else None


def _foretold(shape: FloatArray, rate: FloatArray, seen: Seen) -> FloatArray:
    """The log-probability of a period's clicks under each half-life, less what is the same under all of them."""
    # here, for it takes long to import, and few placements need it
    from scipy.special import gammaln

    shown = seen.exposure > 0.0
    shape, rate, clicks, exposure = shape[:, shown], rate[:, shown], seen.clicks[shown], seen.exposure[shown]
    found: FloatArray = (
        gammaln(shape + clicks) - gammaln(shape) + shape * np.log(rate) - (shape + clicks) * np.log(rate + exposure)
    ).sum(axis=1)
    return found
