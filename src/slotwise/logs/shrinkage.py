"""Estimates to decide on: every item drawn towards what items are like, the more the less was seen of it."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import digamma, gammaln

from slotwise.estimate import Estimate, GammaPrior, maximum_a_posteriori
from slotwise.tally import Tally
from slotwise.typing import FloatArray

#: of λ, beside the first slot
BIAS_PRIOR = GammaPrior(1.0, 1.0)
#: the shape of a learned prior is itself taken to be about 1, give or take a factor of e^1.5, and never beyond these: a
#: few items that look alike, or one with all the clicks, would otherwise settle what all items are like
LOG_SHAPE_SPREAD = 1.5
SHAPES = (0.05, 100.0)


def shrunken(tally: Tally) -> Estimate:
    """Maximum a posteriori with a Gamma prior of attractiveness learned from the items of the tally themselves.

    >>> lucky = Tally(np.array([[30, 20, 25, 2]]), np.array([[300, 300, 300, 3]]))
    >>> shrunken(lucky).attractiveness.round(2)      # two clicks and three passes: not yet worth 2/3
    array([0.1 , 0.07, 0.09, 0.11])
    """
    prior = prior_of_items(tally, np.ones(tally.slots))
    first = maximum_a_posteriori(tally, attractiveness_prior=prior, position_bias_prior=BIAS_PRIOR)
    prior = prior_of_items(tally, first.position_bias)
    return maximum_a_posteriori(tally, attractiveness_prior=prior, position_bias_prior=BIAS_PRIOR)


def prior_of_items(tally: Tally, position_bias: FloatArray) -> GammaPrior:
    """The Gamma distribution that the attractiveness of the items looks drawn from, given λ.

    If α_j ~ Gamma(s, s/m) and N_·j is Poisson with mean α_jΛ_j, Λ_j = Σ_k λ_kÑ_kj, then N_·j is negative binomial; s
    and m maximise the likelihood of that.
    """
    exposure = position_bias @ tally.passes
    used = exposure > 0
    exposure, clicks = exposure[used], tally.clicks.sum(axis=0)[used].astype(np.float64)
    # half a click, so that there is a mean without any
    mean = (clicks.sum() + 0.5) / (exposure.sum() + 1.0)

    def loss(at: FloatArray) -> tuple[float, FloatArray]:
        shape, rate = np.exp(at[0]), np.exp(at[0] - at[1])
        posterior_mean = (shape + clicks) / (rate + exposure)
        value = gammaln(shape + clicks) - gammaln(shape) + shape * at[0] - shape * at[1]
        value -= (shape + clicks) * np.log(rate + exposure)
        by_shape = digamma(shape + clicks) - digamma(shape) - np.log1p(exposure / rate)
        by_rate = shape / rate - posterior_mean
        slopes = np.array([(shape * by_shape + rate * by_rate).sum(), -(rate * by_rate).sum()])
        slopes[0] -= at[0] / LOG_SHAPE_SPREAD**2
        total = float(value.sum()) - 0.5 * (at[0] / LOG_SHAPE_SPREAD) ** 2
        return -total / len(clicks), -slopes / len(clicks)

    if not len(clicks):
        return GammaPrior(1.0, 1.0)
    middle = np.log(mean)
    bounds = [tuple(np.log(SHAPES)), (middle - 5.0, middle + 5.0)]
    shape, mean = np.exp(minimize(loss, np.array([0.0, middle]), jac=True, method="L-BFGS-B", bounds=bounds).x)
    return GammaPrior(float(shape), float(shape / mean))
