"""How sure a pooled estimate is: the inverse information, placement by placement.

Given what placements share, the slots and the weights of the prior, they know nothing of each other. So the information
is made of a block B for what is a placement's own (log α of its items, and its effect on them), its part C beside what
is shared, and D of that. With G = B⁻¹C and S = D - Σ CᵀB⁻¹C, where the sum is over all placements,

    Var(c·own + e·shared) = cᵀB⁻¹c + (e - Gᵀc)ᵀ S⁻¹ (e - Gᵀc).

A prior Gamma(κ, κ/M) draws log α to log M with a curvature of q = κα/M, of which both have a part.

A placement of more than some 1,500 items, and one of which only a tally is known, has a diagonal B: with lists the
weights Σ Tp(1 - P), P the chance of any click, which bound the information from below, as diag p - ppᵀ ⪰ (1 - P)diag p;
with a tally γÑ/(1 + γ).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from slotwise.estimate.joint import MOST_INVERTED, Joint
from slotwise.estimate.list_sums import information
from slotwise.estimate.pooled.cells import Cells, Likelihood
from slotwise.estimate.pooled.prior import CellPrior
from slotwise.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Block:
    """One placement: B, as a matrix or as a diagonal, bordered by the placement's effect; C; and D."""

    #: of items; items × shared; shared × shared
    items: FloatArray
    beside: FloatArray
    shared: FloatArray
    #: the curvature that items share with the placement's effect, and the effect's own; None if there is none
    border: FloatArray | None
    effect: float
    effect_beside: FloatArray

    def solve(self, right: FloatArray, of_effect: FloatArray) -> tuple[FloatArray, FloatArray]:
        """B⁻¹ times columns, of items and of the effect."""
        found = self._solve_items(right)
        if self.border is None:
            return found, np.zeros_like(of_effect)
        own = self._solve_items(self.border[:, None])
        left = self.effect - float(self.border @ own[:, 0])
        effect = (of_effect - self.border @ found) / left
        return found - own * effect, effect

    def _solve_items(self, right: FloatArray) -> FloatArray:
        if self.items.ndim == 1:
            return np.asarray(right / self.items[:, None])
        return np.asarray(self._inverse @ right)

    @cached_property
    def _inverse(self) -> FloatArray:
        return np.asarray(np.linalg.inv(self.items))

    @cached_property
    def variance(self) -> FloatArray:
        """The diagonal of B⁻¹, of the items."""
        alone = 1.0 / self.items if self.items.ndim == 1 else np.diag(self._inverse)
        if self.border is None:
            return np.asarray(alone)
        own = self._solve_items(self.border[:, None])[:, 0]
        return np.asarray(alone + own**2 / (self.effect - float(self.border @ own)))

    @cached_property
    def lever(self) -> tuple[FloatArray, FloatArray]:
        """G, of items and of the effect."""
        return self.solve(self.beside, self.effect_beside)

    @cached_property
    def taken(self) -> FloatArray:
        """CᵀB⁻¹C."""
        of_items, of_effect = self.lever
        return np.asarray(self.beside.T @ of_items + np.outer(self.effect_beside, of_effect))


@dataclass(frozen=True, eq=False)
class PooledErrors:
    """A pooled estimate, and the information at it."""

    cells: Cells
    likelihood: Likelihood
    prior: CellPrior
    #: these cells among those of the prior, and κ/M of each
    which: slice
    item_rate: FloatArray
    position_bias: FloatArray
    attractiveness: FloatArray
    #: the curvature of the prior of λ, per slot
    slot_prior: FloatArray
    #: whether λ was estimated, and whether all came to rest
    free: bool
    converged: bool

    def log_errors(self, number: int) -> tuple[FloatArray, FloatArray]:
        """The standard errors of log α of a placement's items, and of log λ."""
        block, spread = self.block(number), self.shared_covariance
        lever, _ = block.lever
        variance = block.variance + ((lever @ spread) * lever).sum(axis=1) + self._of_item_effects(number)
        after = self.cells.slots - 1
        return np.sqrt(variance), np.concatenate([[0.0], np.sqrt(np.diag(spread)[:after])])

    def log_error_of(self, number: int, of_items: FloatArray, of_slots: FloatArray) -> float:
        """The standard error of Σ_j c_j log α_j + Σ_k e_k log λ_k, of the items of one placement."""
        block = self.block(number)
        wanted = np.zeros(len(self.shared_covariance))
        wanted[: self.cells.slots - 1] = of_slots[1:]
        left = wanted - block.lever[0].T @ of_items
        solved, _ = block.solve(of_items[:, None], np.zeros(1))
        variance = float(of_items @ solved[:, 0] + left @ self.shared_covariance @ left)
        variance += float(of_items**2 @ self._of_item_effects(number))
        return math.sqrt(max(0.0, variance))

    @cached_property
    def shared_covariance(self) -> FloatArray:
        """Of log λ after the first slot, and of the prior's weights: S⁻¹."""
        after = self.cells.slots - 1
        total = np.diag(np.concatenate([self.slot_prior[1:], 1.0 / self.prior.variance]))
        for number in range(len(self.cells.seen)):
            block = self.block(number)
            total = total + block.shared - block.taken
        if not self.free:
            found = np.zeros_like(total)
            found[after:, after:] = np.linalg.inv(total[after:, after:])
            return found
        return np.asarray(np.linalg.inv(total))

    def block(self, number: int) -> Block:
        """The information on what is a placement's own, and what it says of what is shared."""
        mine = self.cells.of_placement(number)
        among = slice(mine.start + self.which.start, mine.stop + self.which.start)
        drawn = self._drawn[mine]
        after, size = self.cells.slots - 1, mine.stop - mine.start
        if isinstance(self.likelihood, Joint) and size <= MOST_INVERTED:
            matrix = self._information(number)
            items = matrix[:size, :size] + np.diag(drawn)
            of_slots, slots = matrix[:size, size:], matrix[size:, size:]
        else:
            weight = self._weights[:, mine]
            items = weight.sum(axis=0) + drawn
            of_slots, slots = weight[1:].T, np.diag(weight[1:].sum(axis=1))
        design = self.prior.design[among]
        weighed = drawn[:, None] * design
        shared = np.zeros((after + design.shape[1],) * 2)
        shared[:after, :after] = slots
        shared[after:, after:] = design.T @ weighed
        border, effect, beside = None, 1.0, np.zeros(len(shared))
        if self.prior.placements is not None:
            border, effect = -drawn, float(drawn.sum()) + 1.0 / self.prior.placements.variance
            beside[after:] = weighed.sum(axis=0)
        return Block(items, np.column_stack([of_slots, -weighed]), shared, border, effect, beside)

    @cached_property
    def _drawn(self) -> FloatArray:
        """q, per cell."""
        return np.asarray(self.item_rate * self.attractiveness)

    def _of_item_effects(self, number: int) -> FloatArray:
        """What is not known of the effects of items that are in several placements, by the prior's part in each."""
        mine = self.cells.of_placement(number)
        if self.prior.items is None:
            return np.zeros(mine.stop - mine.start)
        one = self.prior.items
        uncertain = one.spread[one.group][self.which][mine]
        curvature = self.block(number).items
        own = curvature if curvature.ndim == 1 else np.diag(curvature)
        return np.asarray((self._drawn[mine] / own) ** 2 * uncertain)

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
        """Slots × cells: what bounds the information on each pair from below."""
        if self.cells.lists is None:
            gamma = np.outer(self.position_bias, self.attractiveness)
            return np.asarray(gamma * self.cells.passes / (1.0 + gamma))
        weight = np.zeros((self.cells.slots, self.cells.count))
        silent = self._times * (1.0 - self._chances.sum(axis=1))
        for slot, (cells, chance) in enumerate(zip(self.cells.lists.shown.T, self._chances.T, strict=True)):
            filled = cells >= 0
            weight[slot] = np.bincount(cells[filled], (silent * chance)[filled], self.cells.count)
        return weight
