"""What a tally says of items and slots: the one belief, in numbers for people.

It is the belief of the default policy that has absorbed the tally: the position bias at its mode, unless it is told,
the prior of attractiveness learned from the items, and attractiveness given both,

    λ̂ = argmax ℓ(log λ),    α_j | λ̂ ~ Gamma(s + N_·j, r + Σ_k λ̂_kÑ_kj),

`slotwise.posterior.hyperparameters` having ℓ, s and r. A bias that is learned has no scale of its
own, so what is reported is an item's worth in the first slot, λ̂_1·E[α_j | λ̂], and each slot's beside the first,
λ̂_k/λ̂_1.

The Gamma distribution above takes the bias as known and clicks as Poisson, which they nearly are where few visits
click. Intervals rest on neither: the standard error σ_j of log(λ_1α_j) is that of the equations behind λ̂ and α
(`slotwise.estimators.uncertainty.sandwich_errors`), the priors counted as data. As much of it as the Gamma
distribution has is the item's
own; the rest is not known of the slots that it is compared by, and as likely a factor too high as too low. With the
bias told and rare clicks the interval is that of the posterior.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.policy_task import Setting
from slotwise.core.tally import Tally
from slotwise.core.types import BoolArray, FloatArray, HalfLife, IntArray, Ranking
from slotwise.estimators import Estimate, GammaPrior, is_identifiable
from slotwise.estimators.likelihoods.schur_system import Curvature
from slotwise.estimators.uncertainty.intervals import around_mean, around_scaled_mean
from slotwise.estimators.uncertainty.sandwich_errors import Sandwich
from slotwise.estimators.uncertainty.standard_errors import with_priors
from slotwise.posterior.best_list_draws import best_list, best_list_chances
from slotwise.posterior.factory import lived
from slotwise.posterior.gamma_prior import BIAS_SHAPE
from slotwise.posterior.posterior_interface import hold_still, turn_to, update_by_tally
from slotwise.posterior.segment_similarity import variance_from_similarity
from slotwise.posterior.state import IN_USE, HierarchicalPosterior
from slotwise.posterior.updates import settle_on_means


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is believed, given a tally; `posterior` makes it."""

    #: attractiveness and position bias, positive and finite for all, with standard errors and intervals
    estimate: Estimate
    #: what was learned of items in general, and is believed of one that was never shown
    prior: GammaPrior
    #: the default policy's, as the tally has left it
    belief: HierarchicalPosterior = field(repr=False)
    tally: Tally = field(repr=False)
    #: the position bias if it was told; what a click on an item is worth; the items that may not be shown
    told: FloatArray | None = None
    values: FloatArray | None = None
    excluded: IntArray | None = None
    #: whom it is of, where visitors are told apart
    segment: int = 0

    @cached_property
    def probability_in_best_list(self) -> FloatArray:
        """Per item, of the list with the largest expected value; 0 for those that may not be shown."""
        # drawing changes a belief, and this one is frozen
        belief = deepcopy(self.belief)
        turn_to(belief, self.segment)
        return best_list_chances(belief, position_bias=self.told, values=self.values, excluded=self.excluded)

    def best_list(
        self,
        slots: BoolArray | None = None,
        *,
        excluded: IntArray | None = None,
        pinned: Mapping[int, int] | None = None,
    ) -> Ranking:
        """The list of the largest expected value for what is expected of each item, in these slots or in all.

        `excluded` are items to leave out instead of those that may not be shown at all, and `pinned` items that have to
        be in certain slots.
        """
        alpha, bias = self.estimate.attractiveness, self.estimate.position_bias
        left_out = self.excluded if excluded is None else excluded
        return best_list(alpha, bias, values=self.values, excluded=left_out, slots=slots, pinned=pinned)


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
    array([0.14, 0.1 , 0.12, 0.16, 0.13, 0.11, 0.4 , 0.31])
    """
    told = None if position_bias is None else validation.positive_vector("position_bias", position_bias, each="slot")
    if told is not None and len(told) != tally.slots:
        raise InvalidInput(f"position_bias must have one entry per slot, {tally.slots}, got {len(told)}")
    counted = Tally(tally.clicks.copy(), tally.passes.copy())
    belief = believed(Setting(tally.slots, tally.items, 1, told), [{0: counted}])
    return posterior_of(belief, counted, told, values=values, excluded=excluded)


def believed(
    setting: Setting, counted: Iterable[Mapping[int, Tally]], *, half_life: HalfLife = None
) -> HierarchicalPosterior:
    """What the default policy believes after absorbing tallies by segment, one period after the other."""
    belief = lived(setting, half_life=half_life)
    for segment, tally, more in one_by_one(counted):
        hold_still(belief, more)
        turn_to(belief, segment)
        update_by_tally(belief, tally.clicks, tally.passes)
    return belief


def one_by_one(counted: Iterable[Mapping[int, Tally]]) -> Iterator[tuple[int, Tally, bool]]:
    """Tallies by segment, one period after the other: each segment and tally, and whether the period has more."""
    for tallies in counted:
        for number, (segment, tally) in enumerate(tallies.items(), start=1):
            yield segment, tally, number < len(tallies)


def posterior_of(
    belief: HierarchicalPosterior,
    tally: Tally,
    told: FloatArray | None,
    *,
    segment: int = 0,
    values: FloatArray | None = None,
    excluded: IntArray | None = None,
) -> Posterior:
    """What `belief` has of a segment, of which `tally` was counted; `told` is the position bias where it is known."""
    turn_to(belief, segment)
    settle_on_means(belief)
    # λ_1, which a bias that is told has the scale of already
    scale = 1.0 if told is not None else float(belief.position_bias[0])
    usual = float(np.exp(belief.items.featured.weights[0]) if belief.items.uses_features else belief.items.mean[0])
    return Posterior(
        _estimate(belief, scale, tally, told is not None),
        GammaPrior(belief.items.shape, belief.items.shape / usual / scale),
        belief,
        tally,
        told,
        values,
        excluded,
        segment,
    )


def _estimate(belief: HierarchicalPosterior, scale: float, tally: Tally, told: bool) -> Estimate:
    alpha, bias = belief.shape / belief.rate, belief.position_bias.copy()
    passes = np.ascontiguousarray(belief.counts.passes[belief.segment].T)
    gamma = np.outer(bias, alpha)
    pairs = gamma * passes
    of_items, of_slots = _priors(belief, alpha, bias, told)
    by_slot = np.where(of_slots > 0.0, pairs.sum(axis=1) + of_slots, 0.0)
    curvature = Curvature(pairs.sum(axis=0) + of_items, by_slot, pairs)
    sandwich = Sandwich(gamma, np.ones_like(gamma), curvature, passes, prior=(of_items, of_slots))
    more = _variance_of_shared(belief, of_items / curvature.items, pairs / curvature.items, told)
    uncertainty = with_priors(
        tally.slots,
        tally.items,
        _widened(lambda: sandwich.log_errors(beside=None if told else 0), more),
        # of γ, which has the same scale in either
        sandwich.log_error_of,
        around=around_scaled_mean(1.0 / np.sqrt(belief.shape)),
        # λ has a Gamma posterior as well, which of a slot that was hardly seen is far from symmetric
        around_slots=around_mean,
    )
    identifiable = bool(tally.passes.any(axis=0).all()) if told else is_identifiable(tally)
    return Estimate(alpha * scale, bias / scale, True, identifiable, sweeps=1, uncertainty=uncertainty)


def _priors(
    belief: HierarchicalPosterior, alpha: FloatArray, bias: FloatArray, told: bool
) -> tuple[FloatArray, FloatArray]:
    """The curvature of the prior of each item and slot of the segment at hand, 0 for slots that are told."""
    segments, segment = belief.segments, belief.segment
    if len(belief.counts.passes) == 1:
        return belief.draw.prior_rate * alpha, np.zeros_like(bias) if told else BIAS_SHAPE * bias
    level = segments.level * belief.items.segment_mean[segment]
    return segments.similarity / level * alpha, segments.slot_similarity * segments.slot_deviation[segment]


def _variance_of_shared(
    belief: HierarchicalPosterior, prior_share: FloatArray, slot_shares: FloatArray, told: bool
) -> tuple[FloatArray, FloatArray]:
    """How much more log(λ_1α) and log(λ/λ_1) vary because what they are drawn to was learned itself.

    An item is drawn to what its features say of it, and in a segment to what it is to everybody: by b, the part that
    its prior has in what is believed of it, so that b² of the variance of that is added. How strongly it is
    drawn to that in a segment is not known either (`slotwise.posterior.segment_similarity`). A segment's slots are
    drawn to λ, the
    covariance of which passes on to items by the slots that they were seen in.
    """
    counts, items, segments = belief.counts, belief.items, belief.segments
    roots = items.features @ items.featured.root if items.uses_features else np.zeros((len(prior_share), 1))
    of_priors, of_slots = (roots**2).sum(axis=1), np.zeros(len(slot_shares))
    of_items = np.zeros_like(of_priors)
    if len(counts.passes) > 1:
        # as in `slotwise.posterior.sampling`, where m is drawn
        part = segments.similarity / (segments.similarity + segments.level * items.segment_mean * segments.exposure)
        evidence = items.shape + (part * counts.clicks[IN_USE]).sum(axis=0)
        of_priors = 1.0 / evidence + (items.shape / evidence) ** 2 * of_priors
        of_items = variance_from_similarity(counts, items, segments, belief.segment)
        if not told:
            beside_first = belief.bias.root - belief.bias.root[0]
            of_slots = (beside_first**2).sum(axis=1)
            of_items = of_items + ((slot_shares.T @ beside_first) ** 2).sum(axis=1)
    return of_items + prior_share**2 * of_priors, of_slots


def _widened(
    log_errors: Callable[[], tuple[FloatArray, FloatArray]], more: tuple[FloatArray, FloatArray]
) -> Callable[[], tuple[FloatArray, FloatArray]]:
    def widened() -> tuple[FloatArray, FloatArray]:
        of_items, of_slots = log_errors()
        # as they are where there is no more: a root of a square is not always the same number
        return tuple(  # type: ignore[return-value]
            np.where(extra > 0.0, np.sqrt(errors**2 + extra), errors)
            for errors, extra in zip((of_items, of_slots), more, strict=True)
        )

    return widened
