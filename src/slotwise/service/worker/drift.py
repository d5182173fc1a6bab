"""Has something changed: do visitors click on items otherwise than they did before?

Clicks N and exposure E = Σ λ_k·passes of an item follow N ≈ αE, whichever lists were shown, so a change of lists, of
traffic or of other items is no change of α. For each beginning of a day among the last seven, an item's clicks before
and after are compared: z = (α₂ - α₁)/√(α(1 + α)(1/E₁ + 1/E₂)), as clicks vary like αE(1 + α) where no slot is more
visible than the first. A drift has |z| beyond what chance brings in a thousandth of all cases, for all items and days
together, and is a change by a fifth or more.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np

from slotwise.service.store.rows import DAY
from slotwise.service.worker.period_counts import PeriodCounts, sums
from slotwise.typing import FloatArray

#: how far back a change is looked for, and how far what was before reaches, in days
RECENT_DAYS: Final = 7
BEFORE_DAYS: Final = 28
#: the probability to call chance a drift
BY_CHANCE: Final = 0.001
#: clicks that are expected on either side, at the least
FEWEST_CLICKS: Final = 10.0
#: a smaller change, relatively, is not worth a word
LEAST_CHANGE: Final = 1.2


class Drift(NamedTuple):
    """An item that is clicked otherwise than before."""

    item: str
    #: the beginning of the day from which on
    since: int
    #: its attractiveness before and after
    before: float
    after: float
    #: items that moved in the same direction from that day on, of those that could be judged
    alike: int
    judged: int

    def in_words(self) -> str:
        """What visitors do now."""
        way = "more" if self.after > self.before else "less"
        if self.judged > 2 and self.alike * 2 > self.judged:
            return f"visitors click {way} on most items"
        name = self.item if len(self.item) <= 40 else self.item[:39] + "…"
        return f"visitors click {way} on “{name}”"


class Drifts(NamedTuple):
    """The clearest drift, None where there is none; and how many comparisons there were."""

    clearest: Drift | None
    comparisons: int


def find_drift(counts: PeriodCounts, position_bias: Sequence[float], now: float) -> Drifts:
    """What has changed in what was counted up to now."""
    today = int(now // DAY) * DAY
    first = today - (RECENT_DAYS + BEFORE_DAYS - 1) * DAY
    days = [*range(first, today + DAY, DAY)]
    clicks, exposure = _by_item_and_day(counts, position_bias, days)
    names = counts.item.names
    found: list[tuple[float, int, int, float, float]] = []
    judged = np.zeros(len(days), int)
    for split in range(len(days) - RECENT_DAYS, len(days)):
        n1, e1 = clicks[:, :split].sum(axis=1), exposure[:, :split].sum(axis=1)
        n2, e2 = clicks[:, split:].sum(axis=1), exposure[:, split:].sum(axis=1)
        with np.errstate(all="ignore"):
            alpha = (n1 + n2) / (e1 + e2)
            usable = (alpha * e1 >= FEWEST_CLICKS) & (alpha * e2 >= FEWEST_CLICKS)
            z = (n2 / e2 - n1 / e1) / np.sqrt(alpha * (1.0 + alpha) * (1.0 / e1 + 1.0 / e2))
            before, after = n1 / e1, n2 / e2
        judged[split] = int(usable.sum())
        found += [
            (float(z[item]), item, split, float(before[item]), float(after[item]))
            for item in np.flatnonzero(usable).tolist()
        ]
    if not found:
        return Drifts(None, 0)
    limit = NormalDist().inv_cdf(1.0 - BY_CHANCE / (2 * len(found)))
    clear = [one for one in found if abs(one[0]) > limit and _is_large(one[3], one[4])]
    if not clear:
        return Drifts(None, len(found))
    z, item, split, before, after = max(clear, key=lambda one: abs(one[0]))
    alike = sum(one[2] == split and one[0] * z > 0 for one in clear)
    return Drifts(Drift(names[item], days[split], before, after, alike, int(judged[split])), len(found))


def _is_large(before: float, after: float) -> bool:
    return max(before, after) >= LEAST_CHANGE * min(before, after)


def _by_item_and_day(
    counts: PeriodCounts, position_bias: Sequence[float], days: Sequence[int]
) -> tuple[FloatArray, FloatArray]:
    """Clicks and exposure, items × days."""
    timed = (counts.hours > 0) & (counts.start >= days[0]) & (counts.start < days[-1] + DAY)
    counts = counts.of_rows(timed & (counts.slot < len(position_bias)))
    cells = counts.item.places * len(days) + (counts.start - days[0]) // DAY
    size = len(counts.item.names), len(days)
    exposure = np.array(position_bias)[counts.slot] * counts.passes
    clicks, exposed = (sums(cells, values, size[0] * size[1]).reshape(size) for values in (counts.clicks, exposure))
    return clicks, exposed
