"""The report on a fitted log: the answer first, then figures and numbers; one page that needs no other file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from slotwise.core.errors import UnwritableFile
from slotwise.core.html_page import write_page
from slotwise.core.plotting import as_address, save
from slotwise.logs.counting.cleaning_rules import RULES
from slotwise.logs.evaluation.click_model_comparison import ModelComparison
from slotwise.logs.evaluation.log_goodness_of_fit import verdict_to_dict
from slotwise.logs.fitting import number_format
from slotwise.logs.fitting.fit_result import Fit, fits_to_dict
from slotwise.logs.reporting import click_model_report, fit_figures, report_tables, segment_report
from slotwise.logs.reporting.log_summary import LogSummary
from slotwise.logs.reporting.placement_report import PlacementReport

#: lists, their slots, and rows of a table of items that the page shows; the others are folded
SHOWN_PLACEMENTS, SHOWN_SLOTS, SHOWN_ITEMS = 6, 6, 10
FORMATS = ("png", "svg")
PACKAGES = ("slotwise", "numpy", "scipy")


def report_dict(fits: Sequence[Fit], click_model: ModelComparison | None = None) -> dict[str, Any]:
    """Return the numbers of all fits, the fit of the model, the cleaning rules applied, and compared click models.

    Parameters
    ----------
    fits
        The fits of a log.
    click_model
        The comparison of click models, if it was made.
    """
    return fits_to_dict(fits) | {
        "model_fit": verdict_to_dict(fits),
        "cleaning": {rule: count for rule, count in fits[0].tally.cleaning.items() if count},
        "click_models": None if click_model is None else click_model.to_dict(),
    }


def write_report(
    fits: Fit | Iterable[Fit],
    folder: Path,
    *,
    source: str = "a click log",
    seed: int = 0,
    described: ModelComparison | None = None,
) -> Path:
    """Write `report.html`, figures as PNG and SVG, `lists.csv`, `items.csv`, `slots.csv` and `fit.json` into `folder`.

    With segments, there is `segments.csv` as well. Return the path of the page.

    Parameters
    ----------
    fits
        One fit or several, from `slotwise.logs.fit_placements`.
    folder
        The folder to write into.
    source
        The name of the log in the title.
    seed
        Seed of the impressions that are held out.
    described
        The comparison of click models, from `slotwise.logs.choose_click_model`.

    Returns
    -------
    Path
        The path of the page.
    """
    every = [fits] if isinstance(fits, Fit) else list(fits)
    summary = LogSummary.of(every, seed)
    if folder.exists() and not folder.is_dir():
        raise UnwritableFile(f"the report is a folder, and {folder} is a file")
    folder.mkdir(parents=True, exist_ok=True)
    report_tables.write_files(summary, every, folder)
    write_page(
        folder / "report.html",
        "logs/reporting/report.html",
        title=f"Report on {source}",
        summary=summary,
        figures=[
            _draw(report, folder, f"{number:02d}_" if len(every) > 1 else "")
            for number, report in enumerate(summary.full, start=1)
        ],
        not_found=[RULES.get(rule, rule) for rule, count in every[0].tally.cleaning.items() if not count],
        estimators=list(dict.fromkeys(fit.estimator for fit in every)),
        sampled=any(fit.sampled for fit in every),
        has_segments=any(fit.segments for fit in every),
        models=[] if described is None else click_model_report.rows(described),
        model_heads=[click_model_report.HEADS[0], *(f"#{head}" for head in click_model_report.HEADS[1:])],
        described=described,
        versions=", ".join(f"{name} {version(name)}" for name in PACKAGES),
        shown_placements=SHOWN_PLACEMENTS,
        shown_slots=SHOWN_SLOTS,
        shown_items=SHOWN_ITEMS,
        tables=report_tables,
        segments=segment_report,
        wording=number_format,
    )
    return folder / "report.html"


def _draw(report: PlacementReport, folder: Path, prefix: str) -> dict[str, str]:
    """Draw figures into `folder`, with names that begin with `prefix`; return those of the page by name."""
    drawn = {}
    if len(report.fit.segments) > 1:
        drawn["segments"] = fit_figures.by_segment(report.fit)
    if report.fit.changes is not None and report.fit.changes.periods.count > 1:
        drawn["changes"] = fit_figures.over_time(report.fit.changes)
    if report.goodness is not None:
        drawn["fit"] = fit_figures.observed_and_fitted(report.goodness)
    for name, picture in drawn.items():
        save(picture, folder, f"{prefix}{name}", FORMATS)
    return {name: as_address(folder / f"{prefix}{name}.svg") for name in drawn}
