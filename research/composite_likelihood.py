"""The composite likelihood: Grant and Leslie's log-likelihood, in which the clicks of different slots are independent.

They are not, so it is not the likelihood of the data, but its maximum is consistent. It is the logistic regression of
click against no click on the item and the slot.
"""

from __future__ import annotations

import numpy as np

from slotwise.core.types import FloatArray
from slotwise.estimators.estimate import Estimate
from slotwise.estimators.estimator_registry import register
from slotwise.estimators.identifiability import is_identifiable
from slotwise.estimators.likelihoods.newton import Point, climb
from slotwise.estimators.likelihoods.schur_system import Curvature
from slotwise.estimators.uncertainty.standard_errors import Counts, tally_of, uncertainty_of, unknown_without_use


@register(
    "composite",
    name="Composite likelihood",
    citation="the log-likelihood of Grant and Leslie, Learning to Rank under Multinomial Logit Choice",
    legend=4,
)
def composite(counts: Counts) -> Estimate:
    """Maximise Σ_kj [N_kj log γ_kj - (N_kj + Ñ_kj) log(1 + γ_kj)], with λ of the first slot held at 1.

    Parameters
    ----------
    counts
        A tally, or rankings, with which the standard errors are exact to first order.

    Returns
    -------
    Estimate
        Attractiveness per item and position bias per slot.

    Examples
    --------
    >>> from slotwise.core.tally import Tally
    >>> estimate = composite(Tally(np.array([[30, 12], [8, 21]]), np.array([[50, 50], [50, 50]])))
    >>> estimate.attractiveness.round(2), estimate.position_bias.round(2), estimate.converged
    (array([0.44, 0.4 ]), array([1. , 0.7]), True)
    """
    tally = tally_of(counts)
    clicks, passes = tally.clicks.astype(np.float64), tally.passes.astype(np.float64)
    item_clicks, slot_clicks, item_passes = clicks.sum(axis=0), clicks.sum(axis=1), passes.sum(axis=0)
    attractiveness = np.where(item_clicks > 0, np.inf, 0.0)
    attractiveness[(item_clicks == 0) & (item_passes == 0)] = np.nan
    position_bias = (slot_clicks > 0).astype(np.float64)
    position_bias[0] = 1.0
    steps, converged = 1, False
    inside = (item_clicks > 0) & (item_passes > 0)
    if inside.any():
        start = np.clip(item_clicks[inside] / item_passes[inside], 1e-6, 1e6)
        position_bias, attractiveness[inside], steps, converged = climb(
            _PairLikelihood(clicks[:, inside], passes[:, inside]), position_bias, start
        )
    unknown_without_use(position_bias, slot_clicks, clicks[:, inside].sum(axis=1))
    finite = not np.isinf(attractiveness).any()
    return Estimate(
        attractiveness,
        position_bias,
        converged and finite,
        is_identifiable(tally),
        steps,
        uncertainty_of(counts, tally, position_bias, attractiveness, weigh, at_rest=converged),
    )


class _PairLikelihood:
    """The composite log-likelihood as a function of λ and α."""

    def __init__(self, clicks: FloatArray, passes: FloatArray) -> None:
        self.clicks, self.passes = clicks, passes
        self.item_clicks, self.slot_clicks = clicks.sum(axis=0), clicks.sum(axis=1)

    def at(self, position_bias: FloatArray, attractiveness: FloatArray) -> Point:
        """The log-likelihood, its score and its Newton step."""
        gamma = np.outer(position_bias, attractiveness)
        with np.errstate(divide="ignore", invalid="ignore"):
            of_slots = np.where(self.slot_clicks > 0, self.slot_clicks * np.log(position_bias), 0.0)
        value = (
            self.item_clicks @ np.log(attractiveness)
            + of_slots.sum()
            - ((self.clicks + self.passes) * np.log1p(gamma)).sum()
        )
        residual = (self.clicks - gamma * self.passes) / (1.0 + gamma)
        weight, _ = weigh(self.clicks, self.passes, gamma)
        by_slot = weight.sum(axis=1)
        by_slot[0] = 0.0
        return Point(
            float(value),
            residual.sum(axis=0),
            residual.sum(axis=1),
            Curvature(weight.sum(axis=0), by_slot, weight).solve,
        )


def weigh(clicks: FloatArray, passes: FloatArray, gamma: FloatArray) -> tuple[FloatArray, FloatArray]:
    """W = (N + Ñ)γ/(1 + γ)² and g = 1/(1 + γ)."""
    factor = 1.0 / (1.0 + gamma)
    return (clicks + passes) * gamma * factor**2, factor
