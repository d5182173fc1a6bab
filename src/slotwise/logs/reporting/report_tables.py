"""The tables of the report: their rows as text for the page, and as CSV files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from slotwise.core.io import replacing, write_csv
from slotwise.logs.evaluation.holdout_comparison import HoldoutComparison
from slotwise.logs.evaluation.log_goodness_of_fit import LogGoodnessOfFit
from slotwise.logs.fitting.click_rate import LEVEL
from slotwise.logs.fitting.fit_result import Fit, fits_to_dict
from slotwise.logs.fitting.number_format import interval, number
from slotwise.logs.reporting.placement_report import PlacementReport

#: rows of a table of items on the page; all of them are in items.csv
MAX_ROWS = 30

Rows = list[list[str]]


def slots(fit: Fit) -> Rows:
    """Slot, weight, interval, times filled, clicks."""
    return _estimates(list(map(str, range(1, fit.slots + 1))), *list(fit.columns("slots").values())[1:])


def items(fit: Fit) -> Rows:
    """Item, attractiveness, interval, times shown, clicks; the most attractive first, as a decision would have them."""
    order = np.argsort(-fit.shrunken.attractiveness, kind="stable")[:MAX_ROWS]
    ids, *columns = fit.columns("items").values()
    return _estimates([ids[item] for item in order], *(column[order] for column in columns))


def _estimates(
    names: Sequence[str],
    estimate: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    shown: np.ndarray,
    clicks: np.ndarray,
) -> Rows:
    return [
        [name, number(estimate[row]), interval(low[row], high[row]), f"{shown[row]:,}", f"{clicks[row]:,}"]
        for row, name in enumerate(names)
    ]


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


def best_list(report: PlacementReport) -> Rows:
    """Slot, item, attractiveness, interval, times shown anywhere, times shown in this slot."""
    fit = report.fit
    numbers = {id: number for number, id in enumerate(fit.item_ids)}
    alpha, limits = fit.shrunken.attractiveness, fit.shrunken.intervals(LEVEL).attractiveness
    filled = [(slot, id, numbers[id]) for slot, id in enumerate(report.best.items) if id is not None]
    return [
        [
            str(slot + 1),
            id,
            number(alpha[item]),
            interval(limits.low[item], limits.high[item]),
            f"{fit.tally.showings[:, item].sum():,}",
            f"{fit.tally.showings[slot, item]:,}",
        ]
        for slot, id, item in filled
    ]


def write_files(fits: Iterable[Fit], folder: Path) -> None:
    """Write `items.csv`, `slots.csv`, `fit.json`, and `segments.csv` where there are segments."""
    every = list(fits)
    columns = ("low", "high", "shown", "clicks")
    by_item = ((fit.placement, *row) for fit in every for row in fit.rows("items"))
    write_csv(folder / "items.csv", ["placement", "item", "attractiveness", *columns], by_item)
    by_slot = ((fit.placement, *row) for fit in every for row in fit.rows("slots"))
    write_csv(folder / "slots.csv", ["placement", "slot", "position_bias", *columns], by_slot)
    if any(fit.segments for fit in every):
        by_segment = (
            (fit.placement, name, *row)
            for fit in every
            for name, segment in fit.segments.items()
            for row in segment.rows("items")
        )
        write_csv(folder / "segments.csv", ["placement", "segment", "item", "attractiveness", *columns], by_segment)
    with replacing(folder / "fit.json") as file:
        file.write(json.dumps(fits_to_dict(every), indent=1, ensure_ascii=False).encode())
