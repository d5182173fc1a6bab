"""Click logs: from the data people already have to a tally, to estimates, and to what they mean.

A log is read, counted, fitted and reported on; each of the four has a folder of its own.
"""

from slotwise.errors import MissingExtra

try:
    from slotwise.logs.counting.cleaning_rules import RULES
    from slotwise.logs.counting.tallies import LogTally, tallies, tally
    from slotwise.logs.fitting.fit import Fit
    from slotwise.logs.fitting.from_log import ESTIMATOR_NAMES
    from slotwise.logs.fitting.off_policy import evaluate
    from slotwise.logs.fitting.page_model import choose_click_model
    from slotwise.logs.fitting.scoring import score
    from slotwise.logs.fitting.stored import load_fits, save_fits
    from slotwise.logs.pipeline import fit, fits
    from slotwise.logs.reading.columns import Columns
    from slotwise.logs.reading.log_source import LogSource
    from slotwise.logs.reading.sources import read
    from slotwise.logs.reporting.report import write_report
except ImportError as problem:
    if problem.name is not None and problem.name.startswith("slotwise"):
        raise
    raise MissingExtra("slotwise.logs", "logs") from problem

__all__ = [
    "ESTIMATOR_NAMES",
    "RULES",
    "Columns",
    "Fit",
    "LogSource",
    "LogTally",
    "choose_click_model",
    "evaluate",
    "fit",
    "fits",
    "load_fits",
    "read",
    "save_fits",
    "score",
    "tallies",
    "tally",
    "write_report",
]
