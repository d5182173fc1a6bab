"""Placements with as many items each, stacked: one call for many small matrices, and not one for each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from slotwise.core.types import FloatArray


@dataclass(frozen=True, eq=False)
class Block:
    """A stack of placements with as many items each: B, as matrices or diagonals, bordered by their effects; C; and D.

    The first axis of all arrays is that of the placements.
    """

    #: of items; items × shared; shared × shared
    items: FloatArray
    beside: FloatArray
    shared: FloatArray
    #: the curvature that items share with the placement's effect, and the effect's own; None if there is none
    border: FloatArray | None
    effect: FloatArray
    effect_beside: FloatArray

    @property
    def diagonal(self) -> FloatArray:
        """The diagonal of B, of the items."""
        return self.items if self.items.ndim == 2 else np.diagonal(self.items, axis1=1, axis2=2)

    def solve(self, right: FloatArray, of_effect: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return B⁻¹ times columns, of items and of the effect."""
        solution = self._solve_items(right)
        if self.border is None:
            return solution, np.zeros_like(of_effect)
        effect = (of_effect - (self.border[:, None, :] @ solution)[:, 0]) / self._effect_left[:, None]
        return solution - self._bordered[:, :, None] * effect[:, None, :], effect

    def _solve_items(self, right: FloatArray) -> FloatArray:
        if self.items.ndim == 2:
            return np.asarray(right / self.items[:, :, None])
        return np.asarray(self._inverse @ right)

    @cached_property
    def _inverse(self) -> FloatArray:
        return np.asarray(np.linalg.inv(self.items))

    @cached_property
    def _bordered(self) -> FloatArray:
        """B⁻¹ of the items times the border."""
        assert self.border is not None
        return self._solve_items(self.border[:, :, None])[:, :, 0]

    @cached_property
    def _effect_left(self) -> FloatArray:
        """The curvature of the effect that is left when the items are eliminated."""
        assert self.border is not None
        return np.asarray(self.effect - (self.border * self._bordered).sum(axis=1))

    @cached_property
    def variance(self) -> FloatArray:
        """The diagonal of B⁻¹, of the items."""
        alone = 1.0 / self.items if self.items.ndim == 2 else np.diagonal(self._inverse, axis1=1, axis2=2)
        if self.border is None:
            return np.asarray(alone)
        return np.asarray(alone + self._bordered**2 / self._effect_left[:, None])

    def variance_of(self, place: int, weights: FloatArray) -> float:
        """wᵀB⁻¹w, of the items of one of the placements."""
        alone = weights**2 / self.items[place] if self.items.ndim == 2 else (weights @ self._inverse[place]) * weights
        if self.border is None:
            return float(alone.sum())
        return float(alone.sum() + (weights @ self._bordered[place]) ** 2 / self._effect_left[place])

    @cached_property
    def inverse(self) -> FloatArray:
        """B⁻¹, of the items."""
        if self.border is None:
            return self._inverse
        return np.asarray(
            self._inverse + self._bordered[:, :, None] * (self._bordered / self._effect_left[:, None])[:, None, :]
        )

    def slope_by_prior(self, drawn: FloatArray) -> FloatArray:
        """The derivative of log det B by log q of each item; q is in the effect's part of B as well."""
        if self.border is None:
            return drawn * self.variance
        return np.asarray(drawn * (self.variance + (1.0 + 2.0 * self._bordered) / self._effect_left[:, None]))

    @cached_property
    def lever(self) -> tuple[FloatArray, FloatArray]:
        """G, of items and of the effect."""
        return self.solve(self.beside, self.effect_beside)

    @cached_property
    def left(self) -> FloatArray:
        """D - CᵀB⁻¹C, added up over the stack."""
        of_items, of_effect = self.lever
        taken = self.beside.mT @ of_items + self.effect_beside[:, :, None] * of_effect[:, None, :]
        return np.asarray((self.shared - taken).sum(axis=0))
