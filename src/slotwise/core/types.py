"""Array types, the markers for no click and for an empty slot, and the protocol of click models."""

from __future__ import annotations

from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: How fast counts lose weight: the rounds after which a count weighs half, "auto" to select it, or None for never.
HalfLife = float | str | None

#: Items by slot: `ranking[k]` is the item shown in slot k. Slots and items count from 0.
Ranking = NDArray[np.int64]

#: The value of `clicked` in a round without a click; otherwise it is the slot.
NO_CLICK: Final = -1

#: The entry of a ranking for an empty slot; only a goal with `may_be_empty` allows it. It is no valid index: an array
#: of one item has no entry -2.
EMPTY: Final = -2


class ClickModel(Protocol):
    """Users of a click model: a record for which the functions of `slotwise.click_models.base` are registered."""

    @property
    def slots(self) -> int:
        """K."""

    @property
    def items(self) -> int:
        """J."""
