"""Which items are held back by their place: they would get more clicks where slotwise would show them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.recommendation import FEW_SHOWINGS, Recommendation

#: a better place is worth a mention if it brings this many times the clicks
WORTH_SAYING = 1.25


class UnderplacedItem(NamedTuple):
    """An item, the slot it was in most often, the slot for it, and how many times the clicks that slot brings."""

    item: str
    slot: int
    better: int
    times: float
    #: the gain: clicks per impression without a click
    gain: float


def find_underplaced(fit: Fit, best: Recommendation) -> list[UnderplacedItem]:
    """Items of the recommended list that stood in worse slots, those with most to gain first.

    An item's gain is its attractiveness times how much more its new slot is worth than the slots it was shown in.

    >>> from slotwise import Rankings
    >>> seen = Rankings([[0, 1], [1, 0]], [[900, 2250], [500, 50]], [9_000, 1_000], items=2)
    >>> fit = Fit.of_rankings(seen, item_ids=["milk", "tea"])
    >>> [(one.item, one.slot, one.better) for one in find_underplaced(fit, fit.best())]
    [('tea', 2, 1)]
    """
    numbers = {id: number for number, id in enumerate(fit.item_ids)}
    bias, alpha = fit.shrunken.position_bias, fit.shrunken.attractiveness
    underplaced = []
    for slot, id in enumerate(best.items):
        if id is None or fit.tally.showings[:, numbers[id]].sum() < FEW_SHOWINGS:
            continue
        shown = fit.tally.showings[:, numbers[id]]
        usual = float(bias @ shown / shown.sum())
        if bias[slot] > WORTH_SAYING * usual:
            gain = float(alpha[numbers[id]] * (bias[slot] - usual))
            underplaced.append(
                UnderplacedItem(id, int(np.argmax(shown)) + 1, slot + 1, float(bias[slot] / usual), gain)
            )
    return sorted(underplaced, key=lambda item: -item.gain)
