"""What is learned of all segments together is learned once from the tallies of many, and not once with each of them."""

from __future__ import annotations

import math

from slotwise.belief.interface import hold_still
from slotwise.belief.lived import Lived


@hold_still.register(Lived)
def _hold_still(belief: Lived, still: bool) -> None:
    belief.outdated = math.inf if still else 0.0
