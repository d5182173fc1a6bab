"""Coverage of the intervals of `slotwise fit`, of slots, items and the click rates of recommended lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from research.log_study.simulated_logs import KINDS, Placement
from research.log_truths.real_lists import LOGS, click_anew, fit_truth, query_lists
from research.log_truths.rows import Progress, Row
from slotwise.core.types import EMPTY, FloatArray
from slotwise.estimators import Estimate
from slotwise.logs.fitting.click_rate import LEVEL, expected_rate
from slotwise.logs.fitting.placement_pooling import pool_placements
from slotwise.posterior import best_list

#: simulated logs of each kind, fewer if they have many queries; and draws of clicks on the lists of each real log
SIMULATED, SEARCHES = 60, 12
DRAWN = {"yandex/sessions.txt": 100, "clara2/pages.tsv": 2}
QUICK_SIMULATED, QUICK_DRAWN = 2, 1
#: constants were chosen on other seeds
SEED = 2_028
#: how the slots of queries differ in the truths of real lists: the standard deviation of log λ that their fit assumes
SLOT_SPREADS = {"shared slots": 0.0, "similar slots": 0.3, "slots of each query": 1.0}
#: a kind of simulated logs or of truths, and what is measured: the floor and the aim
TARGETS = {
    ("real lists", "slots"): ("0.90", "0.95"),
    ("search", "slots"): ("0.94", "0.95"),
    ("worse first", "slots"): ("0.94", "0.95"),
    ("worse first, search", "slots"): ("0.94", "0.95"),
    ("shop", "items"): ("0.94", "0.95"),
    ("search", "items"): ("0.94", "0.95"),
    ("placements", "lists"): ("0.93", "0.95"),
    ("placements, same items", "lists"): ("0.93", "0.95"),
}
MEASURED = ("slots", "items", "lists")


class LogCoverage(NamedTuple):
    """Of the intervals of one log, the share that covers and the median of high/low; by what is measured."""

    share: FloatArray
    width: FloatArray


def rows(*, quick: bool, progress: Progress, data: Path | None = None) -> list[Row]:
    """Return the coverage on simulated logs, and on the lists of real logs if there are any in the folder `data`."""
    found: list[Row] = []
    for name, kind in KINDS.items():
        count = QUICK_SIMULATED if quick else SEARCHES if "queries" in kind.about else SIMULATED
        logs = map(kind.make, _counted(f"coverage: {name}", count, progress))
        found += _rows(name, f"{name}: {kind.about}", map(measure, logs))
    for path, read in LOGS.items():
        file = None if data is None else data / path
        if file is None or not file.exists():
            progress(f"coverage: skipped {path}, which needs --data FOLDER with that file")
            continue
        queries = query_lists(read(file))
        for words, spread in SLOT_SPREADS.items():
            step = f"coverage: {path}, {words}"
            progress(step)
            truths = fit_truth(queries, spread)
            rngs = _counted(step, QUICK_DRAWN if quick else DRAWN[path], progress)
            name = f"clicks redrawn on the lists of {path}, {words}"
            found += _rows("real lists", name, (measure(click_anew(queries, truths, rng)) for rng in rngs))
    return found


def _counted(step: str, count: int, progress: Progress) -> Iterator[np.random.Generator]:
    """Yield a generator of random numbers for each log, and tell the share of them that is done."""
    for number, rng in enumerate(np.random.default_rng(SEED).spawn(count)):
        progress(step, number / count)
        yield rng


def measure(log: Sequence[Placement]) -> LogCoverage:
    """Fit a log as `slotwise fit` does, and compare the intervals with the truth."""
    seen = [placement.seen for placement in log]
    estimates = pool_placements(seen, seen, [placement.item_ids for placement in log])[0].estimates
    ends: dict[str, list[FloatArray]] = {name: [] for name in MEASURED}
    for placement, estimate in zip(log, estimates, strict=True):
        items, slots = estimate.intervals(LEVEL)
        shown = placement.seen.showings.sum(axis=0) > 0
        ends["items"].append(np.array([placement.attractiveness, items.low, items.high])[:, shown])
        ends["slots"].append(np.array([placement.position_bias, slots.low, slots.high])[:, 1:])
        ends["lists"].append(_recommended(placement, estimate))
    true, low, high = zip(*(np.concatenate(ends[name], axis=1) for name in MEASURED), strict=True)
    per = list(zip(true, low, high, strict=True))
    return LogCoverage(
        np.array([((low <= true) & (true <= high)).mean() for true, low, high in per]),
        np.array([np.median(high / low) for _, low, high in per]),
    )


def _recommended(placement: Placement, estimate: Estimate) -> FloatArray:
    """The true click rate of the recommended list, and the ends of its interval."""
    ranking = best_list(estimate.attractiveness, estimate.position_bias, slots=placement.seen.showings.sum(axis=1) > 0)
    odds = np.where(ranking == EMPTY, 0.0, placement.position_bias * placement.attractiveness[ranking]).sum()
    rate = expected_rate(estimate, ranking[None, :], np.ones(1), LEVEL)
    return np.array([[odds / (1.0 + odds)], [rate.low], [rate.high]])


def _rows(key: str, name: str, logs: Iterable[LogCoverage]) -> list[Row]:
    measured = list(logs)
    shares, widths = (np.array(each) for each in zip(*measured, strict=True))
    error = shares.std(axis=0, ddof=1) / np.sqrt(len(shares)) if len(shares) > 1 else np.full(len(MEASURED), np.nan)
    return [
        Row(
            f"{what} of {name}",
            f"{shares[:, column].mean():.3f} ± {error[column]:.3f} (×{np.median(widths[:, column]):.2f})",
            *TARGETS.get((key, what), ("", "")),
        )
        for column, what in enumerate(MEASURED)
    ]
