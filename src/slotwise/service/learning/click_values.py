"""The value of a click on each item, learned from reported values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from slotwise.core.types import FloatArray
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.storage.count_rows import TallyRow

#: the minimum value as a fraction of the mean: a value must be positive
MIN_PART: Final = 1e-6


def values_of(definition: PlacementDefinition, items: Sequence[str], rows: Iterable[TallyRow]) -> FloatArray:
    """The value of each item: the one in the definition, otherwise the learned one if it is learned, otherwise 1."""
    given = {item.id: item.value for item in definition.items if item.value is not None}
    values = np.ones(len(items))
    if definition.learns_values:
        numbers = {item: number for number, item in enumerate(items)}
        sums = np.zeros((3, len(items)))
        for row in rows:
            if row.valued and row.item in numbers:
                sums[:, numbers[row.item]] += row.valued, row.value, row.squares
        values = learned(*sums)
    for number, item in enumerate(items):
        if item in given:
            values[number] = given[item]
    return values


def learned(clicks: FloatArray, value: FloatArray, squares: FloatArray) -> FloatArray:
    """Mean value of a click per item, shrunk toward the mean of all items (empirical Bayes).

    An item's mean of n clicks counts n/(n + σ²/τ²), with σ² the variance of values of one item and τ² that
    of the items' true means, both estimated from all items as in an analysis of variance. Items without values get the
    mean, and all items get 1 if there are no values.

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
        # with one item, or one click on each, the variance between items is unknown
        return np.full(len(clicks), mean)
    noise = within / (total - items)
    true = max(0.0, (between - (items - 1) * noise) / spread)
    # τ²n/(τ²n + σ²): 1 without variance within items, and 0 without variance between them
    weight = np.divide(clicks * true, clicks * true + noise, out=np.zeros(len(clicks)), where=clicks * true > 0.0)
    shrunk: FloatArray = np.maximum(mean + weight * (means - mean), MIN_PART * mean)
    return shrunk
