"""Drift of a placement: items that visitors click on more or less than before.

For each of the last seven days, every item is compared before and after the start of that day
(`slotwise.estimators.diagnostics.find_drift`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from slotwise.core.types import FloatArray
from slotwise.estimators.diagnostics import find_drift as compare_splits
from slotwise.service.learning.period_counts import PeriodCounts, sums
from slotwise.service.storage.decision_types import DAY

#: days that are searched for a change, and days before them to compare with
RECENT_DAYS: Final = 7
BEFORE_DAYS: Final = 28


class ItemDrift(NamedTuple):
    """An item that visitors click on more or less than before."""

    item: str
    #: the start of the day of the change
    since: int
    #: its attractiveness before and after
    before: float
    after: float
    #: items that changed in the same direction on that day, and items that could be compared
    alike: int
    compared: int

    def in_words(self) -> str:
        """The drift in words."""
        way = "more" if self.after > self.before else "less"
        if self.compared > 2 and self.alike * 2 > self.compared:
            return f"visitors click {way} on most items"
        name = self.item if len(self.item) <= 40 else self.item[:39] + "…"
        return f"visitors click {way} on “{name}”"


class DriftReport(NamedTuple):
    """The clearest drift, or None; and the number of comparisons."""

    clearest: ItemDrift | None
    comparisons: int


def find_drift(counts: PeriodCounts, position_bias: Sequence[float], now: float) -> DriftReport:
    """Search counts up to now for drift."""
    today = int(now // DAY) * DAY
    first = today - (RECENT_DAYS + BEFORE_DAYS - 1) * DAY
    days = [*range(first, today + DAY, DAY)]
    splits = range(len(days) - RECENT_DAYS, len(days))
    drift = compare_splits(*_by_item_and_day(counts, position_bias, days), splits)
    changes = drift.clearest()
    if not changes:
        return DriftReport(None, drift.comparisons)
    item, split = changes[0]
    scores = drift.scores[:, split]
    alike = int((drift.is_change[:, split] & (scores * scores[item] > 0.0)).sum())
    return DriftReport(
        ItemDrift(
            counts.item.names[item],
            days[splits[split]],
            float(drift.before[item, split]),
            float(drift.after[item, split]),
            alike,
            int(drift.is_compared[:, split].sum()),
        ),
        drift.comparisons,
    )


def _by_item_and_day(
    counts: PeriodCounts, position_bias: Sequence[float], days: Sequence[int]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Clicks, exposure and weighted rounds, items × days."""
    timed = (counts.hours > 0) & (counts.start >= days[0]) & (counts.start < days[-1] + DAY)
    counts = counts.of_rows(timed & (counts.slot < len(position_bias)))
    cells = counts.item.places * len(days) + (counts.start - days[0]) // DAY
    size = len(counts.item.names), len(days)
    bias = np.array(position_bias)[counts.slot]
    clicks, exposure, weighted = (
        sums(cells, values, size[0] * size[1]).reshape(size)
        for values in (counts.clicks, bias * counts.passes, bias * (counts.clicks + counts.passes))
    )
    return clicks, exposure, weighted
