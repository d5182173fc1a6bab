"""The slots of each placement, normal around those of all, learned together with the prior of cells.

If the logarithms of all slots, the first included, vary independently between placements, then those relative to the
first have a correlation of one half:

    log λ_p - μ ~ N(0, v(1 + 𝟏𝟏ᵀ)/2),   for the slots after the first.

With attractiveness integrated out (`slotwise.estimators.pooled.marginal_likelihood`), μ and the weights of the prior of
cells are learned by Newton steps, in which the slots and the effect of each placement are eliminated; v by scoring.
The prior of cells must be learned with these slots: with slots that all share, differences between the slots of
placements would be taken for differences between the items that stand in them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from slotwise.core.types import EMPTY, FloatArray
from slotwise.estimators.pooled.cell_prior import CellPrior
from slotwise.estimators.pooled.marginal_likelihood import MAX_STEP, Terms, follow, learn_shape, rare_counts
from slotwise.estimators.pooled.placement_cells import Cells, per_pair

#: v before anything is known, which is worth one placement
USUAL_VARIANCE, WORTH = 0.05, 1.0
#: the prior information on each μ_k: a standard deviation of 10
CENTRE_INFORMATION = 0.01
#: rounds of learning at most, and the change of log λ, μ, the weights and √v that counts as converged
MAX_ROUNDS, SETTLED = 300, 1e-3
#: κ + N at least
MIN_WEIGHT = 1e-9


@dataclass(frozen=True, eq=False)
class OwnSlots:
    """λ of each placement, and the normal distribution around which it is shrunk."""

    cells: Cells
    prior: CellPrior
    #: placements × slots
    log_bias: FloatArray
    attractiveness: FloatArray
    #: μ, 0 for the first slot; and v
    centre: FloatArray
    variance: float
    #: the information on μ after the first slot and on the weights: of all, and of each placement alone
    information: FloatArray
    by_placement: FloatArray

    def information_elsewhere(self, number: int, slots: int) -> FloatArray:
        """Return the information on a placement's slots and on the weights in the priors and the other placements."""
        used = np.r_[0 : slots - 1, len(self.centre) - 1 : len(self.information)]
        covariance = np.linalg.inv(self.information - self.by_placement[number])[np.ix_(used, used)]
        covariance[: slots - 1, : slots - 1] += self.variance * _correlation(slots - 1)
        return np.asarray(np.linalg.inv(covariance))

    def gamma_prior(self, log_bias: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return shapes and rates of the Gamma prior with the slope of the normal one at these slots.

        Its curvature there is that of the normal one in each slot.
        """
        after = len(log_bias) - 1
        precision = np.linalg.inv(self.variance * _correlation(after))
        slope = precision @ (self.centre[: after + 1] - log_bias)[1:]
        curvature = np.append(1.0, np.diag(precision))
        return np.append(0.0, slope) + curvature, curvature * np.exp(-log_bias)


def learn_own_slots(cells: Cells, prior: CellPrior, position_bias: FloatArray, attractiveness: FloatArray) -> OwnSlots:
    """Learn the slots of each placement, starting from slots and a prior that all share."""
    centre = np.log(position_bias)
    own = OwnSlots(
        cells,
        _copy(prior),
        np.tile(centre, (len(cells.seen), 1)),
        attractiveness,
        centre,
        USUAL_VARIANCE,
        np.zeros((0, 0)),
        np.zeros((0, 0, 0)),
    )
    before = np.zeros(1)
    for _ in range(MAX_ROUNDS):
        clicks, passes = _effective_counts(own)
        own = _step(own, clicks, passes)
        prior, by_cell = own.prior, clicks.sum(axis=0)
        exposure = _exposure(own, passes).sum(axis=0)
        if prior.items is not None:
            follow(prior, prior.items, by_cell, exposure)
        learn_shape(prior, by_cell, exposure)
        # κ + N is positive for effective counts at the solution
        own = replace(own, attractiveness=np.maximum(prior.shapes + by_cell, MIN_WEIGHT) / (prior.rate + exposure))
        now = np.concatenate([own.log_bias.ravel(), own.centre, prior.weights, [math.sqrt(own.variance)]])
        if np.abs(now - before).max() < SETTLED:
            break
        before = now
    return own


def _copy(prior: CellPrior) -> CellPrior:
    placements, items = (None if each is None else replace(each) for each in (prior.placements, prior.items))
    return replace(prior, variance=prior.variance.copy(), placements=placements, items=items)


def _correlation(size: int) -> FloatArray:
    return np.asarray((np.eye(size) + 1.0) / 2.0)


def _exposure(own: OwnSlots, passes: FloatArray) -> FloatArray:
    """Return λÑ, slots × cells."""
    return np.asarray(np.exp(own.log_bias).T[:, own.cells.placement] * passes)


def _effective_counts(own: OwnSlots) -> tuple[FloatArray, FloatArray]:
    """Return clicks and passes, slots × cells, of rare clicks with the same information as the data."""
    cells, lists = own.cells, own.cells.lists
    if lists is None:
        return cells.clicks, cells.passes
    bias = np.exp(own.log_bias)
    of_lists = np.repeat(bias, np.diff(lists.ends), axis=0)
    gamma = np.where(lists.shown == EMPTY, 0.0, of_lists * own.attractiveness[np.maximum(lists.shown, 0)])
    chances = gamma / (1.0 + gamma.sum(axis=1, keepdims=True))
    pairs = per_pair(lists, lists.times[:, None] * chances, cells.count)
    return rare_counts(cells, lists, pairs, chances, bias.T[:, cells.placement] * own.attractiveness)


def _step(own: OwnSlots, clicks: FloatArray, passes: FloatArray) -> OwnSlots:
    """Take a step of λ, μ, weights, effects and variances; the prior is changed."""
    cells, prior, centre = own.cells, own.prior, own.centre
    places, after, weights = len(cells.seen), cells.slots - 1, len(prior.weights)
    terms = Terms.of(prior, _exposure(own, passes), clicks.sum(axis=0))
    shares, design = terms.shares[1:], prior.design.T
    slot_side, weighed, bent = shares * terms.beside, shares * terms.weight, design * terms.curve
    precision = np.linalg.inv(own.variance * _correlation(after))
    drawn = (own.log_bias - centre)[:, 1:] @ precision

    def summed(by_cell: FloatArray) -> FloatArray:
        """Return sums over the cells of each placement, in the first axis."""
        return np.moveaxis(np.add.reduceat(by_cell, cells.ends[:-1], axis=-1), -1, 0)

    # the information on a placement's slots and its effect, on these beside μ and the weights, and on the latter
    matrix, score = np.zeros((places, after + 1, after + 1)), np.zeros((places, after + 1))
    beside, shared = np.zeros((places, after + 1, after + weights)), np.zeros((places, *2 * (after + weights,)))
    matrix[:, :after, :after] = precision
    matrix[:, np.arange(after), np.arange(after)] += summed(weighed)
    beside[:, :after, :after], shared[:, :after, :after] = -precision, precision
    for slot in range(after):
        matrix[:, slot, :after] -= summed(weighed[slot] * shares)
        beside[:, slot, after:] = summed(slot_side[slot] * design)
    for weight in range(weights):
        shared[:, after + weight, after:] = summed(bent[weight] * design)
    score[:, :after] = summed(clicks[1:] - weighed) - drawn
    matrix[:, after, after] = 1.0
    if prior.placements is not None:
        effects = prior.placements
        matrix[:, after, :after] = matrix[:, :after, after] = summed(slot_side)
        matrix[:, after, after] = summed(terms.curve) + 1.0 / effects.variance
        beside[:, after, after:] = summed(bent)
        score[:, after] = summed(terms.score_of_mean) - effects.values / effects.variance
    inverse = np.linalg.inv(matrix)
    lever = inverse @ beside
    by_placement = shared - beside.mT @ lever
    of_priors = np.concatenate([np.full(after, CENTRE_INFORMATION), 1.0 / prior.variance])
    information = by_placement.sum(axis=0) + np.diag(of_priors)
    covariance = np.linalg.inv(information)
    of_shared = np.concatenate([drawn.sum(axis=0), design @ terms.score_of_mean])
    of_shared -= of_priors * np.concatenate([centre[1:], prior.weights - prior.centre])
    step = covariance @ (of_shared - np.einsum("pos,po->s", lever, score))
    step *= min(1.0, MAX_STEP / max(1e-300, float(np.abs(step).max())))
    of_own = np.clip((inverse @ score[:, :, None])[:, :, 0] - lever @ step, -MAX_STEP, MAX_STEP)
    if prior.placements is not None:
        prior.placements.values = prior.placements.values + of_own[:, after]
        of_effects = lever[:, after]
        prior.placements.spread = inverse[:, after, after] + ((of_effects @ covariance) * of_effects).sum(axis=1)
    prior.weights = prior.weights + step[after:]
    prior.learn_variances(np.diag(covariance)[after:])
    log_bias = own.log_bias + np.pad(of_own[:, :after], ((0, 0), (1, 0)))
    centre = centre + np.append(0.0, step[:after])
    # the posterior of λ - μ
    off, towards = (log_bias - centre)[:, 1:], lever[:, :after].copy()
    towards[:, :, :after] += np.eye(after)
    squares = off.T @ off + (inverse[:, :after, :after] + towards @ covariance @ towards.mT).sum(axis=0)
    known = np.eye(after) - inverse[:, :after, :after] @ precision
    variance = _improved(own.variance, np.linalg.solve(_correlation(after), squares), known)
    return OwnSlots(cells, prior, log_bias, own.attractiveness, centre, variance, information, by_placement)


def _improved(variance: float, squares: FloatArray, known: FloatArray) -> float:
    """Take a step of Fisher scoring in log v.

    `squares` are the expected sums of squares, scaled by the correlation, and `known` is the part of each placement's
    slots that its data determine. An EM step would hardly move if that is small.
    """
    places, after = known.shape[:2]
    usual = WORTH * after * USUAL_VARIANCE / variance
    score = float(np.trace(squares)) / variance - after * (places + WORTH) + usual
    step = score / (float((known * known.mT).sum()) + usual)
    return variance * math.exp(min(max(step, -MAX_STEP), MAX_STEP))
