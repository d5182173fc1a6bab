"""Drift over the time of a log: changed items, the time of the change, and the half-life of counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaincinv

from slotwise.core.types import FloatArray, IntArray
from slotwise.estimators.diagnostics import find_drift
from slotwise.logs.counting.log_tallies import LogTally
from slotwise.logs.counting.merge_strata import places_in
from slotwise.logs.counting.strata import TimePeriods
from slotwise.logs.fitting.number_format import number
from slotwise.posterior.forgetting import CountsByPeriod, best_half_life

#: half-lives that are tried, as parts of the time that the log covers; none is shorter than a period
PARTS = (2.0, 1.0, 0.5, 0.25, 0.125, 0.0625)
#: changed items that a sentence names
NAMED = 3
LEVEL = 0.95


class ChangedItem(NamedTuple):
    """An item whose attractiveness changed: from when on, what it was before and after, and how unlikely by chance."""

    item: str
    period: int
    before: float
    after: float
    p_value: float


@dataclass(frozen=True, eq=False)
class TimeDrift:
    """A placement over time."""

    periods: TimePeriods
    #: in periods, of all placements together; None if old counts predict as well as recent ones
    half_life: float | None
    item_ids: tuple[str, ...]
    #: per period: impressions found, and those with a click
    impressions: IntArray
    clicked: IntArray
    #: periods × items: clicks, and exposure Σ_k λ_kÑ_k
    clicks: FloatArray
    exposure: FloatArray
    #: the clearest first
    moved: tuple[ChangedItem, ...]

    def in_words(self) -> str:
        """Return whether tastes changed, when, and for which items."""
        ask = "Did tastes change?"
        if self.periods.count < 2:
            return f"{ask} All impressions are of one time, so this is undecided."
        changed = [
            f"{item.item} from {number(item.before)} to {number(item.after)}, about {self.periods.name(item.period)}"
            for item in self.moved[:NAMED]
        ]
        others = f"; and {len(self.moved) - NAMED} more" if len(self.moved) > NAMED else ""
        items = f"Most clearly {'; '.join(changed)}{others}." if changed else "No single item changed beyond chance."
        if self.half_life is None:
            alike = "old clicks predict later ones as well as recent ones do, so all have the same weight"
            return f"{ask} {'Some did. ' + items if changed else 'Not detectably.'} All in all, {alike}."
        fading = self.periods.length_in_words(self.half_life)
        return (
            f"{ask} Yes: clicks are predicted best with a half-life of {fading}. The estimates are for the end of "
            f"the log. {items}"
        )

    def rate(self, item: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The attractiveness of an item in every period, and its interval; NaN where it was never passed."""
        clicks, exposure = self.clicks[:, item], self.exposure[:, item]
        with np.errstate(divide="ignore", invalid="ignore"):
            middle = clicks / exposure
            low, high = (gammaincinv(clicks + 0.5, part) / exposure for part in ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
        return tuple(np.where(exposure > 0.0, column, np.nan) for column in (middle, low, high))  # type: ignore[return-value]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers; times are seconds since 1970, or as the column has them."""
        return {
            "half_life": None if self.half_life is None else self.half_life * self.periods.width,
            "unit": "seconds" if self.periods.is_time else "as in the column",
            "periods": [
                {"from": self.periods.at(period), "impressions": int(every), "clicked": int(hit)}
                for period, (every, hit) in enumerate(zip(self.impressions, self.clicked, strict=True))
            ],
            "changed": [
                {
                    "item": item.item,
                    "from": self.periods.at(item.period),
                    "before": item.before,
                    "after": item.after,
                    "p_value": item.p_value,
                }
                for item in self.moved
            ],
        }


def find_changes(
    parts: Sequence[Sequence[tuple[int, LogTally]]],
    item_ids: Sequence[Sequence[str]],
    position_bias: Sequence[FloatArray],
    periods: TimePeriods,
) -> list[TimeDrift]:
    """Of each placement, given its tallies with their periods, its items and what its slots are worth."""
    counted = [_counted(*page, periods.count) for page in zip(parts, item_ids, position_bias, strict=True)]
    clicks, exposure = (np.concatenate([page[kind] for page in counted], axis=1) for kind in (0, 1))
    tried = [max(1.0, part * periods.count) for part in PARTS]
    half_life = best_half_life(CountsByPeriod.of_matrices(clicks, exposure), tried)
    drifts = []
    for page, ids, (clicks, exposure, weighted) in zip(parts, item_ids, counted, strict=True):
        impressions, clicked = np.zeros((2, periods.count), np.int64)
        for period, tally in page:
            impressions[period] += tally.impressions
            clicked[period] += tally.clicked
        moved = _moved(ids, clicks, exposure, weighted)
        drifts.append(TimeDrift(periods, half_life, tuple(ids), impressions, clicked, clicks, exposure, moved))
    return drifts


def weight_of(period: int, periods: TimePeriods | None, half_life: float | None) -> float:
    """Return the weight of a count of a period at the end of the log."""
    return 1.0 if half_life is None or periods is None else 0.5 ** ((periods.count - 1 - period) / half_life)


def _counted(
    parts: Sequence[tuple[int, LogTally]], ids: Sequence[str], bias: FloatArray, periods: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Periods × items: clicks, exposure and weighted rounds Σ_k λ_k(clicks + passes)."""
    sums = np.zeros((3, periods, len(ids)))
    places = places_in(ids, [tally for _, tally in parts])
    for (period, tally), place in zip(parts, places, strict=True):
        sums[0, period, place] += tally.clicks.sum(axis=0)
        sums[1, period, place] += bias[: tally.slots] @ tally.passes
        sums[2, period, place] += bias[: tally.slots] @ (tally.clicks + tally.passes)
    return sums[0], sums[1], sums[2]


def _moved(
    ids: Sequence[str], clicks: FloatArray, exposure: FloatArray, weighted: FloatArray
) -> tuple[ChangedItem, ...]:
    """Items whose attractiveness changed, with their clearest split."""
    if len(clicks) < 2:
        return ()
    drift = find_drift(clicks.T, exposure.T, weighted.T, range(1, len(clicks)))
    return tuple(
        ChangedItem(
            ids[item],
            drift.splits[split],
            float(drift.before[item, split]),
            float(drift.after[item, split]),
            drift.p_value(item, split),
        )
        for item, split in drift.clearest()
    )
