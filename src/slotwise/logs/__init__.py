"""Click logs: from the data people already have to a tally, estimates, and what to make of them."""

from slotwise.errors import MissingExtra

try:
    from slotwise.logs.columns import Columns
    from slotwise.logs.counting import LogTally, tallies, tally
    from slotwise.logs.fitted import Fit
    from slotwise.logs.fitting import ESTIMATOR_NAMES, fit, fits
    from slotwise.logs.off_policy import evaluate
    from slotwise.logs.report import write_report
    from slotwise.logs.sources import read
    from slotwise.logs.survey import RULES
except ImportError as problem:
    if problem.name is not None and problem.name.startswith("slotwise"):
        raise
    raise MissingExtra("slotwise.logs", "logs") from problem

__all__ = [
    "ESTIMATOR_NAMES",
    "RULES",
    "Columns",
    "Fit",
    "LogTally",
    "evaluate",
    "fit",
    "fits",
    "read",
    "tallies",
    "tally",
    "write_report",
]
