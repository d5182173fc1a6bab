"""The joint likelihood of whole rankings, with or without Gamma priors, and its maximum.

    ℓ = Σ_kj N_kj log γ_kj - Σ_A T_A log(1 + S_A),  S_A the sum of γ over ranking A, which was shown T_A times,

is concave in (log α, log λ); a Gamma prior of shape a and rate b adds a log α - bα. A sweep divides clicks by exposure,
as scaling does, with the passes that are expected, T_A/(1 + S_A), in the place of those that were seen. Newton steps
finish. Items that were shown together appear in each other's equations, so they cannot be eliminated. But the curvature
of scaling bounds that of ℓ from above, and 1/(1 + S) of it from below, so that conjugate gradients with it are quick.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from slotwise.core.rankings import Rankings
from slotwise.core.types import BoolArray, FloatArray, IntArray
from slotwise.estimators.likelihoods.list_kernels import add_expected, information, information_times, subtract_squares
from slotwise.estimators.likelihoods.newton import Point, climb
from slotwise.estimators.likelihoods.schur_system import Curvature
from slotwise.estimators.uncertainty.sandwich_errors import Sandwich

SWEEPS = 2
#: conjugate gradients stop when the residual, in the norm of the preconditioner, is this part of what it was
ACCURACY = 1e-2
MAX_ROUNDS = 60
#: the same where the solution itself is wanted
FINE_ACCURACY = 1e-5
MAX_FINE_ROUNDS = 500
#: the most parameters whose information is inverted as a matrix
MAX_INVERTED = 1500
#: the most parameters and lists whose Newton step is solved as a matrix, which is then quicker than by gradients
SMALL, FEW_LISTS = 200, 1_000


@dataclass(frozen=True, eq=False)
class Joint:
    """The likelihood's data, and the priors' shapes and rates: per item, and per slot after the first."""

    shown: IntArray
    times: FloatArray
    item_clicks: FloatArray
    slot_clicks: FloatArray
    item_shape: FloatArray
    item_rate: FloatArray
    slot_shape: FloatArray
    slot_rate: FloatArray
    #: whether λ is to be estimated
    free: bool

    @classmethod
    def of(
        cls,
        rankings: Rankings,
        item_prior: tuple[FloatArray, FloatArray] | None = None,
        slot_prior: tuple[FloatArray, FloatArray] | None = None,
        *,
        free: bool = True,
    ) -> Joint:
        """The likelihood of these rankings; without priors, their shapes and rates are 0."""
        tally = rankings.tally
        none = np.zeros(tally.items), np.zeros(tally.slots)
        item_shape, item_rate = item_prior or (none[0], none[0])
        slot_shape, slot_rate = slot_prior or (none[1], none[1])
        return cls(
            rankings.shown,
            rankings.times.astype(np.float64),
            tally.clicks.sum(axis=0).astype(np.float64),
            tally.clicks.sum(axis=1).astype(np.float64),
            item_shape,
            item_rate,
            slot_shape,
            slot_rate,
            free,
        )

    def maximise(self, position_bias: FloatArray | None = None) -> tuple[FloatArray, FloatArray, int, bool]:
        """λ, α, the sweeps and steps taken, and whether they came to log_total; λ is held if it is not free."""
        items, slots = len(self.item_clicks), len(self.slot_clicks)
        of_items, of_slots = self.item_clicks + self.item_shape, self.slot_clicks + self.slot_shape
        bias = np.ones(slots) if position_bias is None else position_bias.copy()
        if self.free:
            bias[1:][of_slots[1:] == 0] = 0.0
        attractiveness = np.where(of_items > 0, 0.1, 0.0)
        for _ in range(SWEEPS):
            pairs, _, _ = self.expected(bias, attractiveness)
            attractiveness *= _ratio(of_items, pairs.sum(axis=0) + self.item_rate * attractiveness)
            if self.free:
                pairs, _, _ = self.expected(bias, attractiveness)
                bias[1:] *= _ratio(of_slots, pairs.sum(axis=1) + self.slot_rate * bias)[1:]
        if not attractiveness.any():
            return bias, np.zeros(items), SWEEPS, False
        bias, attractiveness, steps, converged = climb(self, bias, attractiveness)
        return bias, attractiveness, SWEEPS + steps, converged

    def at(self, position_bias: FloatArray, attractiveness: FloatArray) -> Point:
        """The log-likelihood, its score and its Newton step."""
        pairs, chances, log_total = self.expected(position_bias, attractiveness)
        of_items, of_slots = self.item_rate * attractiveness, self.slot_rate * position_bias
        items, slots = self.item_clicks + self.item_shape, self.slot_clicks + self.slot_shape
        value = _weighted_log(items, attractiveness) - of_items.sum() - log_total
        if self.free:
            value += _weighted_log(slots[1:], position_bias[1:]) - of_slots[1:].sum()
        prior = np.concatenate([of_items, of_slots])
        above = self.bound(position_bias, attractiveness, pairs)
        slot_score = np.where(above.slots > 0, slots - pairs.sum(axis=1) - of_slots, 0.0)
        item_score = np.where(above.items > 0, items - pairs.sum(axis=0) - of_items, 0.0)

        def solve(of_items: FloatArray, of_slots: FloatArray) -> tuple[FloatArray, FloatArray]:
            # without priors the matrix may have no inverse
            if self.item_rate.all() and len(prior) <= SMALL and len(self.shown) <= FEW_LISTS:
                return self._solved(chances, prior, above, of_items, of_slots)
            return self._conjugate_gradients(chances, prior, above, of_items, of_slots)

        return Point(float(value), item_score, slot_score, solve)

    def bound(self, position_bias: FloatArray, attractiveness: FloatArray, pairs: FloatArray) -> Curvature:
        """The curvature of scaling, from the expected clicks per pair."""
        slots = pairs.sum(axis=1) + self.slot_rate * position_bias
        slots[0] = 0.0
        return Curvature(
            pairs.sum(axis=0) + self.item_rate * attractiveness, slots if self.free else np.zeros_like(slots), pairs
        )

    def expected(self, position_bias: FloatArray, attractiveness: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """Expected clicks per pair, the chance of a click per slot of each ranking, and Σ T log(1 + S)."""
        pairs, chances = np.zeros((len(position_bias), len(attractiveness))), np.zeros(self.shown.shape)
        log_total = add_expected(self.shown, self.times, position_bias, attractiveness, pairs, chances)
        return pairs, chances, log_total

    def _solved(
        self, chances: FloatArray, prior: FloatArray, above: Curvature, of_items: FloatArray, of_slots: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """By the information as a matrix."""
        free = np.concatenate([above.items > 0, above.slots > 0])
        matrix = np.diag(prior[free])
        information(self.shown, self.times, chances, np.where(free, np.cumsum(free) - 1, -1), matrix)
        solution = np.zeros(len(free))
        solution[free] = np.linalg.solve(matrix, np.concatenate([of_items, of_slots])[free])
        return solution[: len(of_items)], solution[len(of_items) :]

    def _conjugate_gradients(
        self,
        chances: FloatArray,
        prior: FloatArray,
        above: Curvature,
        of_items: FloatArray,
        of_slots: FloatArray,
        accuracy: float = ACCURACY,
        most_rounds: int = MAX_ROUNDS,
    ) -> tuple[FloatArray, FloatArray]:
        items = len(of_items)
        free = np.concatenate([above.items > 0, above.slots > 0])

        def curved(vector: FloatArray) -> FloatArray:
            product = prior * vector
            information_times(self.shown, self.times, chances, vector[:items], vector[items:], product)
            return np.where(free, product, 0.0)

        # an item with a high chance of a click has far less curvature than the bound: scale that to its own
        own = above.items.copy()
        subtract_squares(self.shown, self.times, chances, own)
        scale = np.sqrt(np.divide(own, above.items, out=np.ones(items), where=own > 0))

        def preconditioned(vector: FloatArray) -> FloatArray:
            of_items, of_slots = above.solve(vector[:items] / scale, vector[items:])
            return np.concatenate([of_items / scale, of_slots])

        residual = np.concatenate([of_items, of_slots])
        solution = np.zeros_like(residual)
        step = towards = preconditioned(residual)
        first = left = float(residual @ step)
        for _ in range(most_rounds):
            if not left > accuracy**2 * first:
                break
            image = curved(towards)
            curvature = float(towards @ image)
            if not curvature > 0.0:
                break
            solution += left / curvature * towards
            residual = residual - left / curvature * image
            step = preconditioned(residual)
            before, left = left, float(residual @ step)
            towards = step + left / before * towards
        return solution[:items], solution[items:]

    def information(self, position_bias: FloatArray, attractiveness: FloatArray) -> FloatArray:
        """The Fisher information on (log α, log λ after the first slot), given the rankings that were shown."""
        _, chances, _ = self.expected(position_bias, attractiveness)
        items, slots = len(attractiveness), len(position_bias)
        place = np.concatenate([np.arange(items), [-1], items + np.arange(slots - 1)])
        matrix = np.zeros((items + slots - 1, items + slots - 1))
        information(self.shown, self.times, chances, place, matrix)
        return matrix

    def log_errors(
        self, position_bias: FloatArray, attractiveness: FloatArray, items: BoolArray, slots: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        """The standard errors of log α and log λ of these items and slots, NaN for the others.

        They are those of the inverse information, or a bound from above where that is too large: the variance of
        scaling at the same point, whose equations need no J × J matrix.
        """
        pairs, chances, _ = self.expected(position_bias, attractiveness)
        above = self.bound(position_bias, attractiveness, pairs)
        prior = self.item_rate * attractiveness, np.where(above.slots > 0, self.slot_rate * position_bias, 0.0)
        free = np.concatenate([items & (above.items > 0), slots & (above.slots > 0)])
        if free.sum() > MAX_INVERTED:
            gamma = np.outer(np.where(slots, position_bias, 0.0), np.where(items, attractiveness, 0.0))
            pairs = np.where(gamma > 0, pairs, 0.0)
            above = self.bound(np.where(slots, position_bias, 0.0), np.where(items, attractiveness, 0.0), pairs)
            ranked = self.shown, self.times * (1.0 - chances.sum(axis=1))
            of_items, of_slots = Sandwich(gamma, np.ones_like(gamma), above, pairs, ranked, prior).log_errors()
            return np.where(items, of_items, np.nan), np.where(slots, of_slots, np.nan)
        place = np.where(free, np.cumsum(free) - 1, -1)
        matrix = np.diag(np.concatenate(prior)[free])
        information(self.shown, self.times, chances, place, matrix)
        variance = np.concatenate([np.where(items, 0.0, np.nan), np.where(slots, 0.0, np.nan)])
        variance[free] = _diagonal_of_inverse(matrix)
        of_items, of_slots = np.split(np.sqrt(variance), [len(attractiveness)])
        return of_items, of_slots

    def log_error_of(
        self, position_bias: FloatArray, attractiveness: FloatArray, of_items: FloatArray, of_slots: FloatArray
    ) -> float:
        """The standard error of Σ_j c_j log α_j + Σ_k e_k log λ_k: √(cᵀI⁻¹c), without a matrix however many items."""
        pairs, chances, _ = self.expected(position_bias, attractiveness)
        above = self.bound(position_bias, attractiveness, pairs)
        prior = np.concatenate([self.item_rate * attractiveness, self.slot_rate * position_bias])
        weights = np.where(above.items > 0, of_items, 0.0), np.where(above.slots > 0, of_slots, 0.0)
        solution = self._conjugate_gradients(chances, prior, above, *weights, FINE_ACCURACY, MAX_FINE_ROUNDS)
        return math.sqrt(max(0.0, float(weights[0] @ solution[0] + weights[1] @ solution[1])))


def _diagonal_of_inverse(matrix: FloatArray) -> FloatArray:
    """NaN where the matrix has none."""
    scale = np.sqrt(np.diag(matrix))
    try:
        inverse = np.linalg.inv(np.linalg.cholesky(matrix / np.outer(scale, scale)))
    except np.linalg.LinAlgError:
        return np.full(len(matrix), np.nan)
    return np.asarray((inverse**2).sum(axis=0) / scale**2)


def _ratio(clicks: FloatArray, exposure: FloatArray) -> FloatArray:
    """clicks / exposure with 0/0 = 0."""
    return np.divide(clicks, exposure, out=np.zeros_like(clicks), where=(clicks > 0) & (exposure > 0))


def _weighted_log(weights: FloatArray, values: FloatArray) -> float:
    """Σ w log x with 0 log 0 = 0."""
    used = weights > 0
    return float(weights[used] @ np.log(values[used]))
