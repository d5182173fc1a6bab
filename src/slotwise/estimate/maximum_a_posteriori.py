"""Maximum a posteriori with Gamma priors: an answer for every item and slot, however little was seen of it.

The maximum is that of the density of (log α, log λ). With the bias known and a tally it is the posterior mean. λ of the
first slot is 1. The priors are therefore about what an item is worth in the first slot, in clicks on it per visit
without a click, and about what the other slots are worth beside the first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise import checks
from slotwise.errors import InvalidInput
from slotwise.estimate.climb import Point, climb
from slotwise.estimate.curvature import Curvature
from slotwise.estimate.evidence import Counts, tally_of, with_priors
from slotwise.estimate.identifiability import is_identifiable
from slotwise.estimate.joint import Joint
from slotwise.estimate.priors import GammaPrior, checked_prior
from slotwise.estimate.registry import register
from slotwise.estimate.result import Estimate
from slotwise.estimate.sandwich import Sandwich
from slotwise.rankings import Rankings
from slotwise.tally import Tally
from slotwise.typing import FloatArray

SWEEPS = 4
#: as much as half a click, in half a visit without one
WEAK_PRIOR = GammaPrior(shape=0.5, rate=0.5)


@register(
    "maximum-a-posteriori",
    name="Maximum a posteriori",
    citation="the likelihood of the data with Gamma priors",
    try_with={"attractiveness_prior": WEAK_PRIOR, "position_bias_prior": WEAK_PRIOR},
    legend=6,
)
def maximum_a_posteriori(
    counts: Counts,
    *,
    attractiveness_prior: GammaPrior,
    position_bias_prior: GammaPrior | None = None,
    position_bias: Any = None,
) -> Estimate:
    """α_j = (a_j + N_·j)/(b_j + Σ_k λ_kÑ_kj) and λ_k = (c_k + N_k·)/(d_k + Σ_j α_jÑ_kj), or λ as given.

    Give either `position_bias_prior`, whose entry for the first slot is not used, or the known `position_bias`. From a
    tally the likelihood is that of scaling; from rankings it is the joint one. The standard errors are those of the
    posterior: intervals hold the truth as often as they say when it is drawn from the prior, on average.

    >>> tally = Tally(np.array([[3, 0, 0], [0, 2, 0]]), np.array([[5, 0, 0], [0, 5, 0]]))    # nothing ties slot to slot
    >>> weak = GammaPrior(shape=0.5, rate=1.0)
    >>> estimate = maximum_a_posteriori(tally, attractiveness_prior=weak, position_bias_prior=GammaPrior(2.0, 2.0))
    >>> estimate.attractiveness.round(2), estimate.position_bias.round(2), estimate.identifiable
    (array([0.58, 0.43, 0.5 ]), array([1.  , 0.96]), False)
    """
    tally = tally_of(counts)
    prior = checked_prior("attractiveness_prior", attractiveness_prior, tally.items, "item")
    if (position_bias is None) == (position_bias_prior is None):
        raise InvalidInput(
            "position_bias_prior or position_bias must be given, and not both, got "
            f"{position_bias_prior!r} and {position_bias!r}"
        )
    known = position_bias is not None
    if known:
        bias = checks.positive_vector("position_bias", position_bias, each="slot")
        if len(bias) != tally.slots:
            raise InvalidInput(f"position_bias must have one entry per slot, {tally.slots}, got {len(bias)}")
        slot_prior = np.zeros(tally.slots), np.zeros(tally.slots)
    else:
        bias = np.ones(tally.slots)
        slot_prior = checked_prior("position_bias_prior", position_bias_prior, tally.slots, "slot")
    if isinstance(counts, Rankings):
        joint = Joint.of(counts, prior, slot_prior, free=not known)
        bias, attractiveness, sweeps, converged = joint.maximise(bias)
    else:
        posterior = _Penalised(tally, prior, slot_prior, free=not known)
        bias, attractiveness, sweeps, converged = posterior.maximise(bias)

    def errors() -> tuple[FloatArray, FloatArray]:
        if isinstance(counts, Rankings):
            every = np.ones(len(attractiveness), bool), np.ones(len(bias), bool)
            return joint.log_errors(bias, attractiveness, *every)
        return posterior.log_errors(bias, attractiveness)

    def error_of(of_items: FloatArray, of_slots: FloatArray) -> float:
        likelihood = joint if isinstance(counts, Rankings) else posterior
        return likelihood.log_error_of(bias, attractiveness, of_items, of_slots)

    evidence = with_priors(tally, errors, error_of, at_rest=converged)
    identifiable = bool(tally.passes.any(axis=0).all()) if known else is_identifiable(tally)
    return Estimate(attractiveness, bias, converged, identifiable, sweeps, evidence)


class _Penalised:
    """The scaling likelihood of a tally with Gamma priors, as a function of λ and α."""

    def __init__(
        self,
        tally: Tally,
        item_prior: tuple[FloatArray, FloatArray],
        slot_prior: tuple[FloatArray, FloatArray],
        *,
        free: bool,
    ) -> None:
        self.passes = tally.passes.astype(np.float64)
        self.item_clicks = tally.clicks.sum(axis=0) + item_prior[0]
        self.slot_clicks = tally.clicks.sum(axis=1) + slot_prior[0]
        self.item_rate, self.slot_rate = item_prior[1], slot_prior[1]
        # the first slot is the anchor
        self.free = (np.arange(tally.slots) > 0) & free

    def maximise(self, bias: FloatArray) -> tuple[FloatArray, FloatArray, int, bool]:
        """λ, α, the sweeps and steps taken, and whether they came to rest."""
        for _ in range(SWEEPS):
            attractiveness = self.item_clicks / (self.item_rate + bias @ self.passes)
            by_slot = self.slot_clicks / (self.slot_rate + self.passes @ attractiveness) if self.free.any() else bias
            bias = np.where(self.free, by_slot, bias)
        attractiveness = self.item_clicks / (self.item_rate + bias @ self.passes)
        bias, attractiveness, steps, converged = climb(self, bias, attractiveness)
        return bias, attractiveness, SWEEPS + steps, converged

    def at(self, bias: FloatArray, attractiveness: FloatArray) -> Point:
        """The log-posterior, its score and its Newton step."""
        curvature = self.curvature(bias, attractiveness)
        value = (
            self.item_clicks @ np.log(attractiveness)
            - curvature.items.sum()
            + self.slot_clicks[self.free] @ np.log(bias[self.free])
            - (self.slot_rate * bias)[self.free].sum()
        )
        items = self.item_clicks - curvature.items
        slots = np.where(self.free, self.slot_clicks - curvature.slots, 0.0)
        return Point(float(value), items, slots, curvature.solve)

    def curvature(self, bias: FloatArray, attractiveness: FloatArray) -> Curvature:
        """W = γÑ; d and e are its sums, and what the priors add."""
        pairs = np.outer(bias, attractiveness) * self.passes
        slots = np.where(self.free, pairs.sum(axis=1) + self.slot_rate * bias, 0.0)
        return Curvature(pairs.sum(axis=0) + self.item_rate * attractiveness, slots, pairs)

    def log_errors(self, bias: FloatArray, attractiveness: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The standard errors of log α and log λ."""
        return self._sandwich(bias, attractiveness).log_errors()

    def log_error_of(
        self, bias: FloatArray, attractiveness: FloatArray, of_items: FloatArray, of_slots: FloatArray
    ) -> float:
        """The standard error of Σ_j c_j log α_j + Σ_k e_k log λ_k."""
        return self._sandwich(bias, attractiveness).log_error_of(of_items, of_slots)

    def _sandwich(self, bias: FloatArray, attractiveness: FloatArray) -> Sandwich:
        gamma = np.outer(bias, attractiveness)
        prior = self.item_rate * attractiveness, self.slot_rate * bias
        return Sandwich(gamma, np.ones_like(gamma), self.curvature(bias, attractiveness), self.passes, prior=prior)
