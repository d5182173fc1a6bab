"""The fixed point of Algorithm 1 in a few steps instead of dozens, or thousands, of sweeps.

A sweep multiplies λ_k by 1 + f_k/L with f_k = Σ_j N_kj/γ_kj - L. With H⁻¹f in place of f/L, and H as in the implicit
derivatives, a sweep becomes a Newton step for log λ. The fixed point is the maximum of a concave function of
(log α, log λ), so it is unique; if the data admit none, plain sweeps end at the floor.
"""

from __future__ import annotations

import math

import numpy as np

from slotwise.core.types import FloatArray
from slotwise.estimators.algorithm_1_sweeps import (
    FLOOR,
    TOLERANCE,
    EpochCounts,
    dot_row,
    room_to_work,
    solve,
    update_attractiveness,
)
from slotwise.estimators.uncertainty.implicit_derivatives import Derivatives, apply_inverse, at_algorithm_1, derivatives
from slotwise.jit import jit, record

#: the maximum change of log λ in a step with an old H, and in a step with a new H
TRUSTED_STEP = 0.5
MAX_STEP = 1.0
MAX_OLD_STEPS = 6
MAX_NEW_STEPS = 40


@record
class Solver:
    """The derivatives at a nearby estimate, and work arrays."""

    nearby: Derivatives
    here: Derivatives
    start_bias: FloatArray
    start_attractiveness: FloatArray
    work: FloatArray


def solver(slots: int, items: int) -> Solver:
    """Return a solver for a problem of this size."""
    return Solver(
        nearby=derivatives(slots, items),
        here=derivatives(slots, items),
        start_bias=np.zeros(slots),
        start_attractiveness=np.zeros(items),
        work=room_to_work(slots, items),
    )


@jit
def settle(solver: Solver, counts: EpochCounts, position_bias: FloatArray, attractiveness: FloatArray) -> int:
    """Solve in place from the current parameters; return the steps and sweeps, MAX_SWEEPS without convergence.

    The first steps use H of the nearby estimate, the next ones H at the current parameters. Both hold slots without
    ties to the first slot; plain sweeps solve for these, and for data on which Newton steps fail.
    """
    work = solver.work
    solver.start_bias[:] = position_bias
    solver.start_attractiveness[:] = attractiveness
    steps = 0
    for _ in range(MAX_OLD_STEPS):
        steps += 1
        length = _step_length(solver.nearby, counts, position_bias, attractiveness, work)
        if not length < TRUSTED_STEP:
            break
        change = _step(solver.nearby, 1.0, counts, position_bias, attractiveness, work)
        if change < TOLERANCE:
            if solver.nearby.regular:
                return steps
            break
    settled = False
    for _ in range(MAX_NEW_STEPS):
        steps += 1
        at_algorithm_1(solver.here, counts.clicks, counts.item_passes, position_bias, attractiveness)
        length = _step_length(solver.here, counts, position_bias, attractiveness, work)
        if not length < math.inf:
            break
        cut = min(1.0, MAX_STEP / length) if length > 0.0 else 1.0
        change = _step(solver.here, cut, counts, position_bias, attractiveness, work)
        if change < TOLERANCE:
            settled = True
            break
    if settled and solver.here.regular:
        return steps
    if not settled:
        position_bias[:] = solver.start_bias
        attractiveness[:] = solver.start_attractiveness
    return solve(counts, position_bias, attractiveness, work)


@jit
def _step_length(
    at: Derivatives, counts: EpochCounts, position_bias: FloatArray, attractiveness: FloatArray, work: FloatArray
) -> float:
    """Put the step H⁻¹f of log λ into `at.vector`; return its largest entry."""
    clicks, slot_passes = counts.clicks, counts.slot_passes
    slots, items = clicks.shape
    step = at.vector
    for item in range(items):
        work[item] = 1.0 / attractiveness[item]
    for slot in range(1, slots):
        step[slot] = dot_row(clicks, slot, work) / position_bias[slot] - slot_passes[slot]
    apply_inverse(at)
    longest = 0.0
    for slot in range(1, slots):
        longest = max(longest, abs(step[slot]))
    return longest


@jit
def _step(
    at: Derivatives,
    cut: float,
    counts: EpochCounts,
    position_bias: FloatArray,
    attractiveness: FloatArray,
    work: FloatArray,
) -> float:
    """Take the step in `at.vector`, then update every α as in a sweep; return the largest change."""
    change = 0.0
    for slot in range(1, len(position_bias)):
        new = max(FLOOR, position_bias[slot] * math.exp(cut * at.vector[slot]))
        change = max(change, abs(new - position_bias[slot]))
        position_bias[slot] = new
    return max(change, update_attractiveness(counts, position_bias, attractiveness, work))
