"""What a tally says of items and slots: the one belief, in numbers for people.

It is the belief of the default policy that has absorbed the tally: the position bias at its mode, unless it is told,
the prior of attractiveness learned from the items, and attractiveness given both,

    λ̂ = argmax ℓ(log λ),    α_j | λ̂ ~ Gamma(s + N_·j, r + Σ_k λ̂_kÑ_kj),

`slotwise.belief.learned` having ℓ and `slotwise.belief.pooling` s and r. A bias that is learned has no scale of its
own, so what is reported is an item's worth in the first slot, λ̂_1·E[α_j | λ̂], and each slot's beside the first,
λ̂_k/λ̂_1.

The Gamma distribution above takes the bias as known and clicks as Poisson, which they nearly are where few visits
click. Intervals rest on neither: the standard error σ_j of log(λ_1α_j) is that of the equations behind λ̂ and α
(`slotwise.estimate.sandwich`), the priors counted as data, and the interval has the quantiles of the Gamma distribution
of the same mean and of standard deviation σ_j times its mean. With the bias told and rare clicks that is the posterior.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from slotwise import checks
from slotwise.belief.best_list import best_list, best_list_chances
from slotwise.belief.interface import update_by_tally
from slotwise.belief.learned import BIAS_SHAPE
from slotwise.belief.lived import lived
from slotwise.errors import InvalidInput
from slotwise.estimate import Estimate, GammaPrior, is_identifiable
from slotwise.estimate.curvature import Curvature
from slotwise.estimate.evidence import with_priors
from slotwise.estimate.intervals import around_mean
from slotwise.estimate.sandwich import Sandwich
from slotwise.setting import Setting
from slotwise.tally import Tally
from slotwise.typing import BoolArray, FloatArray, IntArray, Ranking


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is believed, given a tally; `posterior` makes it."""

    #: attractiveness and position bias, positive and finite for all, with standard errors and intervals
    estimate: Estimate
    #: what was learned of items in general, and is believed of one that was never shown
    prior: GammaPrior
    #: the default policy's, as the tally has left it
    belief: Any = field(repr=False)
    tally: Tally = field(repr=False)
    #: the position bias if it was told; what a click on an item is worth; the items that may not be shown
    told: FloatArray | None = None
    values: FloatArray | None = None
    excluded: IntArray | None = None

    @cached_property
    def probability_in_best_list(self) -> FloatArray:
        """Per item, of the list with the largest expected value; 0 for those that may not be shown."""
        # drawing changes a belief, and this one is frozen
        return best_list_chances(
            deepcopy(self.belief), position_bias=self.told, values=self.values, excluded=self.excluded
        )

    def best_list(self, slots: BoolArray | None = None) -> Ranking:
        """The list of the largest expected value for what is expected of each item, in these slots or in all."""
        alpha, bias = self.estimate.attractiveness, self.estimate.position_bias
        return best_list(alpha, bias, values=self.values, excluded=self.excluded, slots=slots)


def posterior(
    tally: Tally,
    position_bias: Any = None,
    *,
    values: FloatArray | None = None,
    excluded: IntArray | None = None,
) -> Posterior:
    """What is believed given `tally`, and the position bias where it is known.

    `values` and `excluded` say which lists are best: what a click on each item is worth, and which may not be shown.

    >>> seen = Tally(np.array([[30, 20, 25, 35, 28, 22, 2, 0]]), np.array([[300] * 6 + [3, 0]]))
    >>> found = posterior(seen)
    >>> found.estimate.attractiveness.round(2)      # two clicks and three passes: not yet worth 2/3
    array([0.1 , 0.07, 0.09, 0.12, 0.09, 0.08, 0.17, 0.11])
    >>> found.estimate.intervals().attractiveness.high.round(2)
    array([0.14, 0.1 , 0.12, 0.16, 0.13, 0.11, 0.38, 0.29])
    """
    counted = Tally(tally.clicks.copy(), tally.passes.copy())
    told = None if position_bias is None else checks.positive_vector("position_bias", position_bias, each="slot")
    if told is not None and len(told) != tally.slots:
        raise InvalidInput(f"position_bias must have one entry per slot, {tally.slots}, got {len(told)}")
    belief, prior = believed(counted, told)
    # λ_1, which a bias that is told has the scale of already
    scale = 1.0 if told is not None else float(belief.position_bias[0])
    return Posterior(
        _estimate(belief, prior, scale, counted, told is not None),
        GammaPrior(prior.shape, prior.rate / scale),
        belief,
        counted,
        told,
        values,
        excluded,
    )


def believed(tally: Tally, position_bias: FloatArray | None) -> tuple[Any, GammaPrior]:
    """What the default policy believes after absorbing `tally`, and the prior that it has learned."""
    belief = lived(Setting(tally.slots, tally.items, 1, position_bias))
    update_by_tally(belief, tally.clicks.astype(np.float64), tally.passes.astype(np.float64))
    return belief, GammaPrior(belief.item_shape, belief.item_shape / belief.item_mean[0])


def _estimate(belief: Any, prior: GammaPrior, scale: float, tally: Tally, told: bool) -> Estimate:
    alpha, bias = belief.shape / belief.rate, belief.position_bias.copy()
    passes = tally.passes.astype(np.float64)
    gamma = np.outer(bias, alpha)
    pairs = gamma * passes
    of_priors = prior.rate * alpha, np.zeros_like(bias) if told else BIAS_SHAPE * bias
    by_slot = np.zeros_like(bias) if told else pairs.sum(axis=1) + of_priors[1]
    curvature = Curvature(pairs.sum(axis=0) + of_priors[0], by_slot, pairs)
    sandwich = Sandwich(gamma, np.ones_like(gamma), curvature, passes, prior=of_priors)
    evidence = with_priors(
        tally,
        lambda: sandwich.log_errors(beside=None if told else 0),
        # of γ, which has the same scale in either
        sandwich.log_error_of,
        around=around_mean,
    )
    identifiable = bool(tally.passes.any(axis=0).all()) if told else is_identifiable(tally)
    return Estimate(alpha * scale, bias / scale, converged=True, identifiable=identifiable, sweeps=1, evidence=evidence)
