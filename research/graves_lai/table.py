"""The table of C by problem, with known and with unknown position bias."""

from __future__ import annotations

import math
from collections.abc import Iterable

from research.graves_lai.limit import Limit, limit
from slotwise.environments import Problem


def table(problems: Iterable[Problem], seconds: float = 60.0) -> str:
    """Return C of every problem as a Markdown table; each search for C with unknown bias ends after `seconds`."""
    lines = ["| problem | C, known bias | C, unknown bias |", "| --- | ---: | ---: |"]
    for problem in problems:
        known, unknown = (
            _cell(limit(problem.users, known_bias=known_bias, seconds=seconds)) for known_bias in (True, False)
        )
        lines.append(f"| ({problem.id}) | {known} | {unknown} |")
    return "\n".join(lines) + "\n"


def _cell(result: Limit) -> str:
    if result.constant is not None:
        return f"{result.constant:,.4g}"
    at_most = "" if math.isinf(result.at_most) else f", at most {result.at_most:,.4g}"
    return f"at least {result.at_least:,.4g}{at_most}"
