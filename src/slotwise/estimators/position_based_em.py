"""The position-based model: a user examines slot k with probability θ_k, and clicks an examined item with a_j.

Slots are clicked independently of each other, so a page may get several clicks. On a page with at most one click, slot
k has odds γ_kj = q_kj/(1 - q_kj) against no click, q_kj = θ_ka_j. These odds can be compared with multinomial logit, in
which γ_kj = λ_kα_j: the two models agree if clicks are rare.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slotwise.core.rankings import Rankings
from slotwise.core.types import FloatArray
from slotwise.estimators.gamma_priors import GammaPrior, checked_prior
from slotwise.estimators.likelihoods.list_likelihood import expected
from slotwise.estimators.likelihoods.newton import Point, climb
from slotwise.estimators.likelihoods.schur_system import Curvature

#: the maximum probability of a click
MAX_CERTAIN = 1.0 - 1e-6


@dataclass(frozen=True, eq=False)
class PositionBasedFit:
    """Attraction, and examination relative to the first slot."""

    #: a, per item: the probability of a click in the first slot
    attraction: FloatArray
    #: θ, per slot
    examination: FloatArray
    converged: bool

    @property
    def odds(self) -> FloatArray:
        """γ, slots × items."""
        return odds_of(np.outer(self.examination, self.attraction))


def position_based(
    rankings: Rankings, *, attraction_prior: GammaPrior, examination_prior: GammaPrior
) -> PositionBasedFit:
    """Maximise Σ N log γ - Σ_A T_A log(1 + S_A) and the priors' log-densities of (log a, log θ), with θ = 1 in slot 1.

    The curvature of the steps bounds the true one from above, as for multinomial logit.

    Parameters
    ----------
    rankings
        Counts by whole list.
    attraction_prior, examination_prior
        The priors of a and of θ.

    Examples
    --------
    >>> seen = Rankings([[0, 1], [1, 0]], [[30, 21], [12, 8]], [50, 50], items=2)
    >>> weak = GammaPrior(shape=0.01, rate=0.01)
    >>> fit = position_based(seen, attraction_prior=weak, examination_prior=weak)
    >>> fit.attraction.round(2), fit.examination.round(2), fit.converged
    (array([0.31, 0.28]), array([1.  , 0.77]), True)
    """
    items = checked_prior("attraction_prior", attraction_prior, rankings.items, "item")
    slots = checked_prior("examination_prior", examination_prior, rankings.slots, "slot")
    tally = rankings.tally
    item_clicks, slot_clicks = tally.clicks.sum(axis=0), tally.clicks.sum(axis=1)
    of_slots = rankings.showings.sum(axis=1)
    rate = np.clip((slot_clicks + 1.0) / (of_slots + 2.0), 1e-6, 0.4)
    examination = rate / rate[0]
    attraction = np.clip((item_clicks + 1.0) / (examination @ rankings.showings + 2.0), 1e-6, 0.4)
    attraction = np.minimum(attraction, 0.9 / examination.max())
    examination, attraction, _, converged = climb(_Likelihood(rankings, items, slots), examination, attraction)
    return PositionBasedFit(attraction, examination, converged)


class _Likelihood:
    """The log-likelihood with the priors' log-densities as a function of θ and a."""

    def __init__(
        self, rankings: Rankings, items: tuple[FloatArray, FloatArray], slots: tuple[FloatArray, FloatArray]
    ) -> None:
        self.rankings, self.items, self.slots = rankings, items, slots
        self.clicks, self.shown = rankings.tally.clicks, rankings.showings > 0

    def at(self, position_bias: FloatArray, attractiveness: FloatArray) -> Point:
        """The log-posterior, its score and its Newton step; -∞ if the probability of a click exceeds 1."""
        chance = np.outer(position_bias, attractiveness)
        if chance[self.shown].max(initial=0.0) >= MAX_CERTAIN:
            nowhere = np.zeros(len(attractiveness)), np.zeros(len(position_bias))
            return Point(-np.inf, *nowhere, lambda items, slots: (items, slots))
        there = expected(self.rankings, odds_of(chance))
        certain = 1.0 / (1.0 - np.where(self.shown, chance, 0.0))
        residual = (self.clicks - there.clicks) * certain
        pairs = there.clicks * certain**2
        of_items, of_slots = self.items[1] * attractiveness, self.slots[1] * position_bias
        value = (
            there.log_likelihood
            + self.items[0] @ np.log(attractiveness)
            - of_items.sum()
            + self.slots[0][1:] @ np.log(position_bias[1:])
            - of_slots[1:].sum()
        )
        by_slot = pairs.sum(axis=1) + of_slots
        by_slot[0] = 0.0
        return Point(
            float(value),
            residual.sum(axis=0) + self.items[0] - of_items,
            np.where(by_slot > 0, residual.sum(axis=1) + self.slots[0] - of_slots, 0.0),
            Curvature(pairs.sum(axis=0) + of_items, by_slot, pairs).solve,
        )


def odds_of(chance: FloatArray) -> FloatArray:
    """q/(1 - q), with q no more than nearly certain: a pair that was never shown may come out above 1."""
    below = np.minimum(chance, MAX_CERTAIN)
    return np.asarray(below / (1.0 - below))
