"""What a click on each item is worth, learned from what clicks brought."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from slotwise.core.types import FloatArray
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.storage.count_rows import TallyRow

#: no item is worth less than this part of the mean: a value must be above 0
MIN_PART: Final = 1e-6


def values_of(definition: PlacementDefinition, items: Sequence[str], rows: Iterable[TallyRow]) -> FloatArray:
    """Of each of the items: the value that it was given, else what is learned of it where that is wanted, else 1."""
    given = {item.id: item.value for item in definition.items if item.value is not None}
    found = np.ones(len(items))
    if definition.values == "learned":
        numbers = {item: number for number, item in enumerate(items)}
        sums = np.zeros((3, len(items)))
        for row in rows:
            if row.valued and row.item in numbers:
                sums[:, numbers[row.item]] += row.valued, row.value, row.squares
        found = learned(*sums)
    for number, item in enumerate(items):
        if item in given:
            found[number] = given[item]
    return found


def learned(clicks: FloatArray, value: FloatArray, squares: FloatArray) -> FloatArray:
    """Means of what clicks brought, per item, drawn towards the mean of all as far as luck accounts for differences.

    An item's mean of n clicks counts n/(n + σ²/τ²), with σ² the variance of what clicks on one item bring and τ² that
    of the items' true means, both estimated from all items as in an analysis of variance. Items of which nothing is
    known are worth the mean, and all are worth 1 where nothing was ever brought.

    >>> clicks, value = np.array([50.0, 50.0, 0.0]), np.array([100.0, 200.0, 0.0])
    >>> learned(clicks, value, np.array([250.0, 850.0, 0.0])).round(2).tolist()
    [2.01, 3.99, 3.0]
    """
    total, items = clicks.sum(), np.count_nonzero(clicks)
    if total == 0 or value.sum() == 0.0:
        return np.ones(len(clicks))
    mean = value.sum() / total
    means = np.divide(value, clicks, out=np.full(len(clicks), mean), where=clicks > 0)
    between = float((clicks * (means - mean) ** 2).sum())
    within = max(0.0, float((squares - clicks * means**2).sum()))
    spread = total - (clicks**2).sum() / total
    if items < 2 or total <= items:
        # one item alone, or one click on each, tells nothing of how items differ
        return np.full(len(clicks), mean)
    noise = within / (total - items)
    true = max(0.0, (between - (items - 1) * noise) / spread)
    # τ²n/(τ²n + σ²), which is whole where there is no luck and nothing where there are no differences
    weight = np.divide(clicks * true, clicks * true + noise, out=np.zeros(len(clicks)), where=clicks * true > 0.0)
    found: FloatArray = np.maximum(mean + weight * (means - mean), MIN_PART * mean)
    return found
