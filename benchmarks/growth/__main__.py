"""How processor time and memory grow with the size of a problem, beside the stated orders."""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.growth.exponents import LEAST_BYTES, exponent, is_within
from benchmarks.growth.growth_cases import CASES, Case
from benchmarks.growth.growth_figure import draw
from slotwise.core.plotting import save

OUT = Path("docs/data")
#: how long a case may take
MAX_SECONDS = 3_600.0


def main() -> int:
    """Measure cases one after the other, each in a process of its own."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT, help="the folder of growth.json and growth.svg")
    parser.add_argument("--case", action="append", help="only this one, as in decision/items; may be repeated")
    parser.add_argument("--quick", action="store_true", help="the two smallest sizes: shows that everything runs")
    arguments = parser.parse_args()
    chosen = [case for case in CASES if not arguments.case or case.name in arguments.case]
    rows = []
    for case in chosen:
        rows.append(_measured(case, 2 if arguments.quick else None))
        print(_line(rows[-1]), flush=True)
    if arguments.case or arguments.quick:
        return 0
    commit = ["git", "rev-parse", "--short", "HEAD"]
    found = {
        "commit": subprocess.run(commit, capture_output=True, text=True, check=True).stdout.strip(),
        "date": datetime.date.today().isoformat(),
        "rows": rows,
    }
    (arguments.out / "growth.json").write_text(json.dumps(found, indent=1) + "\n")
    save(draw(rows), arguments.out, "growth", formats=["svg"])
    return int(any("within" in row and not row["within"] for row in rows))


def _measured(case: Case, most: int | None) -> dict[str, Any]:
    sizes = ",".join(map(str, case.sizes(most)))
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.growth.measure_case", case.name, sizes],
        capture_output=True,
        text=True,
        check=False,
        timeout=MAX_SECONDS,
    )
    if done.returncode:
        raise SystemExit(f"{case.name}: {done.stderr}")
    row = {"operation": case.operation, "variable": case.variable, "unit": case.unit}
    return row | judged(case, json.loads(done.stdout))


def judged(case: Case, measured: list[dict[str, float]]) -> dict[str, Any]:
    """Measurements with the exponents fitted to them, and whether they are of the stated order."""
    sizes = [one["size"] for one in measured]
    time = exponent(sizes, [one["seconds"] for one in measured])
    memory = exponent(sizes, [one["bytes"] for one in measured], LEAST_BYTES)
    return {
        "measured": measured,
        "time": time,
        "stated_time": case.time,
        "memory": memory,
        "stated_memory": case.memory,
        "within": is_within(time, case.time) and is_within(memory, case.memory),
    }


def _line(row: dict[str, Any]) -> str:
    largest = row["measured"][-1]
    return (
        f"{row['operation']:<11} {row['variable']:<15} {largest['size']:>9,} "
        f"{largest['seconds']:10.3g} s a {row['unit']:<11} "
        f"exponent {row['time']:5.2f} (at most {row['stated_time']:g})   {largest['bytes'] / 1e6:6.0f} MB "
        f"{row['memory']:5.2f} ({row['stated_memory']:g})   {'ok' if row['within'] else 'WORSE'}"
    )


if __name__ == "__main__":
    sys.exit(main())
