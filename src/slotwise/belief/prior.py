"""A Gamma prior of attractiveness learned from the items already shown: empirical Bayes by EM."""

from __future__ import annotations

import math
from typing import Any

from slotwise.belief.learned import GROWTH
from slotwise.compiled import jit, record
from slotwise.tally import count_no_clicks
from slotwise.typing import FloatArray

#: s and r, what is believed of an item before anything is known: next to nothing
ATTRACTIVENESS_SHAPE = 0.1
ATTRACTIVENESS_RATE = 0.1
#: EM steps each time; the next time goes on from there
STEPS = 3
#: after a whole tally: so many times at most, or until the shape changes by no more than this part
MOST_TIMES = 20
SETTLED = 0.01
#: while hardly anything was clicked the fit would say that all attractiveness is in one item, and never look at others
LEAST_SHAPE = 0.05
#: less than any pass gives, and more than rounding leaves
NO_EXPOSURE = 1e-6
#: made-up items among those that the prior is learned from
EXTRA_ITEMS = 2.0
#: -ψ(1)
EULER = 0.5772156649015329


@record
class LearnedPrior:
    """The shape and rate that every item has, when they were last learned, and when they are out of date."""

    shape: float
    rate: float
    rounds: float
    outdated: float


def learned_prior(shape: float, rate: float, *, elsewhere: bool = False) -> LearnedPrior:
    """Before the first round; never to be learned if the belief that it is for does so `elsewhere`, by itself."""
    return LearnedPrior(shape=shape, rate=rate, rounds=0.0, outdated=math.inf if elsewhere else 0.0)


@jit
def relearn(prior: LearnedPrior, belief: Any) -> None:
    """Fit shape and rate to the items with exposure, and put them into the belief in place of the old ones.

    E-step: the mean of α_j and of log α_j in its Gamma posterior. M-step: the Gamma distribution with the averages of
    these, M and L: log s - ψ(s) = log M - L, r = s/M.
    """
    shape, rate = prior.shape, prior.rate
    for _ in range(STEPS):
        # items more, each with one click in one unit of exposure and the spread of an exponential variable: with few
        # items, or with all alike, the fit would be too sure of what the others are like
        extra = (shape + 1.0) / (rate + 1.0)
        count, mean, mean_log = EXTRA_ITEMS, EXTRA_ITEMS * extra, EXTRA_ITEMS * (math.log(extra) - EULER)
        for item in range(len(belief.shape)):
            exposure = belief.rate[item] - prior.rate
            # without a pass so far the clicks of an item say nothing: any attractiveness could explain them
            if exposure > NO_EXPOSURE:
                count += 1.0
                posterior_shape = belief.shape[item] - prior.shape + shape
                posterior_rate = exposure + rate
                mean += posterior_shape / posterior_rate
                mean_log += digamma(posterior_shape) - math.log(posterior_rate)
        mean /= count
        mean_log /= count
        shape = max(LEAST_SHAPE, shape_of(math.log(mean) - mean_log))
        rate = shape / mean
    for item in range(len(belief.shape)):
        belief.shape[item] += shape - prior.shape
        belief.prior_rate[item] += rate - prior.rate
        belief.rate[item] += rate - prior.rate
    prior.shape, prior.rate = shape, rate
    prior.outdated = prior.rounds * (1.0 + GROWTH) + 1e-9


@jit
def relearn_all(prior: LearnedPrior, belief: Any, clicks: FloatArray, passes: FloatArray) -> None:
    """The same after `belief` absorbed a whole tally, from which there may be far to go."""
    prior.rounds += clicks.sum() + count_no_clicks(passes)
    if prior.rounds >= prior.outdated:
        for _ in range(MOST_TIMES):
            before = prior.shape
            relearn(prior, belief)
            if abs(prior.shape - before) < SETTLED * before:
                break


@jit
def shape_of(gap: float) -> float:
    """The s with log s - ψ(s) = gap, for a positive gap.

    >>> round(shape_of(math.log(2.5) - digamma(2.5)), 9)
    2.5
    """
    # within 1.5 % (Minka 2002); Newton's method on 1/s from there
    s = (3.0 - gap + math.sqrt((gap - 3.0) ** 2 + 24.0 * gap)) / (12.0 * gap)
    for _ in range(4):
        error = math.log(s) - digamma(s) - gap
        s = 1.0 / (1.0 / s - error / (s * s * (trigamma(s) - 1.0 / s)))
    return s


@jit
def digamma(x: float) -> float:
    """ψ(x) for positive x: moved up to 10, then its asymptotic series.

    >>> round(digamma(1.0), 12)
    -0.577215664902
    """
    result = 0.0
    while x < 10.0:
        result -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    return result + math.log(x) - 0.5 / x - y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y / 132))))


@jit
def trigamma(x: float) -> float:
    """ψ′(x) for positive x, likewise.

    >>> round(trigamma(1.0) * 6 / math.pi**2, 12)
    1.0
    """
    result = 0.0
    while x < 10.0:
        result += 1.0 / (x * x)
        x += 1.0
    y = 1.0 / (x * x)
    return result + 1.0 / x + 0.5 * y + y / x * (1 / 6 - y * (1 / 30 - y * (1 / 42 - y * (1 / 30 - y * 5 / 66))))
