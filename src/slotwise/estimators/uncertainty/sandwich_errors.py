"""Sandwich standard errors: the variance of estimates due to the clicks, under any policy.

In a round with ranking A, X_k - γ_kP, with X_k for a click on slot k and P for none, has mean 0, variance p(γ_k + γ_k²)
and covariance pγ_kγ_m with slot m, p being the probability of no click. An estimator weighs these by g_kj, and with the
curvature's d, U and H a change in them moves log λ by -H⁻¹R and log α_i by S_i/d_i + U_i·H⁻¹R, where

    S_i = Σ_k g_ki(N_ki - γ_kiÑ_ki),  R = Σ_j U_jS_j - Σ_kj e_k g_kj(N_kj - γ_kjÑ_kj).

Their variances follow from those of a round, in O(K²) per ranking, given the passes of each ranking. A tally does not
have the items that were passed together; for a tally the other slots are filled as they were on average, without the
item itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from slotwise.core.rankings import Rankings
from slotwise.core.types import EMPTY, BoolArray, FloatArray, IntArray
from slotwise.estimators.likelihoods.schur_system import Curvature
from slotwise.jit import jit

#: distinct rankings, a row each, and how often each was passed
Passes = tuple[IntArray, FloatArray]
#: rankings whose terms are held in memory together
_AT_ONCE = 100_000


@dataclass(frozen=True, eq=False)
class Sandwich:
    """An estimate's equations at their solution."""

    #: γ and g, slots × items
    gamma: FloatArray
    factor: FloatArray
    curvature: Curvature
    #: Ñ, slots × items, and the distinct rankings with their passes where they are known
    passes: FloatArray
    rankings: Passes | None = None
    #: the curvature of a prior, per item and per slot, which counts as data of that variance
    prior: tuple[FloatArray, FloatArray] | None = None

    def log_errors(self, beside: int | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the standard errors of log α and log λ, or of log(λ_bα) and log(λ/λ_b) with `beside` as slot b."""
        shares, inverse = np.ascontiguousarray(self.curvature.shares.T), self.curvature.inverse
        items, slots = shares.shape
        held = ~(self.curvature.slots > 0)
        own, common = np.zeros(items), np.zeros((items, slots))
        spread = np.zeros((slots, slots))
        if self.rankings is None:
            _over_pairs(self.gamma, self.factor, shares, held, self.passes, own, common, spread)
            spread = (spread + spread.T) / 2.0
        else:
            _over_rankings(self.gamma, self.factor, shares, held, *self.rankings, own, common, spread)
        if self.prior is not None:
            of_items, of_slots = self.prior
            own += of_items
            common += of_items[:, None] * shares
            spread += (shares.T * of_items) @ shares + np.diag(np.where(held, 0.0, of_slots))
        item_lever, slot_lever = shares @ inverse, (inverse, inverse)
        if beside is not None:
            item_lever = item_lever - inverse[beside]
            slot_lever = inverse - inverse[beside], (inverse - inverse[beside]).T
        total = self.curvature.items
        with np.errstate(divide="ignore", invalid="ignore"):
            of_items = own / total**2 + 2.0 * (item_lever * common).sum(axis=1) / total
            of_items += ((item_lever @ spread) * item_lever).sum(axis=1)
            of_slots = np.diag(slot_lever[0] @ spread @ slot_lever[1])
            return np.sqrt(of_items), np.sqrt(of_slots)

    def log_error_of(self, of_items: FloatArray, of_slots: FloatArray) -> float:
        """The standard error of Σ_j c_j log α_j + Σ_k e_k log λ_k.

        With v = H⁻¹(Σ_j c_jU_j - e) it is Σ_kj h_kj(N_kj - γ_kjÑ_kj), h_kj = g_kj(c_j/d_j + v·U_j - v_k): of a round
        with ranking A, the variance is p[Σ_k γ_kh_k² + (Σ_k γ_kh_k)²].
        """
        gamma, curvature = self.gamma, self.curvature
        lever = curvature.inverse @ (curvature.shares @ of_items - of_slots)
        with np.errstate(divide="ignore", invalid="ignore"):
            own = np.where(curvature.items > 0, of_items / curvature.items, 0.0)
        on_items = own + lever @ curvature.shares
        # γ before h: an item without an estimate has no part in this
        weighted = np.where(gamma > 0, gamma * self.factor * (on_items - lever[:, None]), 0.0)
        if self.rankings is None:
            variance = _variance_over_pairs(gamma, self.passes, weighted)
        else:
            variance = _variance_over_rankings(gamma, *self.rankings, weighted)
        if self.prior is not None:
            of_items, of_slots = self.prior
            variance += float(of_items @ on_items**2 + np.where(curvature.slots > 0, of_slots, 0.0) @ lever**2)
        return math.sqrt(max(0.0, variance))


def _variance_over_pairs(gamma: FloatArray, passes: FloatArray, weighted: FloatArray) -> float:
    counted = passes * weighted
    with np.errstate(divide="ignore", invalid="ignore"):
        beside = (counted.sum(axis=1)[:, None] - counted) / (passes.sum(axis=1)[:, None] - passes)
    beside = np.where(np.isfinite(beside), beside, 0.0)
    beside = beside.sum(axis=0) - beside
    with np.errstate(divide="ignore", invalid="ignore"):
        of_pairs = np.where(gamma > 0, counted * (weighted / gamma + weighted + beside), 0.0)
    return float(of_pairs.sum())


def _variance_over_rankings(gamma: FloatArray, shown: IntArray, times: FloatArray, weighted: FloatArray) -> float:
    variance = 0.0
    for start in range(0, len(shown), _AT_ONCE):
        lists = shown[start : start + _AT_ONCE]
        places = np.arange(lists.shape[1]), np.maximum(lists, 0)
        alone = np.where(lists != EMPTY, weighted[places], 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = np.where(alone != 0, alone**2 / gamma[places], 0.0)
        variance += float(times[start : start + _AT_ONCE] @ (squares.sum(axis=1) + alone.sum(axis=1) ** 2))
    return variance


def passes_of(rankings: Rankings) -> Passes:
    """The distinct rankings and how often each was passed, as `Sandwich` takes them."""
    return rankings.shown, rankings.passes.astype(np.float64)


@jit
def _over_rankings(
    gamma: FloatArray,
    factor: FloatArray,
    shares: FloatArray,
    held: BoolArray,
    shown: IntArray,
    passes: FloatArray,
    own: FloatArray,
    common: FloatArray,
    spread: FloatArray,
) -> None:
    """Var S_i, Cov(S_i, R) and Var R, from the rankings."""
    slots = shown.shape[1]
    here, together = np.zeros(slots), np.zeros(slots)
    for row in range(len(shown)):
        count = passes[row]
        if count == 0.0:
            continue
        together[:] = 0.0
        for slot in range(slots):
            item = shown[row, slot]
            if item != EMPTY and gamma[slot, item] > 0.0:
                _influence(factor, shares, held, slot, item, here)
                for k in range(slots):
                    together[k] += gamma[slot, item] * here[k]
        for slot in range(slots):
            item = shown[row, slot]
            if item != EMPTY and gamma[slot, item] > 0.0:
                _influence(factor, shares, held, slot, item, here)
                weight = count * gamma[slot, item]
                own[item] += weight * (1.0 + gamma[slot, item]) * factor[slot, item] ** 2
                for k in range(slots):
                    common[item, k] += weight * factor[slot, item] * (here[k] + together[k])
                    for m in range(slots):
                        spread[k, m] += weight * here[k] * here[m]
        for k in range(slots):
            for m in range(slots):
                spread[k, m] += count * together[k] * together[m]


@jit
def _over_pairs(
    gamma: FloatArray,
    factor: FloatArray,
    shares: FloatArray,
    held: BoolArray,
    passes: FloatArray,
    own: FloatArray,
    common: FloatArray,
    spread: FloatArray,
) -> None:
    """The same from a tally: the company of an item is what stood in each other slot when the item did not."""
    slots, items = passes.shape
    here, others = np.zeros(slots), np.zeros(slots)
    total, rounds = np.zeros((slots, slots)), np.zeros(slots)
    without = np.zeros((slots, slots))
    for slot in range(slots):
        for item in range(items):
            rounds[slot] += passes[slot, item]
            if passes[slot, item] > 0.0 and gamma[slot, item] > 0.0:
                _influence(factor, shares, held, slot, item, here)
                for k in range(slots):
                    total[slot, k] += passes[slot, item] * gamma[slot, item] * here[k]
    for item in range(items):
        others[:] = 0.0
        for slot in range(slots):
            without[slot, :] = 0.0
            if rounds[slot] - passes[slot, item] > 0.0:
                _influence(factor, shares, held, slot, item, here)
                for k in range(slots):
                    mine = passes[slot, item] * gamma[slot, item] * here[k] if gamma[slot, item] > 0.0 else 0.0
                    without[slot, k] = (total[slot, k] - mine) / (rounds[slot] - passes[slot, item])
                    others[k] += without[slot, k]
        for slot in range(slots):
            if passes[slot, item] > 0.0 and gamma[slot, item] > 0.0:
                _influence(factor, shares, held, slot, item, here)
                weight = passes[slot, item] * gamma[slot, item]
                own[item] += weight * (1.0 + gamma[slot, item]) * factor[slot, item] ** 2
                for k in range(slots):
                    beside = gamma[slot, item] * here[k] + others[k] - without[slot, k]
                    common[item, k] += weight * factor[slot, item] * (here[k] + beside)
                    for m in range(slots):
                        spread[k, m] += weight * (here[k] + beside) * here[m]


@jit
def _influence(factor: FloatArray, shares: FloatArray, held: BoolArray, slot: int, item: int, here: FloatArray) -> None:
    """g_kj(U_j - e_k), with e_k = 0 for a slot that is held."""
    for k in range(len(here)):
        here[k] = factor[slot, item] * shares[item, k]
    if not held[slot]:
        here[slot] -= factor[slot, item]
