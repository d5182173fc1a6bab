"""The likelihood of scaling, from a tally, with Gamma priors of items and slots, and its maximum."""

from __future__ import annotations

import numpy as np

from slotwise.core.types import FloatArray
from slotwise.estimators.likelihoods.newton import Point, climb
from slotwise.estimators.likelihoods.schur_system import Curvature
from slotwise.estimators.uncertainty.sandwich_errors import Sandwich

SWEEPS = 4


class Penalised:
    """The scaling likelihood of a tally with Gamma priors, as a function of λ and α."""

    def __init__(
        self,
        clicks: FloatArray,
        passes: FloatArray,
        item_prior: tuple[FloatArray, FloatArray],
        slot_prior: tuple[FloatArray, FloatArray],
        *,
        free: bool,
    ) -> None:
        self.passes = passes
        self.item_clicks = clicks.sum(axis=0) + item_prior[0]
        self.slot_clicks = clicks.sum(axis=1) + slot_prior[0]
        self.item_rate, self.slot_rate = item_prior[1], slot_prior[1]
        # the first slot is the anchor
        self.free = (np.arange(len(clicks)) > 0) & free

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
