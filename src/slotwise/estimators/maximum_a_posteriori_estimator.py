"""Maximum a posteriori with Gamma priors: a finite estimate for every item and slot, even without data.

The maximum is that of the density of (log α, log λ). With a known bias and a tally it is the posterior mean. λ of the
first slot is 1. The priors are therefore those of an item's odds of a click in the first slot, and of the visibility of
the other slots relative to the first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.rankings import Rankings
from slotwise.core.types import FloatArray
from slotwise.estimators.estimate import Estimate
from slotwise.estimators.estimator_registry import register
from slotwise.estimators.gamma_priors import GammaPrior, checked_prior
from slotwise.estimators.identifiability import is_identifiable
from slotwise.estimators.likelihoods.joint_likelihood import Joint
from slotwise.estimators.likelihoods.tally_map import Penalised
from slotwise.estimators.uncertainty.standard_errors import Counts, tally_of, with_priors

#: worth half a click and half a visit without a click
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
    position_bias: ArrayLike | None = None,
) -> Estimate:
    """α_j = (a_j + N_·j)/(b_j + Σ_k λ_kÑ_kj) and λ_k = (c_k + N_k·)/(d_k + Σ_j α_jÑ_kj), or λ as given.

    From a tally the likelihood is that of scaling; from rankings it is the joint one. The standard errors are those of
    the posterior: intervals have their nominal coverage if the true values are drawn from the prior.

    Parameters
    ----------
    counts
        A tally, or rankings.
    attractiveness_prior
        The prior of α.
    position_bias_prior
        The prior of λ; its entry for the first slot is not used. Give either this or `position_bias`.
    position_bias
        λ, if it is known.

    Returns
    -------
    Estimate
        Attractiveness per item and position bias per slot.

    Examples
    --------
    >>> from slotwise import Tally
    >>> tally = Tally(np.array([[3, 0, 0], [0, 2, 0]]), np.array([[5, 0, 0], [0, 5, 0]]))    # nothing ties slot to slot
    >>> weak = GammaPrior(shape=0.5, rate=1.0)
    >>> estimate = maximum_a_posteriori(tally, attractiveness_prior=weak, position_bias_prior=GammaPrior(2.0, 2.0))
    >>> estimate.attractiveness.round(2), estimate.position_bias.round(2), estimate.identifiable
    (array([0.58, 0.43, 0.5 ]), array([1.  , 0.96]), False)
    """
    tally = tally_of(counts)
    prior = checked_prior("attractiveness_prior", attractiveness_prior, tally.items, "item")
    is_known = position_bias is not None
    bias, slot_prior = _bias_and_prior(tally.slots, position_bias, position_bias_prior)
    if isinstance(counts, Rankings):
        joint = Joint.of(counts, prior, slot_prior, free=not is_known)
        bias, attractiveness, sweeps, converged = joint.maximise(bias)
    else:
        posterior = Penalised(
            tally.clicks.astype(np.float64), tally.passes.astype(np.float64), prior, slot_prior, free=not is_known
        )
        bias, attractiveness, sweeps, converged = posterior.maximise(bias)

    def errors() -> tuple[FloatArray, FloatArray]:
        if isinstance(counts, Rankings):
            every = np.ones(len(attractiveness), bool), np.ones(len(bias), bool)
            return joint.log_errors(bias, attractiveness, *every)
        return posterior.log_errors(bias, attractiveness)

    def error_of(of_items: FloatArray, of_slots: FloatArray) -> float:
        likelihood = joint if isinstance(counts, Rankings) else posterior
        return likelihood.log_error_of(bias, attractiveness, of_items, of_slots)

    uncertainty = with_priors(tally.slots, tally.items, errors, error_of, at_rest=converged)
    identifiable = bool(tally.passes.any(axis=0).all()) if is_known else is_identifiable(tally)
    return Estimate(attractiveness, bias, converged, identifiable, sweeps, uncertainty)


def _bias_and_prior(
    slots: int, position_bias: ArrayLike | None, position_bias_prior: GammaPrior | None
) -> tuple[FloatArray, tuple[FloatArray, FloatArray]]:
    """Return λ to start from and its prior; a known λ has none."""
    if (position_bias is None) == (position_bias_prior is None):
        raise InvalidInput(
            "position_bias_prior or position_bias must be given, and not both, got "
            f"{position_bias_prior!r} and {position_bias!r}"
        )
    if position_bias is None:
        return np.ones(slots), checked_prior("position_bias_prior", position_bias_prior, slots, "slot")
    bias = validation.positive_vector("position_bias", position_bias, each="slot")
    if len(bias) != slots:
        raise InvalidInput(f"position_bias must have one entry per slot, {slots}, got {len(bias)}")
    return bias, (np.zeros(slots), np.zeros(slots))
