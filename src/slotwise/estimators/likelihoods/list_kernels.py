"""Sums over the distinct lists that were shown, for the joint likelihood: its expected clicks and its information."""

from __future__ import annotations

import math

import numpy as np

from slotwise.core.types import EMPTY, FloatArray, IntArray
from slotwise.jit import jit


@jit
def add_expected(
    shown: IntArray,
    times: FloatArray,
    position_bias: FloatArray,
    attractiveness: FloatArray,
    pairs: FloatArray,
    chances: FloatArray,
) -> float:
    """Add expected clicks to `pairs`, slots × items; fill `chances` with click probabilities; return Σ T log(1 + S)."""
    slots = shown.shape[1]
    log_total = 0.0
    for row in range(len(shown)):
        total = 1.0
        for slot in range(slots):
            item = shown[row, slot]
            weight = position_bias[slot] * attractiveness[item] if item != EMPTY else 0.0
            chances[row, slot] = weight
            total += weight
        log_total += times[row] * math.log(total)
        for slot in range(slots):
            chances[row, slot] /= total
            if chances[row, slot] > 0.0:
                pairs[slot, shown[row, slot]] += times[row] * chances[row, slot]
    return log_total


@jit
def subtract_squares(shown: IntArray, times: FloatArray, chances: FloatArray, own: FloatArray) -> None:
    """Take Σ Tp² off `own`, per item, which leaves the diagonal of the information where Σ Tp was."""
    for row in range(len(shown)):
        for slot in range(shown.shape[1]):
            if chances[row, slot] > 0.0:
                own[shown[row, slot]] -= times[row] * chances[row, slot] ** 2


@jit
def information_times(
    shown: IntArray, times: FloatArray, chances: FloatArray, items: FloatArray, slots: FloatArray, product: FloatArray
) -> None:
    """Add Σ_A T_A (diag p - ppᵀ)z to `product`, per item and then per slot, where z_k is items[A_k] + slots[k]."""
    count = len(items)
    part = np.zeros(len(slots))
    for row in range(len(shown)):
        mean = 0.0
        for slot in range(len(slots)):
            if chances[row, slot] > 0.0:
                part[slot] = items[shown[row, slot]] + slots[slot]
                mean += chances[row, slot] * part[slot]
        for slot in range(len(slots)):
            if chances[row, slot] > 0.0:
                change = times[row] * chances[row, slot] * (part[slot] - mean)
                product[shown[row, slot]] += change
                product[count + slot] += change


@jit
def information(shown: IntArray, times: FloatArray, chances: FloatArray, place: IntArray, matrix: FloatArray) -> None:
    """Add Σ_A T_A (diag p - ppᵀ) to `matrix`; `place` is the row of each item, then of each slot, or -1."""
    slots = shown.shape[1]
    first_slot = len(place) - slots
    for row in range(len(shown)):
        for slot in range(slots):
            for other in range(slots):
                mine, theirs = chances[row, slot], chances[row, other]
                if mine == 0.0 or theirs == 0.0:
                    continue
                value = times[row] * ((mine if slot == other else 0.0) - mine * theirs)
                for i in (place[shown[row, slot]], place[first_slot + slot]):
                    for j in (place[shown[row, other]], place[first_slot + other]):
                        if i >= 0 and j >= 0:
                            matrix[i, j] += value


@jit
def add_slope_of_determinant(
    shown: IntArray, times: FloatArray, chances: FloatArray, inverse: FloatArray, items: FloatArray, slots: FloatArray
) -> None:
    """Add to `items` and `slots` the derivatives of log det B by log α and log λ, given B⁻¹ of the items.

    The information of a list is V = diag p - ppᵀ, and where the logarithm of γ in slot k grows by z_k, p_k grows by
    p_k(z_k - Σ pz). So tr(B⁻¹dV) = Σ_k z_k p_k(h_k - Σ ph), with h_k = B⁻¹_kk - 2Σ_m B⁻¹_km p_m.
    """
    bent = np.zeros(shown.shape[1])
    for row in range(len(shown)):
        mean = 0.0
        for slot in range(shown.shape[1]):
            if chances[row, slot] > 0.0:
                mine = shown[row, slot]
                bent[slot] = inverse[mine, mine]
                for other in range(shown.shape[1]):
                    if chances[row, other] > 0.0:
                        bent[slot] -= 2.0 * inverse[mine, shown[row, other]] * chances[row, other]
                mean += chances[row, slot] * bent[slot]
        for slot in range(shown.shape[1]):
            if chances[row, slot] > 0.0:
                change = times[row] * chances[row, slot] * (bent[slot] - mean)
                items[shown[row, slot]] += change
                slots[slot] += change


@jit
def add_products(starts: IntArray, item: IntArray, one: FloatArray, other: FloatArray, sums: FloatArray) -> None:
    """Add products over the pairs of cells of each list to `sums`, items × items; a list begins at each of `starts`."""
    for row in range(len(starts) - 1):
        for first in range(starts[row], starts[row + 1]):
            for second in range(starts[row], starts[row + 1]):
                sums[item[first], item[second]] += one[first] * other[second]
