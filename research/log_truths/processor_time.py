"""Processor time of `slotwise fit` in bare GROUP BYs of DuckDB over the same file, and that of a million placements."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import logs
from research.log_truths.rows import Progress, Row

#: impressions, items, the floor and the aim, in GROUP BYs; the first one if it has to be short
SIZES = ((500_000, 200_000, "10", "6"), (5_000_000, 1_000, "4", "3"), (5_000_000, 200_000, "6", "4"))
PLACEMENTS, FEW_PLACEMENTS = 1_000_000, 20_000


def rows(*, quick: bool, progress: Progress) -> list[Row]:
    """Return a ratio of one run each, and seconds and gigabytes for many placements with a report."""
    found = []
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log.parquet"
        for impressions, items, floor, aim in SIZES[:1] if quick else SIZES:
            step = f"processor time: {impressions:,} impressions, {items:,} items"
            progress(step)
            logs.generate(log, impressions, items)
            progress(step, 0.2)
            bare, fit = (logs.run(what, log)["computing"] for what in ("bare", "fit"))
            found.append(Row(f"{step}: fit over GROUP BY", f"{fit / bare:.1f} ({bare:.1f} s)", floor, aim))
        placements = FEW_PLACEMENTS if quick else PLACEMENTS
        step = f"{placements:,} placements, with a report"
        progress(step)
        logs.generate_placements(log, placements)
        progress(step, 0.2)
        measured = logs.run("placements", log)
        value = f"{measured['computing']:.0f} s, {measured['memory']:.1f} GB"
        found.append(Row(f"{step}: processor time, memory", value, "180 s, 4 GB", "60 s"))
    return found
