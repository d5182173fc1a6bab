"""Sums over counts that the beliefs about an unknown position bias have in common."""

from __future__ import annotations

from slotwise.core.types import FloatArray
from slotwise.jit import inlined


@inlined
def add_tally(
    shape: FloatArray, slot_clicks: FloatArray, item_passes: FloatArray, clicks: FloatArray, passes: FloatArray
) -> None:
    """Add N_·j to `shape`, per item, N_k· to `slot_clicks`, per slot, and Ñ to `item_passes`, items × slots."""
    slots, items = clicks.shape
    for slot in range(slots):
        for item in range(items):
            shape[item] += clicks[slot, item]
            slot_clicks[slot] += clicks[slot, item]
            item_passes[item, slot] += passes[slot, item]


@inlined
def expose(position_bias: FloatArray, item_passes: FloatArray, prior_rate: FloatArray, rate: FloatArray) -> None:
    """rate_j = r_j + Σ_k λ_kÑ_kj."""
    for item in range(len(rate)):
        exposure = prior_rate[item]
        for slot in range(len(position_bias)):
            exposure += position_bias[slot] * item_passes[item, slot]
        rate[item] = exposure
