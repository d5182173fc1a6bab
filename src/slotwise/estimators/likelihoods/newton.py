"""Newton's method for the maximum of a concave function of (log α, log λ)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from slotwise.core.types import FloatArray

#: the largest change of a logarithm in the last step, and in any step
TOLERANCE = 1e-9
MAX_STEP = 3.0
MAX_STEPS = 60
#: a parameter beyond this, or below its inverse, has diverged
RUNAWAY = 1e8
#: the part of the objective that is rounding
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Point:
    """A concave function of (log α, log λ) at one point: its value, its score, and its Newton step."""

    value: float
    items: FloatArray
    slots: FloatArray
    solve: Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


class Objective(Protocol):
    """A concave function of log λ and log α."""

    def at(self, position_bias: FloatArray, attractiveness: FloatArray) -> Point:
        """The function at this λ and α."""
        ...


def climb(
    objective: Objective, position_bias: FloatArray, attractiveness: FloatArray, most_steps: int = MAX_STEPS
) -> tuple[FloatArray, FloatArray, int, bool]:
    """Take Newton steps, halved if they do not increase the value; return λ, α, the steps, and whether they converged.

    A parameter of 0 stays 0. A parameter that diverges ends at 0 or at infinity.
    """
    here = objective.at(position_bias, attractiveness)
    for steps in range(1, most_steps + 1):
        of_items, of_slots = here.solve(here.items, here.slots)
        length = max(np.abs(of_items).max(), np.abs(of_slots).max())
        if not np.isfinite(length):
            break
        cut = min(1.0, MAX_STEP / max(length, 1e-300))
        while True:
            trial = position_bias * np.exp(cut * of_slots), attractiveness * np.exp(cut * of_items)
            there = objective.at(*trial)
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
    """Return the smallest parameter that is not 0."""
    return float(min(values[values > 0].min(initial=np.inf) for values in parameters))
