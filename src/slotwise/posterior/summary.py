"""The posterior given a tally, in numbers for people: estimates, intervals, and the best list.

It is the posterior of the default policy after the tally: the position bias at its mode, unless it is known, the prior
of attractiveness fitted to the items, and attractiveness given both,

    λ̂ = argmax ℓ(log λ),    α_j | λ̂ ~ Gamma(s + N_·j, r + Σ_k λ̂_kÑ_kj),

with ℓ, s and r of `slotwise.posterior.hyperparameters`. An estimated bias has no scale of its own. The reported
attractiveness is therefore that in the first slot, λ̂_1·E[α_j | λ̂], and position bias is relative to the first slot,
λ̂_k/λ̂_1.

The Gamma distribution above takes the bias as known and clicks as Poisson, which they nearly are if few visits click.
Intervals assume neither: the standard error σ_j of log(λ_1α_j) is that of the estimating equations of λ̂ and α
(`slotwise.estimators.uncertainty.sandwich`), with the priors counted as data. The part of it that the Gamma
distribution has is the item's own; the remaining part is uncertainty about the slots that it is compared by, symmetric
on the log scale. With a known bias and rare clicks the interval is that of the Gamma posterior.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.io import frame
from slotwise.core.policy_task import PolicyTask
from slotwise.core.result_tables import TABLES, Table, records, text_table
from slotwise.core.tally import Tally
from slotwise.core.types import BoolArray, FloatArray, HalfLife, IntArray, Ranking
from slotwise.estimators import Estimate, GammaPrior, is_identifiable
from slotwise.estimators.likelihoods.schur_system import Curvature
from slotwise.estimators.uncertainty.intervals import around_mean, around_scaled_mean
from slotwise.estimators.uncertainty.sandwich_errors import Sandwich
from slotwise.estimators.uncertainty.standard_errors import with_priors
from slotwise.posterior.best_list_draws import best_list, best_list_probabilities
from slotwise.posterior.factory import hierarchical_posterior
from slotwise.posterior.gamma_prior import BIAS_SHAPE
from slotwise.posterior.pair_effects import ModelCheck, model_check, pair_effects
from slotwise.posterior.posterior_interface import defer_refits, set_segment, update_by_tally
from slotwise.posterior.segment_similarity import variance_from_similarity
from slotwise.posterior.state import IN_USE, HierarchicalPosterior
from slotwise.posterior.updates import use_means

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Posterior:
    """The posterior of attractiveness and position bias given a tally, as `fit_posterior` returns it.

    Examples
    --------
    >>> result = fit_posterior(Tally(np.array([[30, 12], [8, 21]]), np.array([[50, 50], [50, 50]])))
    >>> result
    <Posterior of 2 items and 2 slots: attractiveness 0.3924 to 0.4489, position bias 0.7045 to 1>
    >>> print(result.summary())
    item attractiveness    low   high probability_in_best_list
       0         0.4489 0.2904 0.6686                        1
       1         0.3924 0.2491 0.5914                        1
    <BLANKLINE>
    slot position_bias    low  high
       1             1      1     1
       2        0.7045 0.4185 1.064
    """

    #: attractiveness and position bias, positive and finite for all, with standard errors and intervals
    estimate: Estimate
    #: the fitted prior of attractiveness: the posterior of an item that was never shown
    prior: GammaPrior
    #: the state of the default policy's posterior after the tally
    state: HierarchicalPosterior
    tally: Tally
    #: the position bias if it is known; the value of a click on each item; the items that may not be shown
    known_bias: FloatArray | None = None
    values: FloatArray | None = None
    excluded: IntArray | None = None
    #: the segment that it is of
    segment: int = 0

    def __repr__(self) -> str:
        return f"<Posterior of {repr(self.estimate).removeprefix('<Estimate of ')}"

    def columns(self, table: Table, level: float = 0.95) -> dict[str, Any]:
        """Return the columns of `to_frame` by name; items count from 0, slots from 1."""
        columns = self.estimate.columns(table, level)
        return columns | {"probability_in_best_list": self.probability_in_best_list} if table == "items" else columns

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Return plain lists and numbers that JSON can hold."""
        prior = {"shape": float(self.prior.shape), "rate": float(self.prior.rate)}
        return {**{table: records(self.columns(table, level)) for table in TABLES}, "prior": prior}

    def to_frame(self, table: Table = "items", level: float = 0.95) -> pd.DataFrame:
        """Return a data frame with a row per item or per slot.

        Parameters
        ----------
        table
            "items" or "slots".
        level
            The level of the intervals.
        """
        validation.one_of("table", table, TABLES)
        return frame(self.columns(table, level))

    def summary(self, level: float = 0.95) -> str:
        """Return both tables as text."""
        return "\n\n".join(text_table(self.columns(table, level)) for table in TABLES)

    @cached_property
    def probability_in_best_list(self) -> FloatArray:
        """Per item, of the list with the largest expected value; 0 for those that may not be shown."""
        # drawing changes a state, and this one is frozen
        state = deepcopy(self.state)
        set_segment(state, self.segment)
        return best_list_probabilities(state, position_bias=self.known_bias, values=self.values, excluded=self.excluded)

    def best_list(
        self,
        slots: BoolArray | None = None,
        *,
        excluded: IntArray | None = None,
        pinned: Mapping[int, int] | None = None,
    ) -> Ranking:
        """Return the list with the largest expected value at the estimates.

        Parameters
        ----------
        slots
            Whether each slot may be filled; without it all may.
        excluded
            Items to leave out, in place of those that may not be shown.
        pinned
            Items by number, with the slot that each must be in, both from 0.
        """
        alpha, bias = self.estimate.attractiveness, self.estimate.position_bias
        omitted = self.excluded if excluded is None else excluded
        effects = pair_effects(self.state)
        odds = None if effects is None else np.outer(bias, alpha) * effects
        return best_list(alpha, bias, values=self.values, excluded=omitted, slots=slots, pinned=pinned, odds=odds)

    @property
    def model_check(self) -> ModelCheck:
        """The test of whether slots act alike on all items, and what follows from it."""
        return model_check(self.state.counts.pairs)


def fit_posterior(
    tally: Tally,
    position_bias: ArrayLike | None = None,
    *,
    values: FloatArray | None = None,
    excluded: IntArray | None = None,
) -> Posterior:
    """Return the posterior of attractiveness and position bias given a tally.

    Parameters
    ----------
    tally
        Clicks and passes, slots × items.
    position_bias
        λ per slot if it is known.
    values
        The value of a click on each item, for the best list.
    excluded
        Items that may not be shown.

    Examples
    --------
    >>> seen = Tally(np.array([[30, 20, 25, 35, 28, 22, 2, 0]]), np.array([[300] * 6 + [3, 0]]))
    >>> result = fit_posterior(seen)
    >>> result.estimate.attractiveness.round(2)      # two clicks and three passes: not yet worth 2/3
    array([0.1 , 0.07, 0.09, 0.12, 0.09, 0.08, 0.17, 0.11])
    >>> result.estimate.intervals().attractiveness.high.round(2)
    array([0.14, 0.1 , 0.12, 0.16, 0.13, 0.11, 0.4 , 0.31])
    """
    known_bias = (
        None if position_bias is None else validation.positive_vector("position_bias", position_bias, each="slot")
    )
    if known_bias is not None and len(known_bias) != tally.slots:
        raise InvalidInput(f"position_bias must have one entry per slot, {tally.slots}, got {len(known_bias)}")
    counted = Tally(tally.clicks.copy(), tally.passes.copy())
    posterior = posterior_after(PolicyTask(tally.slots, tally.items, 1, known_bias), [{0: counted}])
    return summarize_posterior(posterior, counted, known_bias, values=values, excluded=excluded)


def posterior_after(
    task: PolicyTask, counted: Iterable[Mapping[int, Tally]], *, half_life: HalfLife = None
) -> HierarchicalPosterior:
    """Return the posterior of the default policy after tallies by segment, one period after the other."""
    posterior = hierarchical_posterior(task, half_life=half_life)
    for segment, tally, is_followed in iterate_tallies(counted):
        defer_refits(posterior, is_followed)
        set_segment(posterior, segment)
        update_by_tally(posterior, tally.clicks, tally.passes)
    return posterior


def iterate_tallies(counted: Iterable[Mapping[int, Tally]]) -> Iterator[tuple[int, Tally, bool]]:
    """Yield each segment and its tally, and whether more of the period follow, one period after the other."""
    for tallies in counted:
        for number, (segment, tally) in enumerate(tallies.items(), start=1):
            yield segment, tally, number < len(tallies)


def summarize_posterior(
    posterior: HierarchicalPosterior,
    tally: Tally,
    known_bias: FloatArray | None,
    *,
    segment: int = 0,
    values: FloatArray | None = None,
    excluded: IntArray | None = None,
) -> Posterior:
    """Return the posterior of one segment, whose counts are `tally`, and the position bias if it is known."""
    set_segment(posterior, segment)
    use_means(posterior)
    # λ_1; a known bias has its scale already
    scale = 1.0 if known_bias is not None else float(posterior.position_bias[0])
    average = float(
        np.exp(posterior.items.featured.weights[0]) if posterior.items.uses_features else posterior.items.mean[0]
    )
    return Posterior(
        _estimate(posterior, scale, tally, known_bias is not None),
        GammaPrior(posterior.items.shape, posterior.items.shape / average / scale),
        posterior,
        tally,
        known_bias,
        values,
        excluded,
        segment,
    )


def _estimate(posterior: HierarchicalPosterior, scale: float, tally: Tally, is_known: bool) -> Estimate:
    alpha, bias, segment = posterior.shape / posterior.rate, posterior.position_bias.copy(), posterior.segment
    passes = np.ascontiguousarray(posterior.counts.passes[segment].T)
    gamma = np.outer(bias, alpha)
    pairs = gamma * passes
    of_items, of_slots = _priors(posterior, alpha, bias, is_known)
    by_slot = np.where(of_slots > 0.0, pairs.sum(axis=1) + of_slots, 0.0)
    curvature = Curvature(pairs.sum(axis=0) + of_items, by_slot, pairs)
    sandwich = Sandwich(gamma, np.ones_like(gamma), curvature, passes, prior=(of_items, of_slots))
    shares = of_items / curvature.items, pairs / curvature.items
    uncertainty = with_priors(
        tally.slots,
        tally.items,
        _widened(
            lambda: sandwich.log_errors(beside=None if is_known else 0),
            lambda: _extra_variance(posterior, segment, *shares, is_known),
        ),
        # of γ, whose scale is the same with and without an anchor
        sandwich.log_error_of,
        around=around_scaled_mean(1.0 / np.sqrt(posterior.shape)),
        # the posterior of λ is Gamma too, and far from symmetric for a slot that was hardly shown
        around_slots=around_mean,
    )
    identifiable = bool(tally.passes.any(axis=0).all()) if is_known else is_identifiable(tally)
    return Estimate(alpha * scale, bias / scale, True, identifiable, sweeps=1, uncertainty=uncertainty)


def _priors(
    posterior: HierarchicalPosterior, alpha: FloatArray, bias: FloatArray, is_known: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the curvature of the prior of each item and slot of the current segment, 0 for slots of known bias."""
    segments, segment = posterior.segments, posterior.segment
    if len(posterior.counts.passes) == 1:
        return posterior.draw.prior_rate * alpha, np.zeros_like(bias) if is_known else BIAS_SHAPE * bias
    level = segments.level * posterior.items.segment_mean[segment]
    return segments.similarity / level * alpha, segments.slot_similarity * segments.slot_deviation[segment]


def _extra_variance(
    posterior: HierarchicalPosterior, segment: int, prior_share: FloatArray, slot_shares: FloatArray, is_known: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the extra variance of log(λ_1α) and log(λ/λ_1) from the estimated means that they are shrunk toward.

    An item is shrunk toward the prediction of its features, and in a segment toward its level. With b the share of the
    prior in the posterior of the item, b² times the variance of that mean is added. The strength of the shrinkage in a
    segment is uncertain too (`slotwise.posterior.segment_similarity`). The slots of a segment are shrunk toward λ,
    whose covariance passes on to items by the slots that they were shown in.
    """
    counts, items, segments = posterior.counts, posterior.items, posterior.segments
    roots = items.features @ items.featured.root if items.uses_features else np.zeros((len(prior_share), 1))
    of_priors, of_slots = (roots**2).sum(axis=1), np.zeros(len(slot_shares))
    of_items = np.zeros_like(of_priors)
    if len(counts.passes) > 1:
        # as in the draws of m in `slotwise.posterior.sampling`
        part = segments.similarity / (segments.similarity + segments.level * items.segment_mean * segments.exposure)
        evidence = items.shape + (part * counts.clicks[IN_USE]).sum(axis=0)
        of_priors = 1.0 / evidence + (items.shape / evidence) ** 2 * of_priors
        of_items = variance_from_similarity(counts, items, segments, segment)
        if not is_known:
            against_first = posterior.bias.root - posterior.bias.root[0]
            of_slots = (against_first**2).sum(axis=1)
            of_items = of_items + ((slot_shares.T @ against_first) ** 2).sum(axis=1)
    return of_items + prior_share**2 * of_priors, of_slots


def _widened(
    log_errors: Callable[[], tuple[FloatArray, FloatArray]], variances: Callable[[], tuple[FloatArray, FloatArray]]
) -> Callable[[], tuple[FloatArray, FloatArray]]:
    def widened() -> tuple[FloatArray, FloatArray]:
        of_items, of_slots = log_errors()
        # unchanged without extra variance: the root of a square is not always the same number
        return tuple(  # type: ignore[return-value]
            np.where(extra > 0.0, np.sqrt(errors**2 + extra), errors)
            for errors, extra in zip((of_items, of_slots), variances(), strict=True)
        )

    return widened
