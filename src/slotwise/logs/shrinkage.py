"""Estimates to decide on: every item drawn towards what items are like, the more the less was seen of it."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import digamma, gammaln

from slotwise.estimate import Estimate, GammaPrior, maximum_a_posteriori
from slotwise.estimate.evidence import Counts, tally_of
from slotwise.estimate.odds import expected
from slotwise.rankings import Rankings
from slotwise.typing import FloatArray, IntArray

#: of λ, beside the first slot
BIAS_PRIOR = GammaPrior(1.0, 1.0)
#: the shape of a learned prior is itself taken to be about 1, give or take a factor of e^1.5, and never beyond these: a
#: few items that look alike, or one with all the clicks, would otherwise settle what all items are like
LOG_SHAPE_SPREAD = 1.5
#: and its mean to be about that of all clicks, give or take a factor of e
LOG_MEAN_SPREAD = 1.0
SHAPES = (0.05, 100.0)
#: how often the prior is learned anew from the exposure that the last one led to
ROUNDS = 2


def shrunken(counts: Counts) -> Estimate:
    """Maximum a posteriori with a Gamma prior of attractiveness learned from the items themselves.

    From rankings the likelihood is the joint one, in which a list with another item clicked counts as well.

    >>> from slotwise.tally import Tally
    >>> lucky = Tally(np.array([[30, 20, 25, 2]]), np.array([[300, 300, 300, 3]]))
    >>> shrunken(lucky).attractiveness.round(2)      # two clicks and three passes: not yet worth 2/3
    array([0.1 , 0.07, 0.09, 0.11])
    """
    tally = tally_of(counts)
    clicks = tally.clicks.sum(axis=0)
    prior, bias = prior_of_items(clicks, tally.passes.sum(axis=0)), np.ones(tally.slots)
    for _ in range(ROUNDS):
        found = maximum_a_posteriori(counts, attractiveness_prior=prior, position_bias_prior=BIAS_PRIOR)
        bias, alpha = found.position_bias, found.attractiveness
        if isinstance(counts, Rankings):
            # the passes to expect: an item that was clicked each time has none, and yet is not worth any amount
            exposure = expected(counts, np.outer(bias, alpha)).clicks.sum(axis=0) / alpha
        else:
            exposure = bias @ tally.passes
        prior = prior_of_items(clicks, exposure)
    return maximum_a_posteriori(counts, attractiveness_prior=prior, position_bias_prior=BIAS_PRIOR)


def prior_of_items(item_clicks: IntArray, exposure: FloatArray) -> GammaPrior:
    """The Gamma distribution that the attractiveness of the items looks drawn from.

    If α_j ~ Gamma(s, s/m) and N_j is Poisson with mean α_jΛ_j, Λ_j being the exposure, then N_j is negative binomial; s
    and m maximise the likelihood of that.
    """
    used = exposure > 0
    exposure, clicks = exposure[used], item_clicks[used].astype(np.float64)
    # half a click, so that there is a mean without any
    middle = np.log((clicks.sum() + 0.5) / (exposure.sum() + 1.0))

    def loss(at: FloatArray) -> tuple[float, FloatArray]:
        shape, rate = np.exp(at[0]), np.exp(at[0] - at[1])
        posterior_mean = (shape + clicks) / (rate + exposure)
        value = gammaln(shape + clicks) - gammaln(shape) + shape * at[0] - shape * at[1]
        value -= (shape + clicks) * np.log(rate + exposure)
        by_shape = digamma(shape + clicks) - digamma(shape) - np.log1p(exposure / rate)
        by_rate = shape / rate - posterior_mean
        slopes = np.array([(shape * by_shape + rate * by_rate).sum(), -(rate * by_rate).sum()])
        off = np.array([at[0] / LOG_SHAPE_SPREAD, (at[1] - middle) / LOG_MEAN_SPREAD])
        slopes -= off / [LOG_SHAPE_SPREAD, LOG_MEAN_SPREAD]
        total = float(value.sum()) - 0.5 * float(off @ off)
        return -total / len(clicks), -slopes / len(clicks)

    if not len(clicks):
        return GammaPrior(1.0, 1.0)
    bounds = [tuple(np.log(SHAPES)), (middle - 5.0, middle + 5.0)]
    shape, mean = np.exp(minimize(loss, np.array([0.0, middle]), jac=True, method="L-BFGS-B", bounds=bounds).x)
    return GammaPrior(float(shape), float(shape / mean))
