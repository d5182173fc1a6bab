"""A log of a hundred million rows, counted beside a bare GROUP BY over the same file; and a million items."""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

IMPRESSIONS, SLOTS, ITEMS = 10_000_000, 10, 1_000_000
BATCH = 500_000
MEMORY = "2500MB"
TURNS = 3
MOST_TIMES, MOST_MEMORY, MOST_SECONDS = 4.0, 4.0, 10.0


def main(impressions: int = IMPRESSIONS, items: int = ITEMS) -> None:
    """Print the ratio, the memory and the time of the fit."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.parquet"
        generate(log, impressions, items)
        size = log.stat().st_size / 1e9
        print(f"\na log of {impressions * SLOTS:,} rows, {items:,} items, {size:.1f} GB, on all cores")
        turns = [(_run("bare", log), _run("tally", log)) for _ in range(TURNS)]
    bare, ours = (statistics.median(one[place]["seconds"] for one in turns) for place in (0, 1))
    ratio = statistics.median(mine["seconds"] / its["seconds"] for its, mine in turns)
    computing = statistics.median(mine["computing"] / its["computing"] for its, mine in turns)
    memory = max(mine["memory"] for _, mine in turns)
    fitting = statistics.median(mine["fitting"] for _, mine in turns)
    print(f"  SELECT slot, item, count(*) … GROUP BY {bare:6.1f} s, slotwise.logs.tally {ours:6.1f} s")
    _verdict(f"{ratio:.2f} times, {computing:.2f} in computing time", ratio <= MOST_TIMES, f"at most {MOST_TIMES:g}")
    _verdict(f"{memory:.1f} GB of memory", memory <= MOST_MEMORY, f"at most {MOST_MEMORY:g}")
    _verdict(f"scaling of its tally {fitting:.1f} s", fitting <= MOST_SECONDS, f"at most {MOST_SECONDS:g}")


def generate(log: Path, impressions: int, items: int) -> None:
    """Lists around popular items, a click on three in ten of them, rows in the order in which they were written."""
    rng = np.random.default_rng(0)
    names = pa.array([f"sku-{number:07d}" for number in rng.permutation(items)])
    kinds = [("impression", pa.int64()), ("slot", pa.int32()), ("item", pa.string()), ("clicked", pa.bool_())]
    with pq.ParquetWriter(log, pa.schema(kinds)) as writer:
        for start in range(0, impressions, BATCH):
            count = min(BATCH, impressions - start)
            popular = (items ** rng.random(count)).astype(np.int64)
            lists = (popular[:, None] + np.cumsum(rng.integers(1, 9, (count, SLOTS)), axis=1)) % items
            clicked = np.where(rng.random(count) < 0.3, rng.integers(SLOTS, size=count), -1)
            columns = {
                "impression": np.repeat(np.arange(start, start + count), SLOTS),
                "slot": np.tile(np.arange(1, SLOTS + 1, dtype=np.int32), count),
                "item": names.take(pa.array(lists.ravel())),
                "clicked": (clicked[:, None] == np.arange(SLOTS)).ravel(),
            }
            writer.write_table(pa.table(columns))


def _run(what: str, log: Path) -> dict[str, float]:
    """In a process of its own, whose memory is then known."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.logs", what, str(log)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def _bare(log: str) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(f"SET memory_limit = '{MEMORY}'; SET preserve_insertion_order = false")
        connection.sql(f"SELECT slot, item, count(*) AS shown FROM '{log}' GROUP BY slot, item").to_arrow_table()


def _measure(what: str, log: str) -> dict[str, float]:
    from slotwise.estimate import scaling
    from slotwise.logs import tally

    started, computing = time.perf_counter(), time.process_time()
    counted = None
    if what == "tally":
        counted = tally(log, memory=MEMORY)
    else:
        _bare(log)
    found = {"seconds": time.perf_counter() - started, "computing": time.process_time() - computing}
    found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    if counted is not None:
        started = time.perf_counter()
        scaling(counted)
        found["fitting"] = time.perf_counter() - started
    return found


def _verdict(what: str, good: bool, wanted: str) -> None:
    print(f"  {what} ({wanted}){'' if good else '  TOO MUCH'}")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] in ("bare", "tally"):
        print(json.dumps(_measure(sys.argv[1], sys.argv[2])))
    else:
        main(*map(int, sys.argv[1:]))
