"""The few types that appear in every signature."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: How fast counts lose weight: the rounds after which a count weighs half, "auto" to select it, or None for never.
HalfLife = float | str | None

#: Items by slot: `ranking[k]` is the item shown in slot k. Slots and items count from 0.
Ranking = NDArray[np.int64]

#: What `clicked` is when the user clicked nothing on the page; otherwise it is the slot.
NO_CLICK: Final = -1

#: What a ranking holds where a slot stays empty; only a goal that says so allows it.
EMPTY: Final = -1
