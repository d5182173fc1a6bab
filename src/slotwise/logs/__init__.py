"""Click logs: from the data people already have to a tally, to estimates, and to what they mean.

A log is read, counted, fitted and reported on; each of the four has a folder of its own.
"""

from slotwise.errors import MissingExtra

try:
    from slotwise.logs.counting.cleaning_rules import RULES
    from slotwise.logs.counting.tallies import LogTally, tallies, tally
    from slotwise.logs.fitting.click_models import CLICK_MODELS
    from slotwise.logs.fitting.fit import Fit
    from slotwise.logs.fitting.from_log import ESTIMATOR_NAMES
    from slotwise.logs.fitting.off_policy import evaluate
    from slotwise.logs.fitting.page_model import ClickModelComparison, choose_click_model, compare_click_models
    from slotwise.logs.fitting.scoring import score
    from slotwise.logs.fitting.stored import load_fits, save_fits
    from slotwise.logs.fitting.targets import lists_shown, mixture_in
    from slotwise.logs.pipeline import fit, fits
    from slotwise.logs.reading.columns import Columns
    from slotwise.logs.reading.item_features import read_features
    from slotwise.logs.reading.log_source import LogSource
    from slotwise.logs.reading.sources import ReadOptions, read
    from slotwise.logs.reporting.click_models import write_click_models
    from slotwise.logs.reporting.console_text import (
        Block,
        TextTable,
        cleaning_text,
        click_model_text,
        evaluation_text,
        fit_text,
        score_text,
    )
    from slotwise.logs.reporting.report import report_json, write_report
except ImportError as problem:
    if problem.name is not None and problem.name.startswith("slotwise"):
        raise
    raise MissingExtra("slotwise.logs", "logs") from problem

__all__ = [
    "CLICK_MODELS",
    "ESTIMATOR_NAMES",
    "RULES",
    "Block",
    "ClickModelComparison",
    "Columns",
    "Fit",
    "LogSource",
    "LogTally",
    "ReadOptions",
    "TextTable",
    "choose_click_model",
    "cleaning_text",
    "click_model_text",
    "compare_click_models",
    "evaluate",
    "evaluation_text",
    "fit",
    "fit_text",
    "fits",
    "lists_shown",
    "load_fits",
    "mixture_in",
    "read",
    "read_features",
    "report_json",
    "save_fits",
    "score",
    "score_text",
    "tallies",
    "tally",
    "write_click_models",
    "write_report",
]
