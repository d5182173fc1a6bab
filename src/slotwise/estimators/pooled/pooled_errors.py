"""The standard errors of a pooled estimate: the inverse information, placement by placement.

Given the shared parameters (slots and weights of the prior) placements are independent. So the information has a block
B for a placement's own parameters (log α of its items, and its effect on them), a block C between these and the shared
parameters, and a block D of the shared parameters. With G = B⁻¹C and S = D - Σ CᵀB⁻¹C, a sum over all placements,

    Var(c·own + e·shared) = cᵀB⁻¹c + (e - Gᵀc)ᵀ S⁻¹ (e - Gᵀc).

A prior Gamma(κ, κ/M) shrinks log α toward log M with a curvature of q = κα/M, which enters B, C and D.

A placement of more than about 1,500 items, and one with only a tally, has a diagonal B: with lists the weights
Σ Tp(1 - P), P the probability of any click, which bound the information from below, as diag p - ppᵀ ⪰ (1 - P)diag p;
with a tally γÑ/(1 + γ).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from slotwise.core.types import EMPTY, FloatArray, IntArray
from slotwise.estimators.likelihoods.joint_likelihood import MAX_INVERTED, Joint
from slotwise.estimators.likelihoods.list_kernels import add_slope_of_determinant, information
from slotwise.estimators.pooled.block_solver import Block
from slotwise.estimators.pooled.cell_prior import CellPrior
from slotwise.estimators.pooled.placement_cells import Cells, Likelihood
from slotwise.estimators.uncertainty.intervals import Intervals, around_logarithm, around_mean

#: numbers in the matrices that are in memory at once
MAX_STACKED = 4_000_000
#: numbers in the matrices that are kept, as every placement is asked for its own: about a gigabyte
MAX_KEPT = 50_000_000


class _StandardErrors(NamedTuple):
    """S⁻¹; and per cell, the standard error of log α, and the part of its variance that items' effects have."""

    shared_covariance: FloatArray
    item_errors: FloatArray
    by_item_effects: FloatArray


@dataclass(frozen=True, eq=False)
class PooledErrors:
    """A pooled estimate, and the information at it."""

    cells: Cells
    likelihood: Likelihood
    prior: CellPrior
    #: these cells among those of the prior, and the rate of each, as a Gamma prior
    which: slice
    item_rate: FloatArray
    position_bias: FloatArray
    attractiveness: FloatArray
    #: the information on log λ after the first slot and on the weights, in priors and in other placements
    of_priors: FloatArray
    #: whether λ was estimated, and whether all came to rest
    free: bool
    converged: bool
    #: whether the prior of log λ is normal, so that intervals are symmetric around it
    is_normal: bool = False

    def log_errors(self, number: int) -> tuple[FloatArray, FloatArray]:
        """The standard errors of log α of a placement's items, and of log λ."""
        return self._item_errors[self.cells.of_placement(number)], self._slot_errors

    def intervals(self, level: float) -> tuple[Intervals, Intervals]:
        """Of α of all cells, and of λ: found once, however many placements ask for theirs."""
        if level not in self._intervals:
            self._intervals[level] = (
                around_mean(self.attractiveness, self._item_errors, level),
                (around_logarithm if self.is_normal else around_mean)(self.position_bias, self._slot_errors, level),
            )
        return self._intervals[level]

    @cached_property
    def _intervals(self) -> dict[float, tuple[Intervals, Intervals]]:
        return {}

    def log_error_of(self, number: int, of_items: FloatArray, of_slots: FloatArray) -> float:
        """The standard error of Σ_j c_j log α_j + Σ_k e_k log λ_k, of the items of one placement."""
        block, place = self._block_of(number)
        left = -(of_items @ block.lever[0][place])
        left[: len(of_slots) - 1] += of_slots[1:]
        variance = block.variance_of(place, of_items) + float(left @ self.shared_covariance @ left)
        variance += float(of_items**2 @ self._errors.by_item_effects[self.cells.of_placement(number)])
        return math.sqrt(max(0.0, variance))

    @property
    def shared_covariance(self) -> FloatArray:
        """Of log λ after the first slot, and of the prior's weights: S⁻¹."""
        return self._errors.shared_covariance

    @property
    def _item_errors(self) -> FloatArray:
        """The standard error of log α, per cell."""
        return self._errors.item_errors

    @cached_property
    def _errors(self) -> _StandardErrors:
        """All that need every block; blocks are computed twice unless they are kept."""
        blocks = self._kept
        total = self.of_priors
        for block in blocks or map(self._block, self._alike):
            total = total + block.left
        covariance = self._inverted(total)
        variance, by_item_effects = np.zeros(self.cells.count), np.zeros(self.cells.count)
        for numbers, block in zip(self._alike, blocks or map(self._block, self._alike), strict=True):
            lever, _ = block.lever
            cells = self._cells_of(numbers)
            variance[cells] = block.variance + ((lever @ covariance) * lever).sum(axis=2)
            by_item_effects[cells] = self._of_item_effects(numbers, block)
        return _StandardErrors(covariance, np.sqrt(variance + by_item_effects), by_item_effects)

    def slot_shift(self) -> FloatArray:
        """Return the shift of the mode of log λ if placements' own parameters are integrated out, not maximised.

        By Laplace's method, integrating them out subtracts ½ Σ log det B from the log-density (Tierney and
        Kadane, Accurate approximations for posterior moments and marginal densities, 1986). If clicks are rare,
        that is the same for all λ. This is the Newton step from one mode to the other, and 0 where B is too large.
        """
        after, lists = self.cells.slots - 1, self.cells.lists
        total = self.of_priors
        score = np.zeros(len(total))
        if not self.free or lists is None or np.diff(self.cells.ends).max() > MAX_INVERTED:
            return np.zeros(after + 1)
        for numbers in self._alike:
            block, drawn = self._block(numbers), self._stacked(self._drawn, numbers)
            by_item, by_slot = np.zeros_like(drawn), np.zeros(after + 1)
            for place, number in enumerate(numbers):
                rows = slice(int(lists.ends[number]), int(lists.ends[number + 1]))
                shown = lists.shown[rows] - self.cells.ends[number]
                own = block.inverse[place], by_item[place], by_slot
                add_slope_of_determinant(shown, self._times[rows], self._chances[rows], *own)
            by_prior = block.slope_by_prior(drawn)
            of_items, of_effect = block.lever
            design = self._stacked(self.prior.design[self.which], numbers)
            total = total + block.left
            # placements' own parameters follow λ by the lever
            score += ((by_item + by_prior)[:, :, None] * of_items).sum(axis=(0, 1)) - by_prior.sum(axis=1) @ of_effect
            score -= np.concatenate([by_slot[1:], -(by_prior[:, :, None] * design).sum(axis=(0, 1))])
        covariance = self._inverted(total)[:after]
        step, errors = covariance @ score / 2.0, np.sqrt(np.diag(covariance))
        # at most one standard error: with little data a single step is not accurate
        return np.append(0.0, step / max(1.0, np.abs(step / errors).max(initial=0.0)))

    def _inverted(self, total: FloatArray) -> FloatArray:
        """The inverse of S; λ varies by nothing if it is known."""
        after = 0 if self.free else self.cells.slots - 1
        inverse = np.zeros_like(total)
        inverse[after:, after:] = np.linalg.inv(total[after:, after:])
        return inverse

    @cached_property
    def _slot_errors(self) -> FloatArray:
        return np.concatenate([[0.0], np.sqrt(np.diag(self.shared_covariance)[: self.cells.slots - 1])])

    @cached_property
    def _alike(self) -> list[IntArray]:
        """The placements, grouped by their number of items: one call for many small matrices."""
        sizes = np.diff(self.cells.ends)
        batches = []
        for size in np.unique(sizes):
            numbers = np.flatnonzero(sizes == size)
            at_once = max(1, MAX_STACKED // (int(size) + len(self.of_priors)) ** 2)
            batches += [numbers[first : first + at_once] for first in range(0, len(numbers), at_once)]
        return batches

    @cached_property
    def _kept(self) -> list[Block]:
        """The blocks of placements, each of which may be asked for; none if they are too large together."""
        sizes, shared = np.diff(self.cells.ends), len(self.of_priors)
        # those with a diagonal B are narrow
        width = sizes if self.cells.lists is not None else np.zeros_like(sizes)
        numbers = ((sizes + shared) * (np.where(width <= MAX_INVERTED, width, 0) + shared)).sum()
        return [self._block(each) for each in self._alike] if numbers <= MAX_KEPT else []

    @cached_property
    def _places(self) -> dict[int, tuple[int, int]]:
        """Of each placement, which of the blocks it is in, and where in that."""
        blocks = enumerate(self._alike)
        return {number: (which, place) for which, each in blocks for place, number in enumerate(each.tolist())}

    def _block_of(self, number: int) -> tuple[Block, int]:
        """A block that a placement is in, and where."""
        if not self._kept:
            return self._block(np.array([number])), 0
        which, place = self._places[number]
        return self._kept[which], place

    def _cells_of(self, numbers: IntArray) -> IntArray:
        """The cells of placements that have as many, a row each."""
        first = self.cells.ends[numbers]
        return np.asarray(first[:, None] + np.arange(self.cells.ends[numbers[0] + 1] - first[0]))

    def _stacked(self, by_cell: FloatArray, numbers: IntArray) -> FloatArray:
        """Return the values of each cell for placements of the same sizes; those of a single placement as a view."""
        if len(numbers) == 1:
            return by_cell[self.cells.of_placement(int(numbers[0]))][None]
        return np.asarray(by_cell[self._cells_of(numbers)])

    def _block(self, numbers: IntArray) -> Block:
        """Return the information on placements' own parameters, and on the shared ones."""
        drawn, design = self._stacked(self._drawn, numbers), self._stacked(self.prior.design[self.which], numbers)
        (count, size), after = drawn.shape, self.cells.slots - 1
        if isinstance(self.likelihood, Joint) and size <= MAX_INVERTED:
            matrix = np.array([self._information(number) for number in numbers])
            items, of_slots, slots = matrix[:, :size, :size], matrix[:, :size, size:], matrix[:, size:, size:]
            items[:, np.arange(size), np.arange(size)] += drawn
        else:
            weight = self._stacked(self._weights.T, numbers)
            items = weight.sum(axis=2) + drawn
            of_slots, slots = weight[:, :, 1:], weight[:, :, 1:].sum(axis=1)[:, :, None] * np.eye(after)
        weighed = drawn[:, :, None] * design
        shared = np.zeros((count, after + design.shape[2], after + design.shape[2]))
        shared[:, :after, :after] = slots
        shared[:, after:, after:] = design.mT @ weighed
        border, effect, beside = None, np.ones(count), np.zeros(shared.shape[:2])
        if self.prior.placements is not None:
            border, effect = -drawn, drawn.sum(axis=1) + 1.0 / self.prior.placements.variance
            beside[:, after:] = weighed.sum(axis=1)
        return Block(items, np.concatenate([of_slots, -weighed], axis=2), shared, border, effect, beside)

    @cached_property
    def _drawn(self) -> FloatArray:
        """q, per cell."""
        return np.asarray(self.item_rate * self.attractiveness)

    def _of_item_effects(self, numbers: IntArray, block: Block) -> FloatArray:
        """Return the variance due to the effects of items in several placements, by the weight of the prior."""
        effects = self.prior.items
        if effects is None:
            return np.zeros_like(block.diagonal)
        uncertain = self._stacked(effects.spread[effects.group][self.which], numbers)
        return np.asarray((self._stacked(self._drawn, numbers) / block.diagonal) ** 2 * uncertain)

    def _information(self, number: int) -> FloatArray:
        """On the items of a placement and the slots after the first, from its lists."""
        assert self.cells.lists is not None
        mine, after = self.cells.of_placement(number), self.cells.slots - 1
        size = mine.stop - mine.start
        lists = self.cells.lists
        rows = slice(int(lists.ends[number]), int(lists.ends[number + 1]))
        place: IntArray = np.concatenate([np.arange(size), [-1], size + np.arange(after)])
        matrix = np.zeros((size + after, size + after))
        information(lists.shown[rows] - mine.start, self._times[rows], self._chances[rows], place, matrix)
        return matrix

    @cached_property
    def _chances(self) -> FloatArray:
        assert isinstance(self.likelihood, Joint)
        return self.likelihood.expected(self.position_bias, self.attractiveness)[1]

    @cached_property
    def _times(self) -> FloatArray:
        assert self.cells.lists is not None
        return self.cells.lists.times

    @cached_property
    def _weights(self) -> FloatArray:
        """Slots × cells: a lower bound of the information on each pair."""
        if self.cells.lists is None:
            gamma = np.outer(self.position_bias, self.attractiveness)
            return np.asarray(gamma * self.cells.passes / (1.0 + gamma))
        weight = np.zeros((self.cells.slots, self.cells.count))
        silent = self._times * (1.0 - self._chances.sum(axis=1))
        for slot, (cells, chance) in enumerate(zip(self.cells.lists.shown.T, self._chances.T, strict=True)):
            filled = cells != EMPTY
            weight[slot] = np.bincount(cells[filled], (silent * chance)[filled], self.cells.count)
        return weight
