"""The tables of the report: their rows as text for the page and the terminal, and as CSV files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from slotwise.core.io import replacing, write_csv
from slotwise.core.result_tables import plain
from slotwise.core.types import FloatArray
from slotwise.logs.evaluation.holdout_comparison import HoldoutComparison
from slotwise.logs.evaluation.log_goodness_of_fit import LogGoodnessOfFit
from slotwise.logs.fitting.fit_result import Fit, fits_to_dict
from slotwise.logs.fitting.number_format import interval, number
from slotwise.logs.reporting.log_summary import LogSummary
from slotwise.logs.reporting.placement_report import SlotComparison

#: rows of a table of items on the page; all of them are in items.csv
MAX_ROWS = 30

Rows = list[list[str]]


class EstimateTable(NamedTuple):
    """Rows of name, estimate, interval, times shown and clicks, with the numbers to draw the intervals from."""

    rows: Rows
    middle: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def end(self) -> float:
        """The end of the axis: the largest upper end, unless it dwarfs the estimates."""
        largest = float(self.middle[np.isfinite(self.middle)].max(initial=0.0))
        return float(self.high[self.high <= 2.5 * largest].max(initial=largest)) or 1.0

    def marks(self) -> list[tuple[float, float, float]]:
        """Return where each interval begins, its estimate lies and it ends, in percent of the axis."""
        ends = (np.nan_to_num(100.0 * part / self.end, nan=0.0) for part in (self.low, self.middle, self.high))
        return [tuple(row) for row in np.minimum(np.column_stack(list(ends)), 100.0).round(1).tolist()]


def slots(fits: Sequence[Fit]) -> EstimateTable:
    """Return slot, position bias, interval, times filled and clicks, of placements that share one position bias."""
    longest = max(fits, key=lambda fit: fit.slots)
    counts = np.zeros((2, longest.slots), np.int64)
    for fit in fits:
        counts[:, : fit.slots] += fit.tally.showings.sum(axis=1), fit.tally.clicks.sum(axis=1)
    numbers, estimate, low, high, *_ = longest.columns("slots").values()
    return _estimates(list(map(str, numbers)), estimate, low, high, *counts)


def items(fit: Fit) -> EstimateTable:
    """Return item, attractiveness, interval, times shown and clicks; the order is by the estimates to decide on."""
    order = np.argsort(-fit.shrunken.attractiveness, kind="stable")[:MAX_ROWS]
    ids, *columns = fit.columns("items").values()
    return _estimates([ids[item] for item in order], *(column[order] for column in columns))


def _estimates(
    names: Sequence[str],
    estimate: FloatArray,
    low: FloatArray,
    high: FloatArray,
    shown: np.ndarray,
    clicks: np.ndarray,
) -> EstimateTable:
    rows = [
        [name, number(estimate[row]), interval(low[row], high[row]), f"{shown[row]:,}", f"{clicks[row]:,}"]
        for row, name in enumerate(names)
    ]
    return EstimateTable(rows, estimate, low, high)


def worst_pairs(goodness: LogGoodnessOfFit) -> Rows:
    """Slot, item, clicks observed, clicks fitted."""
    return [[str(pair.slot), pair.item, f"{pair.clicks:,}", f"{pair.expected:,.0f}"] for pair in goodness.worst]


def models(comparison: HoldoutComparison) -> Rows:
    """Model, log-likelihood per impression, difference to the first model."""
    return [
        [
            score.model,
            f"{score.log_likelihood:.4f}",
            "" if score is comparison.scores[0] else f"{score.difference:+.4f} ± {score.standard_error:.4f}",
        ]
        for score in comparison.scores
    ]


def write_files(summary: LogSummary, fits: Sequence[Fit], folder: Path) -> None:
    """Write `lists.csv`, `items.csv`, `slots.csv`, `fit.json`, and `segments.csv` where there are segments."""
    columns = ("low", "high", "shown", "clicks")
    by_item = ((fit.placement, *row) for fit in fits for row in fit.rows("items"))
    write_csv(folder / "items.csv", ["placement", "item", "attractiveness", *columns], by_item)
    by_slot = ((fit.placement, *row) for fit in fits for row in fit.rows("slots"))
    write_csv(folder / "slots.csv", ["placement", "slot", "position_bias", *columns], by_slot)
    lists = (
        (report.fit.placement, *plain(row), not report.withheld)
        for report in summary.placements
        for row in report.comparison
    )
    write_csv(folder / "lists.csv", ["placement", *SlotComparison._fields, "recommended"], lists)
    if any(fit.segments for fit in fits):
        by_segment = (
            (fit.placement, name, *row)
            for fit in fits
            for name, segment in fit.segments.items()
            for row in segment.rows("items")
        )
        write_csv(folder / "segments.csv", ["placement", "segment", "item", "attractiveness", *columns], by_segment)
    with replacing(folder / "fit.json") as file:
        file.writelines(part.encode() for part in _json_parts(fits))


def _json_parts(fits: Sequence[Fit]) -> Iterator[str]:
    """Yield the JSON of `fits_to_dict`, one placement at a time: that of 100,000 takes gigabytes."""
    if len(fits) == 1:
        yield json.dumps(fits_to_dict(fits), indent=1, ensure_ascii=False)
        return
    yield '{"placements": {'
    for place, fit in enumerate(fits):
        name, placement = (json.dumps(each, ensure_ascii=False) for each in (str(fit.placement), fit.to_dict()))
        yield f"{',' if place else ''}\n{name}: {placement}"
    yield "\n}}\n"
