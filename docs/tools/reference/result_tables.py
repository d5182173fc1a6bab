"""Tables of measured numbers, from the result files in `docs/data`."""

from __future__ import annotations

import json
from typing import Any

from docs.tools.site import ROOT

DATA = ROOT / "docs" / "data"


def traffic() -> str:
    """The views that a page needs, by items, slots and click rate."""
    found = json.loads((DATA / "traffic.json").read_text())
    rates = sorted({row["click_rate"] for row in found["rows"]})
    heads = " | ".join(f"click rate {100 * rate:g} %" for rate in rates)
    lines = [f"| items in slots | {heads} |", "| --- |" + " ---: |" * len(rates)]
    pages = dict.fromkeys((row["items"], row["slots"]) for row in found["rows"])
    cells = {(row["items"], row["slots"], row["click_rate"]): row for row in found["rows"]}
    for items, slots in pages:
        lines.append(f"| {items} in {slots} | {' | '.join(_cell(cells[items, slots, rate]) for rate in rates)} |")
    about = f"Medians of {found['replications']} pages each, policy `{found['policy']}`; in brackets the 90 % quantile."
    return "\n".join(lines) + f"\n\n{about} `python -m research alternatives` measures them."


def _cell(row: dict[str, Any]) -> str:
    return f"{_rounded(row['median'])} ({_rounded(row['most'])})"


def _rounded(views: float) -> str:
    """Two digits.

    >>> _rounded(27_773.5)
    '28,000'
    """
    return f"{float(f'{views:.2g}'):,.0f}"
