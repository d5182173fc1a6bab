"""Drift of a placement: items that visitors click on more or less than before, or slots that they click in.

For each of the last seven days, every item and every slot is compared before and after the start of that day
(`slotwise.estimators.diagnostics.find_drift`). A slot is named if its change is clearer than that of every item: the
page has changed then, and not what visitors like.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from slotwise.core.types import FloatArray, IntArray
from slotwise.estimators.diagnostics import find_drift as compare_splits
from slotwise.service.learning.period_counts import PeriodCounts, sums
from slotwise.service.storage.decision_types import DAY

#: days that are searched for a change, and days before them to compare with
RECENT_DAYS: Final = 7
BEFORE_DAYS: Final = 28
#: characters of an item's name in a sentence
MAX_QUOTED: Final = 40
EMPTY_NAMES: Final[Mapping[str, str]] = {}


def quoted(item: str, names: Mapping[str, str]) -> str:
    """An item's name, or its id, for a sentence.

    >>> quoted("a1", {"a1": "Green tea"}), quoted("b" * 50, {}) == "“" + "b" * 39 + "…”"
    ('“Green tea”', True)
    """
    name = names.get(item, item)
    return f"“{name if len(name) <= MAX_QUOTED else name[: MAX_QUOTED - 1] + '…'}”"


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
    #: counted from 1, if it is a slot and no item that changed
    slot: int | None = None

    def in_words(self, names: Mapping[str, str] = EMPTY_NAMES) -> str:
        """The drift in words, with the items' names for people."""
        way = "more" if self.after > self.before else "less"
        if self.slot is not None:
            return f"visitors click {way} in slot {self.slot}"
        if self.compared > 2 and self.alike * 2 > self.compared:
            return f"visitors click {way} on most items"
        return f"visitors click {way} on {quoted(self.item, names)}"


class DriftReport(NamedTuple):
    """The clearest drift, or None; and the number of comparisons."""

    clearest: ItemDrift | None
    comparisons: int


def find_drift(
    counts: PeriodCounts, position_bias: Sequence[float], now: float, attractiveness: Mapping[str, float] | None = None
) -> DriftReport:
    """Search counts up to now for drift; given the attractiveness of items, also for that of slots."""
    today = int(now // DAY) * DAY
    first = today - (RECENT_DAYS + BEFORE_DAYS - 1) * DAY
    days = [*range(first, today + DAY, DAY)]
    timed = (counts.hours > 0) & (counts.start >= days[0]) & (counts.start < days[-1] + DAY)
    counts = counts.of_rows(timed & (counts.slot < len(position_bias)))
    items, slots = len(counts.item.names), len(position_bias)
    report, score = _clearest(counts, counts.item.places, np.array(position_bias)[counts.slot], items, days)
    if report.clearest is None or attractiveness is None:
        return report
    alpha = np.array([attractiveness.get(name, 0.0) for name in counts.item.names])
    of_slots, slot_score = _clearest(counts, counts.slot, alpha[counts.item.places], slots, days)
    slot = of_slots.clearest
    # items that change alike in most slots are what changed
    is_the_page = slot is not None and slot_score > score and 2 * slot.alike <= slot.compared
    return of_slots if is_the_page else report


def _clearest(
    counts: PeriodCounts, rows: IntArray, weights: FloatArray, size: int, days: Sequence[int]
) -> tuple[DriftReport, float]:
    """The clearest drift among items, or among slots, and its score; `weights` are those of the other of the two."""
    splits = range(len(days) - RECENT_DAYS, len(days))
    drift = compare_splits(*_by_day(counts, rows, weights, size, days), splits)
    changes = drift.clearest()
    if not changes:
        return DriftReport(None, drift.comparisons), 0.0
    row, split = changes[0]
    scores = drift.scores[:, split]
    alike = int((drift.is_change[:, split] & (scores * scores[row] > 0.0)).sum())
    is_item = rows is counts.item.places
    clearest = ItemDrift(
        counts.item.names[row] if is_item else "",
        days[splits[split]],
        float(drift.before[row, split]),
        float(drift.after[row, split]),
        alike,
        int(drift.is_compared[:, split].sum()),
        None if is_item else row + 1,
    )
    return DriftReport(clearest, drift.comparisons), float(abs(scores[row]))


def _by_day(
    counts: PeriodCounts, rows: IntArray, weights: FloatArray, size: int, days: Sequence[int]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Clicks, exposure and weighted rounds, rows × days."""
    cells, shape = rows * len(days) + (counts.start - days[0]) // DAY, (size, len(days))
    clicks, exposure, weighted = (
        sums(cells, values, shape[0] * shape[1]).reshape(shape)
        for values in (counts.clicks, weights * counts.passes, weights * (counts.clicks + counts.passes))
    )
    return clicks, exposure, weighted
