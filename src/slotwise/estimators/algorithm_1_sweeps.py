"""Algorithm 1 of Grant and Leslie: attractiveness and position bias by turns ("EM" in the paper).

It does not maximise a likelihood: at its fixed point Σ_k(N-γÑ)/λ_k is 0 for every item and Σ_j(N-γÑ)/α_j for every slot
after the first. It may diverge on data that other estimators handle, and then returns `converged=False`.
`slotwise.estimators.iterative_scaling` is better in every respect known to us.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from slotwise.core.types import FloatArray
from slotwise.estimators.estimate import Estimate
from slotwise.estimators.estimator_registry import register
from slotwise.estimators.identifiability import is_identifiable
from slotwise.estimators.uncertainty.standard_errors import Counts, tally_of, uncertainty_of
from slotwise.jit import jit

#: ξ: the largest change of a parameter in the last sweep
TOLERANCE = 1e-7
#: no parameter goes below it
FLOOR = 1e-9
MAX_SWEEPS = 2000
#: sweeps between checks for slow drift, and the pace of a log parameter that counts as converged
LEAP_EVERY = 32
AT_REST = 1e-10
#: the maximum relative change of the pace in a leap, and the maximum change of a log parameter
STRAIGHT = 0.05
FARTHEST = 1.0
START_ATTRACTIVENESS = 0.5
START_BIAS = 1.0


class EpochCounts(NamedTuple):
    """The counts that Algorithm 1 reads."""

    #: slots × items
    clicks: FloatArray
    #: per slot, and per item
    slot_passes: FloatArray
    item_passes: FloatArray

    @classmethod
    def of(cls, clicks: FloatArray, passes: FloatArray) -> EpochCounts:
        """Of the two matrices of a tally."""
        return cls(clicks, passes.sum(axis=1), passes.sum(axis=0))


@register(
    "algorithm-1",
    name="Algorithm 1",
    citation="Grant and Leslie, Learning to Rank under Multinomial Logit Choice, Algorithm 1",
    limits={
        "gaps": "it may run away there, or creep for as long as it is let",
        "many items": "it takes dozens of sweeps where others take a handful",
    },
    legend=2,
)
def algorithm_1(counts: Counts) -> Estimate:
    """Repeat λ_k = Σ_j N_kj/α_j / L and α_j = Σ_k N_kj/λ_k / Ñ_·j, with λ of the first slot held at 1.

    L, the number of complete epochs, is the number of passes of a slot.

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
    >>> estimate = algorithm_1(Tally(np.array([[30, 12], [8, 21]]), np.array([[50, 50], [50, 50]])))
    >>> estimate.attractiveness.round(2), estimate.position_bias.round(2), estimate.converged
    (array([0.42, 0.43]), array([1.  , 0.68]), True)
    """
    tally = tally_of(counts)
    clicks = tally.clicks.astype(np.float64)
    position_bias, attractiveness, sweeps, converged = solve_from_scratch(clicks, tally.passes.astype(np.float64))
    attractiveness[(tally.passes.sum(axis=0) == 0) & (tally.clicks.sum(axis=0) == 0)] = math.nan
    uncertainty = uncertainty_of(counts, tally, position_bias, attractiveness, weigh, at_rest=converged)
    return Estimate(attractiveness, position_bias, converged, is_identifiable(tally), sweeps, uncertainty)


def weigh(clicks: FloatArray, passes: FloatArray, gamma: FloatArray) -> tuple[FloatArray, FloatArray]:  # noqa: ARG001
    """W = N/γ and g = 1/γ."""
    factor = np.divide(1.0, gamma, out=np.zeros_like(gamma), where=gamma > 0)
    return clicks * factor, factor


def solve_from_scratch(clicks: FloatArray, passes: FloatArray) -> tuple[FloatArray, FloatArray, int, bool]:
    """Return λ, α, the number of sweeps, and whether they converged; counts may be decayed."""
    slots, items = clicks.shape
    position_bias = np.full(slots, START_BIAS)
    attractiveness = np.full(items, START_ATTRACTIVENESS)
    sweeps = solve(EpochCounts.of(clicks, passes), position_bias, attractiveness, room_to_work(slots, items))
    at_rest = (
        sweeps < MAX_SWEEPS
        and bool(clicks.any())
        and bool(np.isfinite(attractiveness).all())
        # a clicked item or slot at the floor has diverged
        and not (attractiveness[clicks.sum(axis=0) > 0] <= FLOOR).any()
        and not (position_bias[clicks.sum(axis=1) > 0] <= FLOOR).any()
    )
    return position_bias, attractiveness, sweeps, at_rest


@jit
def solve(counts: EpochCounts, position_bias: FloatArray, attractiveness: FloatArray, work: FloatArray) -> int:
    """Sweep in place from the current parameters; return the number of sweeps, MAX_SWEEPS without convergence.

    `work` comes from `room_to_work`.
    """
    done = 0
    leapt = 0
    while done < MAX_SWEEPS - 1:
        done += 1
        if sweep(counts, position_bias, attractiveness, work) < TOLERANCE:
            return done
        if (done % LEAP_EVERY == 0 or leapt > LEAP_EVERY) and done < MAX_SWEEPS - 3:
            most = MAX_SWEEPS - 1 - done
            leapt = _leap(counts, position_bias, attractiveness, work, most)
            done += leapt
    return MAX_SWEEPS


def room_to_work(slots: int, items: int) -> FloatArray:
    """Return the work array of the solver: an entry per item, and two copies of all parameters."""
    return np.zeros(items + 2 * (slots + items))


@jit
def _leap(
    counts: EpochCounts, position_bias: FloatArray, attractiveness: FloatArray, work: FloatArray, most: int
) -> int:
    """Take two sweeps and, if the parameters only drift slowly, up to `most` sweeps at once; return their number.

    Items and slots with weak or no ties to the first slot move by nearly the same factor in every sweep, long after the
    others have converged. Two sweeps give each logarithm's pace and the change of the pace; the sweeps ahead are then a
    sum, as long as the change stays small.
    """
    slots, items = counts.clicks.shape
    first, second = items, items + slots + items
    _copy(position_bias, attractiveness, work, first)
    sweep(counts, position_bias, attractiveness, work)
    _copy(position_bias, attractiveness, work, second)
    sweep(counts, position_bias, attractiveness, work)
    leap = float(most - 2)
    moving = False
    for i in range(slots + items):
        now = position_bias[i] if i < slots else attractiveness[i - slots]
        before = math.log(work[second + i] / work[first + i])
        pace = math.log(now / work[second + i])
        # the terms of the sum replace the copies from which they are computed
        work[first + i] = pace
        work[second + i] = pace - before
        if abs(pace) > AT_REST or abs(pace) * now > TOLERANCE:
            moving = True
            # not so far that the pace changes much, or that a weak tie begins to matter
            leap = min(leap, STRAIGHT * abs(pace) / max(abs(pace - before), 1e-300), FARTHEST / abs(pace))
            if pace < 0.0:
                leap = min(leap, math.log(FLOOR / now) / pace - 1.0)
    leap = math.floor(leap)
    if leap < 1.0 or not moving:
        return 2
    for i in range(slots + items):
        factor = math.exp(work[first + i] * leap + work[second + i] * leap * (leap + 1.0) / 2.0)
        if i < slots:
            position_bias[i] *= factor
        else:
            attractiveness[i - slots] *= factor
    return 2 + int(leap)


@jit
def _copy(position_bias: FloatArray, attractiveness: FloatArray, work: FloatArray, start: int) -> None:
    for slot in range(len(position_bias)):
        work[start + slot] = position_bias[slot]
    for item in range(len(attractiveness)):
        work[start + len(position_bias) + item] = attractiveness[item]


@jit
def sweep(counts: EpochCounts, position_bias: FloatArray, attractiveness: FloatArray, work: FloatArray) -> float:
    """Update every λ, then every α: lines 2 and 3 of the loop. Return the largest change."""
    clicks, slot_passes = counts.clicks, counts.slot_passes
    slots, items = clicks.shape
    change = 0.0
    for item in range(items):
        work[item] = 1.0 / attractiveness[item]
    for slot in range(1, slots):
        new = max(FLOOR, dot_row(clicks, slot, work) / slot_passes[slot]) if slot_passes[slot] > 0.0 else FLOOR
        change = max(change, abs(new - position_bias[slot]))
        position_bias[slot] = new
    return max(change, update_attractiveness(counts, position_bias, attractiveness, work))


@jit
def update_attractiveness(
    counts: EpochCounts, position_bias: FloatArray, attractiveness: FloatArray, work: FloatArray
) -> float:
    """Set α_j = Σ_k N_kj/λ_k / Ñ_·j in place; return the largest change."""
    clicks, item_passes = counts.clicks, counts.item_passes
    slots, items = clicks.shape
    change = 0.0
    for item in range(items):
        work[item] = clicks[0, item]
    for slot in range(1, slots):
        inverse = 1.0 / position_bias[slot]
        for item in range(items):
            work[item] += clicks[slot, item] * inverse
    for item in range(items):
        if item_passes[item] > 0.0:
            new = max(FLOOR, work[item] / item_passes[item])
        else:
            new = math.inf if work[item] > 0.0 else FLOOR
        if new != attractiveness[item]:
            change = max(change, abs(new - attractiveness[item]))
        attractiveness[item] = new
    return change


@jit
def dot_row(matrix: FloatArray, row: int, b: FloatArray) -> float:
    """Return Σ_i matrix[row, i]·b[i] in four interleaved sums: vectorised, and the same in plain Python."""
    sum_0, sum_1, sum_2, sum_3 = 0.0, 0.0, 0.0, 0.0
    length = matrix.shape[1]
    blocks = length // 4 * 4
    for i in range(0, blocks, 4):
        sum_0 += matrix[row, i] * b[i]
        sum_1 += matrix[row, i + 1] * b[i + 1]
        sum_2 += matrix[row, i + 2] * b[i + 2]
        sum_3 += matrix[row, i + 3] * b[i + 3]
    for i in range(blocks, length):
        sum_0 += matrix[row, i] * b[i]
    return (sum_0 + sum_1) + (sum_2 + sum_3)
