"""What every estimator answers."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.typing import FloatArray


@dataclass(frozen=True, eq=False)
class Estimate:
    """Attractiveness and position bias, with an honest word on whether to trust them."""

    #: α, per item; NaN for an item that was never shown
    attractiveness: FloatArray
    #: λ, per slot, relative to the first slot unless it was given
    position_bias: FloatArray
    #: whether the iteration came to rest, with finite values for all that was clicked; never without any click
    converged: bool
    #: whether the data determine every parameter: see `slotwise.estimate.identifiability`
    identifiable: bool
    #: how many sweeps over the data it took
    sweeps: int
