"""Equations in which items see each other only through the slots, and their solution.

The estimators with unknown bias solve Σ_k g_kj(N_kj - γ_kjÑ_kj) = 0 for every item and Σ_j g_kj(N_kj - γ_kjÑ_kj) = 0
for every slot, in log α and log λ. The derivatives have one form, [[diag d, Wᵀ], [W, diag e]], and no J × J matrix is
needed: eliminating the items leaves H = diag e - W diag(1/d) Wᵀ, a K × K matrix, in O(JK²).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from slotwise.core.types import FloatArray

#: a direction of log λ along which H keeps less than this part of its diagonal is one that the data leave free
FREE = 1e-11


@dataclass(frozen=True, eq=False)
class Curvature:
    """d per item, e per slot and W, slots × items; e is 0 for a slot that is held, as the first one is."""

    items: FloatArray
    slots: FloatArray
    pairs: FloatArray

    @cached_property
    def shares(self) -> FloatArray:
        """U = W/d, slots × items: 0 for slots that are held, and for items without information."""
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = self.pairs / self.items
        shares[:, ~(self.items > 0)] = 0.0
        shares[~(self.slots > 0)] = 0.0
        return np.asarray(shares)

    @cached_property
    def inverse(self) -> FloatArray:
        """H⁻¹, slots × slots; 0 for slots that are held, and along directions that the data leave free."""
        free = self.slots > 0
        scale = np.sqrt(np.where(free, self.slots, 1.0))
        eliminated = np.diag(np.where(free, self.slots, 0.0)) - self.shares @ (self.pairs * free[:, None]).T
        values, vectors = np.linalg.eigh(eliminated / np.outer(scale, scale))
        determined = values > FREE
        half = vectors[:, determined] / np.sqrt(values[determined]) / scale[:, None]
        return np.asarray(half @ half.T)

    def solve(self, items: FloatArray, slots: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The steps of log α and log λ for these right sides."""
        step = self.inverse @ (slots - self.shares @ items)
        with np.errstate(divide="ignore", invalid="ignore"):
            own = np.where(self.items > 0, items / self.items, 0.0)
        return own - self.shares.T @ step, step
