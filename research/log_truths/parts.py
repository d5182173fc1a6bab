"""The parts of the study: each is a module with a function that returns its rows."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from research.log_truths.rows import Progress, Row
from slotwise.core import validation

PARTS = ("tally", "coverage", "goodness-of-fit", "off-policy", "processor-time")
#: the part that reads real logs
WITH_DATA = "coverage"


def rows(parts: Sequence[str], *, quick: bool, data: Path | None, progress: Progress) -> list[Row]:
    """Return the rows of these parts, or of all if none is named."""
    found: list[Row] = []
    for part in parts or PARTS:
        validation.one_of("part", part, PARTS)
        module = f"research.log_truths.{part.replace('-', '_')}"
        options = {"data": data} if part == WITH_DATA else {}
        found += import_module(module).rows(quick=quick, progress=progress, **options)
    return found
