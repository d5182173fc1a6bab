"""The slots and the prior of cells, with attractiveness integrated out: both are learned from the same counts.

With N clicks and Ñ passes of a cell, E = Σ_k λ_kÑ_k, m = log M,

    ℓ = Σ_k [(c + N_k) log λ_k - cλ_k] + Σ_c [lnΓ(κ + N) - lnΓ(κ) + κ log κ - κm - (κ + N) log(κe^-m + E)]

is concave in (log λ, m): a logarithm of a sum of exponentials. Newton steps are in log λ and all terms of m
at once, as slot effects and slots are often nearly collinear; the effects of placements are eliminated, and those of
items follow separately. The variances follow by EM, and κ by its own maximum (Lawless, Negative binomial and mixed
Poisson regression, 1987).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import psi

from slotwise.core.types import FloatArray
from slotwise.estimators.likelihoods.list_kernels import subtract_squares
from slotwise.estimators.pooled.cell_prior import MAX_SHAPE, MIN_SHAPE, SHAPE_SPREAD, CellPrior, Effects
from slotwise.estimators.pooled.placement_cells import Cells, Lists

MAX_STEP = 1.0
STEPS = 2
#: the part of κ, at most, that a cell without clicks may take away
MAX_TAKEN = 0.7
#: of log κ: how far the first step goes that looks for it, and how near is near enough
FIRST_STEP, ACCURACY = 0.1, 1e-4


class Terms(NamedTuple):
    """Per cell, the parts of the score and the curvature of ℓ."""

    #: slots × cells: the parts that slots have in κe^-m + E; κ + N, and the part of it that the prior has
    shares: FloatArray
    weight: FloatArray
    beside: FloatArray
    #: the first derivative of ℓ by m, and minus the second
    score_of_mean: FloatArray
    curve: FloatArray

    @classmethod
    def of(cls, prior: CellPrior, exposure: FloatArray, by_cell: FloatArray) -> Terms:
        """Return the parts, given λÑ, slots × cells, and the clicks of each cell."""
        shapes, rate = prior.shapes, prior.rate
        total = rate + exposure.sum(axis=0)
        weight, own = np.maximum(shapes + by_cell, 0.0), rate / total
        beside = weight * own
        return cls(exposure / total, weight, beside, beside - shapes, beside * (1.0 - own))


def rare_counts(
    cells: Cells, lists: Lists, pairs: FloatArray, chances: FloatArray, odds: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return clicks and passes, slots × cells, of rare clicks with the same information as the choices from lists.

    They have the score and the curvature of the choices at these estimates: a cell with the click probability p and n
    expected clicks counts (1 - p)n, and clicks beyond n count in full. If those counted 1 - p too, items would
    seem more similar than they are.
    """
    expected = pairs.sum(axis=0)
    own = expected.copy()
    subtract_squares(lists.shown, lists.times, chances, own)
    part = np.divide(own, expected, out=np.ones_like(own), where=expected > 0.0)
    return cells.clicks - (1.0 - part) * pairs, part * pairs / odds


def learn_prior(
    prior: CellPrior, bias: FloatArray, bias_shape: float, clicks: FloatArray, passes: FloatArray, *, free: bool
) -> FloatArray:
    """Improve `prior` in place, and return λ improved with it; clicks and passes are slots × cells."""
    by_cell, by_slot = clicks.sum(axis=0), clicks.sum(axis=1)
    for _ in range(STEPS):
        bias = _step(prior, bias, bias_shape, by_cell, by_slot, passes, free=free)
        if prior.items is not None:
            follow(prior, prior.items, by_cell, bias @ passes)
    learn_shape(prior, by_cell, bias @ passes)
    return bias


def _step(
    prior: CellPrior,
    bias: FloatArray,
    bias_shape: float,
    by_cell: FloatArray,
    by_slot: FloatArray,
    passes: FloatArray,
    *,
    free: bool,
) -> FloatArray:
    slots = len(bias)
    after = np.arange(slots) > 0 if free else np.zeros(slots, bool)
    design = prior.design
    terms = Terms.of(prior, bias[:, None] * passes, by_cell)
    shares, weight, score_of_mean, curve = terms.shares[after], terms.weight, terms.score_of_mean, terms.curve
    slot_side, design_side = shares * terms.beside, design.T * curve
    score = np.concatenate(
        [
            (by_slot + bias_shape - bias_shape * bias)[after] - shares @ weight,
            design.T @ score_of_mean - (prior.weights - prior.centre) / prior.variance,
        ]
    )
    count = int(after.sum())
    matrix = np.zeros((len(score), len(score)))
    matrix[:count, :count] = np.diag(shares @ weight + (bias_shape * bias)[after]) - (shares * weight) @ shares.T
    matrix[:count, count:] = slot_side @ design
    matrix[count:, :count] = matrix[:count, count:].T
    matrix[count:, count:] = design_side @ design + np.diag(1.0 / prior.variance)
    if prior.placements is None:
        inverse = np.linalg.inv(matrix)
        step = inverse @ score
    else:
        effects = prior.placements
        groups = len(effects.values)
        slope = np.bincount(effects.group, score_of_mean, groups) - effects.values / effects.variance
        bend = np.bincount(effects.group, curve, groups) + 1.0 / effects.variance
        # the cells of a placement follow each other
        first = np.searchsorted(effects.group, np.arange(groups))
        cross = np.vstack([np.add.reduceat(side, first, axis=1) for side in (slot_side, design_side)])
        inverse = np.linalg.inv(matrix - (cross / bend) @ cross.T)
        step = inverse @ (score - cross @ (slope / bend))
        lever = cross / bend
        of_groups = (slope - cross.T @ step) / bend
        effects.spread = 1.0 / bend + (lever * (inverse @ lever)).sum(axis=0)
        effects.values = effects.values + np.clip(of_groups, -MAX_STEP, MAX_STEP)
    step = step * min(1.0, MAX_STEP / max(1e-300, float(np.abs(step).max())))
    prior.weights = prior.weights + step[count:]
    prior.learn_variances(np.diag(inverse)[count:])
    bias = bias.copy()
    bias[after] *= np.exp(step[:count])
    return bias


def follow(prior: CellPrior, effects: Effects, by_cell: FloatArray, exposure: FloatArray) -> None:
    """Take a Newton step of one kind of effects."""
    shapes, rate = prior.shapes, prior.rate
    own = rate / (rate + exposure)
    beside = (shapes + by_cell) * own
    groups = len(effects.values)
    slope = np.bincount(effects.group, beside - shapes, groups) - effects.values / effects.variance
    bend = np.bincount(effects.group, beside * (1.0 - own), groups) + 1.0 / effects.variance
    effects.values = effects.values + np.clip(slope / bend, -MAX_STEP, MAX_STEP)
    effects.spread = np.asarray(1.0 / bend)


def learn_shape(prior: CellPrior, by_cell: FloatArray, exposure: FloatArray) -> None:
    """Set κ to its maximum, given clicks and exposure of each cell."""
    seen = exposure > 0.0
    clicks, chance = by_cell[seen], prior.by_chance[seen]
    # effective counts of likely clicks can be negative, and κ + N must be positive, as it is at the solution
    least = max(MIN_SHAPE, -float(clicks.min(initial=0.0)) / MAX_TAKEN)
    # an EM step over the effects of items, by two points: at their modes, cells would seem more similar than they are
    off = None if prior.items is None else np.sqrt(prior.items.spread)[prior.items.group][seen]
    usual = (prior.mean * exposure)[seen]
    points = [usual] if off is None else [usual * np.exp(off), usual * np.exp(-off)]

    def slope(log_shape: float) -> float:
        """Of minus the logarithm of the density, in log κ."""
        shape = np.maximum(1.0 / (math.exp(-log_shape) + chance), least)
        moved = np.where(shape > least, shape**2 * math.exp(-log_shape), 0.0)
        rises = psi(shape + clicks) - psi(shape)
        for expected in points:
            rises -= (np.log1p(expected / shape) + (clicks - expected) / (shape + expected)) / len(points)
        return float((log_shape - math.log(prior.usual_shape)) / SHAPE_SPREAD**2 - moved @ rises)

    start = min(max(prior.shape, least), MAX_SHAPE)
    prior.shape = math.exp(_zero_of(slope, math.log(start), math.log(least), math.log(MAX_SHAPE)))
    prior.least_shape = least


def _zero_of(rising: Callable[[float], float], start: float, low: float, high: float) -> float:
    """Where a rising function is 0, or the limit beyond which it is: by secants, or bisection where they lead out."""
    here, value = start, rising(start)
    step = -math.copysign(FIRST_STEP, value)
    while high - low > ACCURACY:
        low, high = (low, here) if value > 0.0 else (here, high)
        there = here + step if low < here + step < high else (low + high) / 2.0
        if abs(there - here) < ACCURACY:
            return there
        at_last, here, last, value = here, there, value, rising(there)
        step = 0.0 if value == last else -value * (here - at_last) / (value - last)
    return here
