"""The sensitivity of an estimate to one more click: the β of Corollary 1 and Algorithm 3.

β_i² = Σ_kj (∂α_i/∂N_kj)² Ñ_kj over the pairs that were shown, with the derivative taken either as the paper does, by
estimating again with one more click on each pair, or from the implicit function theorem, all pairs at once.
"""

from __future__ import annotations

import math

import numpy as np

from slotwise.core.tally import Tally
from slotwise.core.types import FloatArray
from slotwise.estimators.algorithm_1_newton import Solver, settle
from slotwise.estimators.algorithm_1_sweeps import EpochCounts, solve_from_scratch
from slotwise.estimators.uncertainty.implicit_derivatives import Derivatives, apply_inverse, at_algorithm_1, derivatives
from slotwise.jit import jit, record

#: the maximum relative change of a parameter by a first-order guess
TRUSTED_GUESS = 0.5


def sensitivity(tally: Tally) -> FloatArray:
    """Return β of Algorithm 1 per item; ∞ for an item that was never shown.

    Parameters
    ----------
    tally
        The counts.

    Returns
    -------
    array of float
        β, per item.

    Examples
    --------
    >>> tally = Tally(np.array([[300, 120], [80, 210]]), np.array([[500, 500], [500, 500]]))
    >>> sensitivity(tally).round(4)
    array([0.0338, 0.0696])
    """
    clicks, passes = tally.clicks.astype(np.float64), tally.passes.astype(np.float64)
    position_bias, attractiveness, _, _ = solve_from_scratch(clicks, passes)
    at, beta_squared = derivatives(*clicks.shape), np.zeros(tally.items)
    with np.errstate(divide="ignore", invalid="ignore"):
        at_algorithm_1(at, clicks, passes.sum(axis=0), position_bias, attractiveness)
        analytic(at, trial(*clicks.shape), passes, attractiveness, beta_squared)
    beta_squared[tally.passes.sum(axis=0) == 0] = np.inf
    return np.sqrt(beta_squared)


@record
class Trial:
    """Work arrays for the estimate with one more click, and for Q."""

    position_bias: FloatArray
    attractiveness: FloatArray
    spread: FloatArray


def trial(slots: int, items: int) -> Trial:
    """Return work arrays for a problem of this size."""
    return Trial(
        position_bias=np.ones(slots),
        attractiveness=np.zeros(items),
        spread=np.zeros((slots, slots)),
    )


@jit
def analytic(
    at: Derivatives, room: Trial, passes: FloatArray, attractiveness: FloatArray, beta_squared: FloatArray
) -> None:
    """β² of every item at once, in O(JK² + K³).

    With w_kj = Ñ_kj g_kj², v_i = H⁻¹U_i and Q = Σ_kj w_kj (U_j - e_k)(U_j - e_k)ᵀ,
    β_i² = α_i² [Σ_k w_ki/d_i² + 2/d_i Σ_k w_ki v_i·(U_i - e_k) + v_iᵀQv_i].
    """
    slots, items = passes.shape
    factor, lift, total, share, spread, v = at.factor, at.lift, at.total, at.share, room.spread, at.vector
    spread[:, :] = 0.0
    for item in range(items):
        all_slots = 0.0
        for slot in range(slots):
            weight = passes[slot, item] * factor[slot, item] ** 2
            all_slots += weight
            if slot > 0:
                spread[slot, slot] += weight
                for other in range(1, slots):
                    spread[slot, other] -= weight * share[item, other]
                    spread[other, slot] -= weight * share[item, other]
        for row in range(1, slots):
            for column in range(1, slots):
                spread[row, column] += all_slots * share[item, row] * share[item, column]
    for item in range(items):
        if total[item] <= 0.0:
            beta_squared[item] = math.inf
            continue
        along = 0.0
        for slot in range(1, slots):
            v[slot] = share[item, slot]
        apply_inverse(at)
        for slot in range(1, slots):
            along += v[slot] * share[item, slot]
        result = 0.0
        for slot in range(slots):
            own = passes[slot, item] * lift[slot, item]
            across = along - (v[slot] if slot > 0 else 0.0)
            result += own * lift[slot, item] / total[item] ** 2
            result += 2.0 * own * attractiveness[item] * factor[slot, item] * across / total[item]
        quadratic = 0.0
        for row in range(1, slots):
            for column in range(1, slots):
                quadratic += v[row] * spread[row, column] * v[column]
        beta_squared[item] = max(0.0, result + attractiveness[item] ** 2 * quadratic)


@jit
def finite_differences(
    solver: Solver,
    room: Trial,
    counts: EpochCounts,
    passes: FloatArray,
    position_bias: FloatArray,
    attractiveness: FloatArray,
    beta_squared: FloatArray,
) -> None:
    """β² of Algorithm 1 as the paper has it: estimate again with one more click on each pair that was shown."""
    clicks = counts.clicks
    slots, items = clicks.shape
    at = solver.nearby
    bias, trial = room.position_bias, room.attractiveness
    beta_squared[:] = 0.0
    for slot in range(slots):
        for item in range(items):
            if passes[slot, item] < 1.0:
                continue
            clicks[slot, item] += 1.0
            _guess(at, room, slot, item, position_bias, attractiveness)
            settle(solver, counts, bias, trial)
            clicks[slot, item] -= 1.0
            for other in range(items):
                beta_squared[other] += passes[slot, item] * (trial[other] - attractiveness[other]) ** 2


@jit
def _guess(
    at: Derivatives, room: Trial, slot: int, item: int, position_bias: FloatArray, attractiveness: FloatArray
) -> None:
    """Start from the first-order answer to one more click on (slot, item), or from the estimate if that is too far."""
    slots, items = at.weight.shape
    bias, trial, share, y = room.position_bias, room.attractiveness, at.share, at.vector
    for other in range(1, slots):
        y[other] = share[item, other]
    if slot > 0:
        y[slot] -= 1.0
    apply_inverse(at)
    step = at.factor[slot, item]
    trusted = True
    bias[0] = position_bias[0]
    for other in range(1, slots):
        trusted = trusted and abs(step * y[other]) < TRUSTED_GUESS
        bias[other] = position_bias[other] * (1.0 - step * y[other])
    for other in range(items):
        move = 0.0
        for k in range(1, slots):
            move += share[other, k] * y[k]
        move *= step
        trusted = trusted and abs(move) < TRUSTED_GUESS
        trial[other] = attractiveness[other] * (1.0 + move)
    trial[item] += at.lift[slot, item] / at.total[item]
    if not trusted:
        for other in range(slots):
            bias[other] = position_bias[other]
        for other in range(items):
            trial[other] = attractiveness[other]
