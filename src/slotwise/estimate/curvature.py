"""Equations in which items see each other only through the slots: their solution, and the Newton steps made of it.

The estimators with unknown bias solve Σ_k g_kj(N_kj - γ_kjÑ_kj) = 0 for every item and Σ_j g_kj(N_kj - γ_kjÑ_kj) = 0
for every slot, in log α and log λ. The derivatives have one form, [[diag d, Wᵀ], [W, diag e]], and no J × J matrix is
needed: eliminating the items leaves H = diag e - W diag(1/d) Wᵀ, a K × K matrix, in O(JK²).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from slotwise.typing import FloatArray

#: a direction of log λ along which H keeps less than this part of its diagonal is one that the data leave free
FREE = 1e-11
#: the largest change of a logarithm in the last step, and in any step
TOLERANCE = 1e-9
LONGEST_STEP = 3.0
MOST_STEPS = 60
#: a parameter beyond this, or below its inverse, has run away
RUNAWAY = 1e8
#: the part of the objective that is rounding
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Curvature:
    """d per item, e per slot and W, slots × items; e is 0 for a slot that is held, as the first one is."""

    items: FloatArray
    slots: FloatArray
    pairs: FloatArray

    @cached_property
    def shares(self) -> FloatArray:
        """U = W/d, slots × items: 0 for slots that are held, and for items that nothing is known of."""
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
        kept = values > FREE
        half = vectors[:, kept] / np.sqrt(values[kept]) / scale[:, None]
        return np.asarray(half @ half.T)

    def solve(self, items: FloatArray, slots: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The steps of log α and log λ for these right sides."""
        step = self.inverse @ (slots - self.shares @ items)
        with np.errstate(divide="ignore", invalid="ignore"):
            own = np.where(self.items > 0, items / self.items, 0.0)
        return own - self.shares.T @ step, step


@dataclass(frozen=True, eq=False)
class Point:
    """A concave function of (log α, log λ) at one point: its value, its score, and its Newton step."""

    value: float
    items: FloatArray
    slots: FloatArray
    solve: Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


def climb(
    objective: Callable[[FloatArray, FloatArray], Point], position_bias: FloatArray, attractiveness: FloatArray
) -> tuple[FloatArray, FloatArray, int, bool]:
    """Newton steps, halved where they do not climb: λ, α, the steps taken, and whether they came to rest.

    What is 0 stays 0. What runs away is left at 0 or at infinity.
    """
    here = objective(position_bias, attractiveness)
    for steps in range(1, MOST_STEPS + 1):
        of_items, of_slots = here.solve(here.items, here.slots)
        length = max(np.abs(of_items).max(), np.abs(of_slots).max())
        if not np.isfinite(length):
            break
        cut = min(1.0, LONGEST_STEP / max(length, 1e-300))
        while True:
            trial = position_bias * np.exp(cut * of_slots), attractiveness * np.exp(cut * of_items)
            there = objective(*trial)
            if there.value >= here.value - ROUNDING * abs(here.value) or cut * length < TOLERANCE:
                break
            cut /= 2.0
        position_bias, attractiveness = trial
        here = there
        if length < TOLERANCE:
            return position_bias, attractiveness, steps, True
        if (
            max(attractiveness.max(), position_bias.max()) > RUNAWAY
            or _least(attractiveness, position_bias) < 1 / RUNAWAY
        ):
            break
    for parameters in (position_bias, attractiveness):
        parameters[parameters > RUNAWAY] = np.inf
        parameters[parameters < 1.0 / RUNAWAY] = 0.0
    return position_bias, attractiveness, steps, False


def _least(*parameters: FloatArray) -> float:
    """The smallest one that is not 0."""
    return float(min(one[one > 0].min(initial=np.inf) for one in parameters))
