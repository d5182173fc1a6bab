"""All sizes of one case, in a process of its own: `python -m benchmarks.growth.measure_case CASE SIZES`."""

from __future__ import annotations

import gc
import json
import os
import statistics
import sys
from contextlib import closing
from pathlib import Path
from typing import TypedDict

from benchmarks.growth.growth_cases import CASES, Case

#: turns, and processor seconds of them, until a size is measured
MIN_TURNS, MIN_SECONDS, MAX_SECONDS = 3, 0.3, 5.0


class Measured(TypedDict):
    """Processor seconds of a unit of work, and the memory that preparing and working took at most."""

    size: int
    seconds: float
    bytes: float


def measure(case: Case, sizes: list[int]) -> list[Measured]:
    """Measure the sizes, the smallest first: memory that a smaller one left behind is used again."""
    # the first time loads kernels and packages
    with closing(case.turns(case.smallest)) as turns:
        next(turns)
    gc.collect()
    before = _kilobytes("VmRSS")
    return [_measured(case, size, before) for size in sizes]


def _measured(case: Case, size: int, before: int) -> Measured:
    gc.collect()
    # the peak starts again from what is used now
    Path("/proc/self/clear_refs").write_text("5")
    rates: list[float] = []
    spent = 0.0
    with closing(case.turns(size)) as turns:
        for seconds, units in turns:
            rates.append(seconds / units)
            spent += seconds
            if spent > MAX_SECONDS or (len(rates) >= MIN_TURNS and spent > MIN_SECONDS):
                break
    peak = max(0, _kilobytes("VmHWM") - before)
    return {"size": size, "seconds": statistics.median(rates), "bytes": 1024.0 * peak}


def _kilobytes(field: str) -> int:
    return int(Path("/proc/self/status").read_text().partition(f"{field}:")[2].split()[0])


if __name__ == "__main__":
    # what is measured must not depend on how far a compiler has come
    os.environ["SLOTWISE_COMPILE"] = "first"
    (chosen,) = (case for case in CASES if case.name == sys.argv[1])
    print(json.dumps(measure(chosen, [int(size) for size in sys.argv[2].split(",")])))
