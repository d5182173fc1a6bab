"""The confidence bound that the epoch policies with closed-form estimates share: Lemma 3 of Grant and Leslie."""

from __future__ import annotations

import math

from slotwise.core.types import FloatArray
from slotwise.jit import inlined

#: the factor of log(Jl²/2)/Λ in Lemma 3
WIDTH = 4.0


@inlined
def log_term(parameters: int, epoch: float) -> float:
    """c = log(parameters · l² / 2), not below 0."""
    return max(0.0, math.log(parameters * epoch * epoch / 2.0))


@inlined
def agrawal_bounds(mean: FloatArray, uncertainty: FloatArray, width: float, index: FloatArray) -> None:
    """index = mean + √(width · mean / n) + width / n, with uncertainty = 1/n: those of Agrawal et al. (2019)."""
    for i in range(len(index)):
        scale = width * uncertainty[i]
        # an item that was never shown has no spread: infinity times 0 would be NaN
        index[i] = mean[i] if scale == 0.0 else mean[i] + math.sqrt(mean[i] * scale) + scale


@inlined
def upper_bounds(mean: FloatArray, uncertainty: FloatArray, width: float, index: FloatArray) -> None:
    """index = mean + √(width · min(1, 2 mean) / Λ) + width / Λ, with uncertainty = 1/Λ.

    An item that was never shown has an infinite mean and no uncertainty, and so an infinite index.
    """
    for i in range(len(index)):
        scale = width * uncertainty[i]
        index[i] = mean[i] + math.sqrt(min(1.0, 2.0 * mean[i]) * scale) + scale
