"""Click logs: from the data people already have to a tally, to estimates, and to what they mean.

A log is read, counted, fitted and reported on; each of the four has a folder of its own.
"""

from slotwise.core.errors import MissingExtra

try:
    from slotwise.logs.counting.cleaning_rules import RULES
    from slotwise.logs.counting.log_tallies import LogTally, tallies, tally
    from slotwise.logs.evaluation.click_model_choice import (
        ClickModelComparison,
        choose_click_model,
        compare_click_models,
    )
    from slotwise.logs.evaluation.click_model_fits import CLICK_MODELS
    from slotwise.logs.evaluation.evaluation_targets import lists_shown, read_mixture
    from slotwise.logs.evaluation.log_goodness_of_fit import goodness
    from slotwise.logs.evaluation.off_policy import evaluate
    from slotwise.logs.evaluation.scoring import score
    from slotwise.logs.fitting.fit_file import load_fits, save_fits
    from slotwise.logs.fitting.fit_log import ESTIMATOR_NAMES
    from slotwise.logs.fitting.fit_result import Fit
    from slotwise.logs.pipeline import fit, fit_placements
    from slotwise.logs.reading.columns import Columns
    from slotwise.logs.reading.engines import ReadOptions, read
    from slotwise.logs.reading.event_tables import EventValues
    from slotwise.logs.reading.feature_file import read_features
    from slotwise.logs.reading.log_source import LogSource
    from slotwise.logs.reporting.click_model_report import write_click_models
    from slotwise.logs.reporting.console_text import (
        Block,
        TextTable,
        cleaning_text,
        click_model_text,
        evaluation_text,
        fit_text,
        score_text,
    )
    from slotwise.logs.reporting.report_page import report_dict, write_report
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
    "EventValues",
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
    "fit_placements",
    "fit_text",
    "goodness",
    "lists_shown",
    "load_fits",
    "read",
    "read_features",
    "read_mixture",
    "report_dict",
    "save_fits",
    "score",
    "score_text",
    "tallies",
    "tally",
    "write_click_models",
    "write_report",
]
