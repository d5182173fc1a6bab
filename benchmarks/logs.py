"""`slotwise fit` and `slotwise judge` beside a bare GROUP BY over the same file, with many placements, and on Spark.

SLOTWISE_BENCH_LARGE=1 adds logs of 5 million impressions and of a million placements, and SLOTWISE_BENCH_SPARK says
how many impressions Spark counts. `python -m benchmarks.logs events` measures only events, in a file of 3 GB.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

LARGE = os.environ.get("SLOTWISE_BENCH_LARGE", "") not in ("", "0")
#: impressions, items, and the processor time of `slotwise fit`, at most, in bare GROUP BYs
LOGS = ((500_000, 200_000, 10.0), *(((5_000_000, 1_000, 4.0), (5_000_000, 200_000, 6.0)) if LARGE else ()))
MAX_TIMES_COUNTING, MAX_TIMES_SPARK = 3.0, 1.5
#: UBI events, and the processor time of `slotwise judge`, at most, in bare GROUP BYs
EVENTS, MAX_TIMES_JUDGE = 10_000_000, 3.0
SPARK_IMPRESSIONS = int(os.environ.get("SLOTWISE_BENCH_SPARK", "1000000"))
SLOTS = 10
BATCH = 500_000
MEMORY = "2500MB"
TURNS = 3
MAX_MEMORY = 4.0
QUERIES, USUAL_IMPRESSIONS, MAX_SECONDS = 3_000, 7, 10.0
#: placements of one to four impressions, of five slots, from one catalogue; the seconds of processor time, at most
PLACEMENTS, FEW_SLOTS, CATALOGUE, MAX_PLACEMENT_SECONDS = 1_000_000 if LARGE else 20_000, 5, 100_000, 180.0


def main() -> None:
    """Print ratios and memory, for each size of a log, and for Spark."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.parquet"
        for impressions, items, most in LOGS:
            generate(log, impressions, items)
            _compare(log, impressions, items, most)
        generate_placements(log)
        _many_placements(log)
        generate(log, SPARK_IMPRESSIONS, LOGS[0][1])
        _compare_spark(log)
        generate_queries(log)
        _pool(log)
    events()


def events() -> None:
    """Print the ratio and the memory of `slotwise judge`."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "ubi.ndjson"
        # in a process of its own: the memory of this one would count as that of the processes it starts
        run("generate-events", log)
        print(f"\n{EVENTS:,} UBI events in {log.stat().st_size / 1e9:.1f} GB of JSON lines")
        turns = [{what: run(what, log) for what in ("bare-events", "judge")} for _ in range(TURNS)]
        heads = "SELECT action_name, object_id, ordinal, count(*) … GROUP BY"
        _say_times("slotwise judge", heads, turns, "judge", "bare-events", MAX_TIMES_JUDGE)
        _say_memory(max(turn["judge"]["memory"] for turn in turns))


def _compare(log: Path, impressions: int, items: int, most: float) -> None:
    size = log.stat().st_size / 1e9
    print(f"\na log of {impressions:,} impressions of {SLOTS} slots, {items:,} items, {size:.2f} GB, on all cores")
    turns = [{what: run(what, log) for what in ("bare", "tally", "fit")} for _ in range(TURNS)]
    for what, limit in (("tally", MAX_TIMES_COUNTING), ("fit", most)):
        _say_times(f"slotwise {what}", "SELECT slot, item, count(*) … GROUP BY", turns, what, "bare", limit)
        _say_memory(max(turn[what]["memory"] for turn in turns))


def _many_placements(log: Path) -> None:
    print(f"\n{PLACEMENTS:,} placements of one to four impressions, with a report")
    measured = run("placements", log)
    taken = measured["computing"]
    words = f"{taken:.0f} s of processor time, {measured['seconds']:.0f} s on the clock"
    _verdict(words, taken <= MAX_PLACEMENT_SECONDS, f"at most {MAX_PLACEMENT_SECONDS:g}")
    _say_memory(measured["memory"])


def _say_memory(gigabytes: float) -> None:
    _verdict(f"{gigabytes:.1f} GB of memory", gigabytes <= MAX_MEMORY, f"at most {MAX_MEMORY:g}")


def _compare_spark(log: Path) -> None:
    print(f"\na log of {SPARK_IMPRESSIONS * SLOTS:,} rows on Spark, on this machine")
    turns = [{what: run(what, log) for what in ("plain-spark", "spark")} for _ in range(TURNS)]
    _say_times(
        "slotwise.logs.tally", "Spark's GROUP BYs, by impression and then by slot and item", turns, "spark",
        "plain-spark", MAX_TIMES_SPARK,
    )  # fmt: skip


def _pool(log: Path) -> None:
    """From the command to its answer, with all that it has to import."""
    print(f"\n{QUERIES:,} queries of {USUAL_IMPRESSIONS} impressions in the median, pooled from the command line")
    command = [str(Path(sys.executable).with_name("slotwise")), "fit", str(log), "--placement", "query", "--json"]
    seconds = []
    for _ in range(TURNS):
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        seconds.append(time.perf_counter() - started)
    taken = statistics.median(seconds)
    _verdict(f"{taken:.1f} s", taken <= MAX_SECONDS, f"at most {MAX_SECONDS:g}")


def _say_times(
    ours: str, theirs: str, turns: list[dict[str, dict[str, float]]], what: str, beside: str, most: float
) -> None:
    seconds = {name: statistics.median(turn[name]["seconds"] for turn in turns) for name in (what, beside)}
    ratio, computing = (
        statistics.median(turn[what][how] / turn[beside][how] for turn in turns) for how in ("seconds", "computing")
    )
    print(f"  {theirs} {seconds[beside]:6.1f} s, {ours} {seconds[what]:6.1f} s")
    _verdict(
        f"{computing:.1f} times the processor time, {ratio:.1f} on the clock", computing <= most, f"at most {most:g}"
    )


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


def generate_placements(log: Path, placements: int = PLACEMENTS) -> None:
    """Lists of five out of six items of a catalogue for each placement, and a click as multinomial logit has it."""
    rng = np.random.default_rng(0)
    placement = np.repeat(np.arange(placements), rng.integers(1, 5, placements))
    lists = np.argsort(rng.random((len(placement), FEW_SLOTS + 1)), axis=1)[:, :FEW_SLOTS]
    items = (rng.integers(CATALOGUE, size=placements)[placement, None] + 17 * lists) % CATALOGUE
    worth = np.exp(rng.normal(-1.5, 1.0, CATALOGUE))[items] * np.arange(1.0, FEW_SLOTS + 1) ** -0.7
    ends = np.cumsum(worth, axis=1)
    clicked = (ends < (rng.random(len(placement)) * (1.0 + ends[:, -1]))[:, None]).sum(axis=1)
    names = pa.array([f"query {number:07d}" for number in range(placements)])
    skus = pa.array([f"sku-{number:06d}" for number in range(CATALOGUE)])
    columns = {
        "impression": np.repeat(np.arange(len(placement)), FEW_SLOTS),
        "query": names.take(pa.array(np.repeat(placement, FEW_SLOTS))),
        "slot": np.tile(np.arange(1, FEW_SLOTS + 1, dtype=np.int32), len(placement)),
        "item": skus.take(pa.array(items.ravel())),
        "clicked": (clicked[:, None] == np.arange(FEW_SLOTS)).ravel(),
    }
    pq.write_table(pa.table(columns), log)


def generate_queries(log: Path) -> None:
    """Queries of ten results each, in any order, with one slot bias for all and a click as multinomial logit has it."""
    rng = np.random.default_rng(0)
    bias = np.arange(1.0, SLOTS + 1) ** -0.7
    times = np.ceil(USUAL_IMPRESSIONS * np.exp(rng.normal(0.0, 1.0, QUERIES)) - 0.5).astype(np.int64)
    query = np.repeat(np.arange(QUERIES), times)
    lists = np.argsort(rng.random((len(query), SLOTS)), axis=1)
    worth = np.exp(rng.normal(-1.5, 1.0, (QUERIES, SLOTS)))[query[:, None], lists] * bias
    ends = np.cumsum(worth, axis=1)
    clicked = (ends < (rng.random(len(query)) * (1.0 + ends[:, -1]))[:, None]).sum(axis=1)
    columns = {
        "impression": np.repeat(np.arange(len(query)), SLOTS),
        "query": np.repeat(query, SLOTS).astype(str),
        "slot": np.tile(np.arange(1, SLOTS + 1), len(query)),
        "item": np.char.add(np.repeat(query, SLOTS).astype(str), np.char.add("-", lists.ravel().astype(str))),
        "clicked": (clicked[:, None] == np.arange(SLOTS)).ravel(),
    }
    pq.write_table(pa.table(columns), log)


def generate_events(log: Path, events: int) -> None:
    """Pages of ten of thirteen documents for 5,000 queries, and clicks that fall with the slot, as UBI lines."""
    import duckdb

    shared = "'shop' AS application, md5(page::VARCHAR) AS query_id, 'c' || page % 100000 AS client_id"
    columns = "event_attributes, action_name, user_query, message"
    what = (
        "{object: {object_id: 'sku-' || lpad(item::VARCHAR, 7, '0'), object_id_field: 'sku', description: 'A thing'}, "
        "position: {ordinal: slot}}"
    )
    with duckdb.connect() as connection:
        connection.execute(f"""
            SELECT setseed(0.5);
            CREATE MACRO stamp(page) AS strftime(TIMESTAMP '2025-01-01' + to_seconds(page // 20), '%Y-%m-%dT%H:%M:%SZ');
            CREATE TABLE pages AS SELECT page, (5000 ** random())::INT AS query, (4 * random())::INT AS shift
                FROM range({events * 10 // 118}) pages(page);
            CREATE TABLE shown AS SELECT page, slot, (37 * query + 101 * ((slot + shift) % 13)) % 200000 AS item,
                random() < 0.25 / (slot + 1) AS clicked FROM pages, range(10) slots(slot);
            COPY (
                SELECT {shared}, stamp(page) AS timestamp, {columns} FROM (
                    SELECT page, -1 AS slot, 0 AS turn, NULL AS event_attributes, NULL AS action_name,
                        'red dress ' || query AS user_query, NULL AS message FROM pages
                    UNION ALL
                    SELECT page, slot, 1, {what}, 'impression', NULL, 'shown' FROM shown
                    UNION ALL
                    SELECT page, slot, 2, {what}, 'click', NULL, 'clicked' FROM shown WHERE clicked
                ) ORDER BY page, turn, slot
            ) TO '{log}' (FORMAT json)""")


def run(what: str, log: Path) -> dict[str, float]:
    """Return the seconds and gigabytes of this work in a process of its own, whose memory is then known."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.logs", what, str(log)]
    # as on the command line, which sets this before numpy is imported
    environment = {"OPENBLAS_NUM_THREADS": "1"} | os.environ
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def bare(log: str) -> None:
    """What DuckDB needs to count showings, and to look at nothing else."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(f"SET memory_limit = '{MEMORY}'; SET preserve_insertion_order = false")
        connection.sql(f"SELECT slot, item, count(*) AS shown FROM '{log}' GROUP BY slot, item").to_arrow_table()


def _bare_events(log: str) -> None:
    """What DuckDB needs to count events by action, document and position."""
    import duckdb

    columns = {
        "action_name": "VARCHAR",
        "event_attributes": 'STRUCT("object" STRUCT(object_id VARCHAR), "position" STRUCT(ordinal BIGINT))',
    }
    with duckdb.connect() as connection:
        connection.execute("SET preserve_insertion_order = false")
        connection.sql(
            "SELECT action_name, event_attributes.object.object_id AS item, event_attributes.position.ordinal AS slot, "
            f"count(*) FROM read_json('{log}', columns={columns}) GROUP BY ALL"
        ).to_arrow_table()


def _judge(log: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _command("judge", log, "--format", "ubi", "--out", f"{folder}/list.csv")


def _tally(log: str) -> None:
    from slotwise.logs import tally

    tally(log, memory=MEMORY)


def _fit(log: str, *options: str) -> None:
    _command("fit", log, "--memory", MEMORY, *options)


def _command(*arguments: str) -> None:
    """Run the whole command."""
    from slotwise.cli import main as slotwise

    sys.argv = ["slotwise", *arguments]
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.suppress(SystemExit):
        slotwise()


def _fit_placements(log: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _fit(log, "--placement", "query", "--out", folder)


def _spark_tally(log: str) -> None:
    from slotwise.logs import tally

    tally(log, engine="spark")


def _plain_spark(log: str) -> None:
    """The same GROUP BYs: impressions with a click, what is twice in one, and the counts by slot and item.

    By sets, which Spark gathers several times as fast as it does count(DISTINCT …) of two columns.
    """
    from slotwise.logs.reading.engines import read

    with read(log, engine="spark") as table:
        session = table.get_backend()._session
        # the pages are too many to be sent to every worker, which Spark does not foresee
        session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
        session.sql(
            f"""
            WITH log AS (SELECT * FROM {table.get_name()}),
            pages AS (
                SELECT impression, max(clicked) AS hit, size(collect_set(slot)) AS slots,
                    size(collect_set(item)) AS items, count(*) AS shown, sum(cast(clicked AS int)) AS clicks
                FROM log GROUP BY impression
            )
            SELECT slot, item, count(*) AS shown, sum(cast(clicked AS int)) AS clicks,
                sum(cast(NOT hit AS int)) AS passes
            FROM log JOIN pages USING (impression) WHERE slots = shown AND items = shown AND clicks <= 1
            GROUP BY slot, item
            """
        ).toArrow()


WORK: dict[str, Callable[[str], None]] = {
    "bare": bare,
    "generate-events": lambda log: generate_events(Path(log), EVENTS),
    "bare-events": _bare_events,
    "judge": _judge,
    "tally": _tally,
    "fit": _fit,
    "placements": _fit_placements,
    "plain-spark": _plain_spark,
    "spark": _spark_tally,
}


def _measure(what: str, log: str) -> dict[str, float]:
    # what is compiled is kept on disk: a first run is not what is measured
    if what in ("tally", "fit"):
        with tempfile.TemporaryDirectory() as folder:
            small = Path(folder) / "small.parquet"
            generate(small, 100_000, 100)
            WORK[what](str(small))
    if what == "judge":
        with tempfile.TemporaryDirectory() as folder:
            generate_events(Path(folder) / "small.ndjson", 10_000)
            _judge(f"{folder}/small.ndjson")
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    started, computing = time.perf_counter(), time.process_time()
    WORK[what](log)
    found = {"seconds": time.perf_counter() - started, "computing": time.process_time() - computing}
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Spark's work is done by a process of its own
    found["computing"] += after.ru_utime + after.ru_stime - children.ru_utime - children.ru_stime
    found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return found


def _verdict(what: str, good: bool, wanted: str) -> None:
    print(f"  {what} ({wanted}){'' if good else '  TOO MUCH'}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if len(sys.argv) == 3 and sys.argv[1] in WORK:
        print(json.dumps(_measure(sys.argv[1], sys.argv[2])))
    elif sys.argv[1:] == ["events"]:
        events()
    else:
        main()
