"""Attractiveness when the position biases are known: Grant and Leslie, equation (4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.estimators.estimate import Estimate
from slotwise.estimators.estimator_registry import register
from slotwise.estimators.iterative_scaling import weigh
from slotwise.estimators.uncertainty.standard_errors import Counts, tally_of, uncertainty_of


@register(
    "known-bias",
    name="Known position bias",
    citation="Grant and Leslie, Learning to Rank under Multinomial Logit Choice, equation (4)",
    position_bias="known",
    legend=1,
)
def known_bias(counts: Counts, position_bias: ArrayLike | None) -> Estimate:
    """Estimate attractiveness as clicks over exposure: α_j = N_·j/Λ_j, Λ_j = Σ_k λ_kÑ_kj.

    It is unbiased if every epoch is complete.

    Parameters
    ----------
    counts
        A tally, or rankings, with which the standard errors are exact to first order.
    position_bias
        λ, positive, one entry per slot.

    Returns
    -------
    Estimate
        Attractiveness per item, with the given position bias.

    Examples
    --------
    >>> from slotwise.core.tally import Tally
    >>> known_bias(Tally(np.array([[2, 0], [0, 1]]), np.array([[8, 2], [2, 8]])), [1.0, 0.5]).attractiveness.round(3)
    array([0.222, 0.167])
    """
    tally = tally_of(counts)
    bias = validation.positive_vector("position_bias", position_bias, each="slot")
    if len(bias) != tally.slots:
        raise InvalidInput(f"position_bias must have one entry per slot, {tally.slots}, got {len(bias)}")
    clicks = tally.clicks.sum(axis=0)
    exposure = bias @ tally.passes
    with np.errstate(divide="ignore", invalid="ignore"):
        attractiveness = clicks / exposure
    finite = bool(np.isfinite(attractiveness).all())
    uncertainty = uncertainty_of(counts, tally, bias, attractiveness, weigh, at_rest=True, known_bias=True)
    return Estimate(attractiveness, bias, converged=finite, identifiable=finite, sweeps=1, uncertainty=uncertainty)
