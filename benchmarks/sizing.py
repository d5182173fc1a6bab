"""`python -m benchmarks.sizing --out docs/data`: the numbers of the page on performance, in one run.

The service is one worker on SQLite on disk; client and server share the cores of the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import itertools
import json
import os
import platform
import resource
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.service import (
    CONNECTIONS,
    ITEMS,
    SECONDS,
    TURNS,
    add_a_year,
    decision_seconds,
    latencies,
    megabytes,
    put,
    rate,
    seconds_until_ready,
    service,
)
from benchmarks.startup import wait_until_compiled

POLICY = "thompson-sampling"
#: the disk to measure
FOLDER = os.environ.get("SLOTWISE_BENCH_FOLDER", ".")
#: by placement, its items
SIZES = {"bench": ITEMS, "thousand": 1_000, "large": 100_000}


def main() -> None:
    """Measure, print, and write `performance.json` into a folder."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sizing", description=main.__doc__)
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write performance.json into this folder")
    out = parser.parse_args().out
    found = measure()
    text = json.dumps(found, indent=1) + "\n"
    print(text, end="")
    if out is not None:
        (out / "performance.json").write_text(text)


def measure() -> dict[str, Any]:
    """Return the numbers by name, with the commit, the policy and the load of the machine."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True).stdout
    found: dict[str, Any] = {
        "commit": commit.strip(),
        "date": datetime.date.today().isoformat(),
        "policy": POLICY,
        # compared with the snapshot by a test, which tells when the policy has changed since
        "regret": json.loads(Path("tests/snapshots/regret.json").read_text())[POLICY],
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1),
        "connections": CONNECTIONS,
        "turns": TURNS,
    }
    with (
        tempfile.TemporaryDirectory(dir=FOLDER) as folder,
        service(Path(folder)) as (port, process),
    ):
        found["memory"] = megabytes(process)
        for name, items in SIZES.items():
            put(port, name, items, slots=5)
            asyncio.run(rate(port, itertools.repeat(name), seconds=1.0))
        found["decisions"] = [asyncio.run(rate(port)) for _ in range(TURNS)]
        half = statistics.median(found["decisions"]) / 2
        waits = [sorted(asyncio.run(latencies(port, half))) for _ in range(TURNS)]
        for share in (0.5, 0.99):
            found[f"latency {share}"] = statistics.median(each[int(share * (len(each) - 1))] for each in waits)
        for name, items in SIZES.items():
            found[f"processor {items}"] = decision_seconds(port, process, name)
        size = _size(Path(folder))
        count = int(asyncio.run(rate(port)) * SECONDS)
        found["bytes"] = (_size(Path(folder)) - size) / count
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        with service(Path(folder)) as (port, _):
            put(port, "bench", 1_000, half_life=720.0)
        found["start"] = _processor_time_of(lambda: seconds_until_ready(Path(folder)))
        add_a_year(Path(folder))
        found["start with a year"] = _processor_time_of(lambda: seconds_until_ready(Path(folder)))
    found["compiled"] = _processor_time_of(wait_until_compiled)
    found["load afterwards"] = round(os.getloadavg()[0], 1)
    return found


def _processor_time_of(work: Callable[[], object]) -> float:
    """Return the processor time of the processes that are started, which a busy machine hardly changes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


if __name__ == "__main__":
    main()
