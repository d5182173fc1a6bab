"""Relevance judgements from click logs, for search teams: `slotwise judge` and `slotwise compare`.

`log_cells.py` counts a log, `relevance.py` has the model, `judgement_files.py` the files that search tools import,
`judgement_report.py` the page, and `list_comparison.py` what another ranking would bring.
"""

from slotwise.core.errors import MissingExtra

try:
    from slotwise.judgements.judgement_files import FILE_FORMATS, FileOptions, write_judgements
    from slotwise.judgements.judgement_report import JudgementSummary, write_judgement_report
    from slotwise.judgements.list_comparison import (
        InterleavingResult,
        ListComparison,
        compare_lists,
        compare_teams,
        read_ranked_lists,
    )
    from slotwise.judgements.log_cells import CellCounts, count_cells
    from slotwise.judgements.relevance import MEASURES, Judgements, judge_counts
except ImportError as problem:
    if problem.name is not None and problem.name.startswith("slotwise"):
        raise
    raise MissingExtra("slotwise.judgements", "logs") from problem

__all__ = [
    "FILE_FORMATS",
    "MEASURES",
    "CellCounts",
    "FileOptions",
    "InterleavingResult",
    "JudgementSummary",
    "Judgements",
    "ListComparison",
    "compare_lists",
    "compare_teams",
    "count_cells",
    "judge_counts",
    "read_ranked_lists",
    "write_judgement_report",
    "write_judgements",
]
