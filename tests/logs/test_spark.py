"""DuckDB and a real Spark, to the same tally; skipped only where there is no Java, and never in CI."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from slotwise.core.errors import InvalidInput
from slotwise.logs import Columns, fit, fit_placements, tallies, tally
from slotwise.logs.reading.spark_session import JAVA, divide_among_all
from tests.logs.reading.test_engines import check_strange, write_strange
from tests.logs.reading.test_value_parsing import LONG, check_long
from tests.logs.reference_counter import Plain, dirty_rows, table
from tests.logs.strata import check_alike, drawn
from tests.logs.test_nasty_logs import NASTY, check_nasty

pytestmark = [
    pytest.mark.skipif(
        shutil.which("java") is None and "JAVA_HOME" not in os.environ and "CI" not in os.environ, reason=JAVA
    ),
    # py4j leaves its sockets to the garbage collector
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

PAGES = Columns(placement="page", order="turn")
ROWS = dirty_rows(4, from_zero=True)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One for all tests: it takes seconds to start, and slotwise uses the one that is there."""
    folder = tmp_path_factory.mktemp("spark")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[4]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.sql.warehouse.dir", str(folder))
    # many small queries: a compiler for each, and one for long runs, would take longer than the work
    builder = builder.config("spark.sql.codegen.wholeStage", "false").config(
        "spark.sql.codegen.factoryMode", "NO_CODEGEN"
    )
    builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    before = signal.getsignal(signal.SIGINT)
    session = builder.getOrCreate()
    yield session
    session.stop()
    # Spark leaves behind an answer to Ctrl-C that asks the session that has ended
    signal.signal(signal.SIGINT, before)


def test_spark_and_duckdb_agree_on_text(session: SparkSession, tmp_path: Path) -> None:
    pyarrow.csv.write_csv(table(ROWS), tmp_path / "log.csv")
    found = tallies(tmp_path / "log.csv", PAGES, engine="spark", multi_click="last")
    Plain(ROWS, "last").check(found)
    assert found == tallies(tmp_path / "log.csv", PAGES, multi_click="last")


@pytest.mark.parametrize("threads", [2, *(pytest.param(n, marks=pytest.mark.long) for n in (1, 3, 4))])
def test_shuffled_rows_in_several_files(threads: int, session: SparkSession, tmp_path: Path) -> None:
    """As many parts, and so as many threads, read the files and group the rows."""
    shuffled = random.Random(7).sample(ROWS, len(ROWS))
    for part in range(threads):
        pq.write_table(table(shuffled[part::threads]), tmp_path / f"{part}.parquet")
    before = str(session.conf.get("spark.sql.shuffle.partitions"))
    session.conf.set("spark.sql.shuffle.partitions", threads)
    try:
        Plain(ROWS, "first").check(tallies(tmp_path, PAGES, engine="spark"))
    finally:
        session.conf.set("spark.sql.shuffle.partitions", before)


def test_spark_and_duckdb_agree_on_fits(session: SparkSession, tmp_path: Path) -> None:
    pq.write_table(table(ROWS), tmp_path / "log.parquet")
    by_spark, by_duckdb = (
        fit_placements(tmp_path / "log.parquet", PAGES, engine=engine) for engine in ("spark", "duckdb")
    )
    Plain(ROWS, "first").check({str(one.placement): one.tally for one in by_spark})
    for one, other in zip(by_spark, by_duckdb, strict=True):
        assert one.tally == other.tally
        assert one.rankings == other.rankings
        assert one.log_likelihood == pytest.approx(other.log_likelihood, rel=1e-12)


def test_spark_and_duckdb_agree_on_segments_and_times(session: SparkSession, tmp_path: Path) -> None:
    pq.write_table(drawn(3, 300, differ=True).log, tmp_path / "log.parquet")
    by_spark, by_duckdb = (
        fit(tmp_path / "log.parquet", engine=engine, segment="device", time="at") for engine in ("spark", "duckdb")
    )
    check_alike(by_spark, by_duckdb)


@pytest.mark.long
def test_words_for_nothing(session: SparkSession, tmp_path: Path) -> None:
    pq.write_table(pa.table(LONG), tmp_path / "log.parquet")
    check_long(tally(tmp_path / "log.parquet", engine="spark"))


@pytest.mark.long
def test_strange_text_files(session: SparkSession, tmp_path: Path) -> None:
    write_strange(tmp_path)
    check_strange(tmp_path, "spark")


@pytest.mark.long
def test_times_in_text(session: SparkSession, tmp_path: Path) -> None:
    text = "impression,slot,item,clicked,when\n1,1,a,1,2026-01-01 10:00:08\n1,2,b,1,2026-01-01T10:00:07.5Z\n"
    (tmp_path / "log.csv").write_text(text)
    found = tally(tmp_path / "log.csv", Columns(order="when"), engine="spark")
    assert found.clicks.tolist() == [[0, 0], [0, 1]]


@pytest.mark.long
def test_wide_logs(session: SparkSession, tmp_path: Path) -> None:
    log = pa.table({"impression": [1, 2, 3], "items": ["a|b", "['b', 'a']", '["c"]'], "clicked": ["b", None, "z"]})
    pq.write_table(log, tmp_path / "log.parquet")
    by_spark = tally(tmp_path / "log.parquet", engine="spark")
    by_duckdb = tally(tmp_path / "log.parquet")
    assert by_spark == by_duckdb
    assert dict(by_spark.cleaning) == dict(by_duckdb.cleaning)


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "click rows without a slot",
        "lists with commas",
        "clicked as flags",
        "lists of structs, with the field named",
        "a time in another zone",
        "weights",
        "a row of five values",
    ],
)
def test_nasty_logs(name: str, session: SparkSession, tmp_path: Path) -> None:
    check_nasty(NASTY[name], tmp_path, engine="spark")


def test_a_compressed_file_needs_its_extension(session: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes(gzip.compress(b"impression,slot,item,clicked\n1,1,a,1\n"))
    with pytest.raises(InvalidInput, match=r"it is compressed: rename it to end in \.gz, or use the engine duckdb"):
        tally(tmp_path / "log.csv", engine="spark")


@pytest.mark.long
def test_clicks_of_a_table_of_their_own(session: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("impression,slot,item\n1,1,a\n1,2,b\n2,1,b\n2,2,a\n")
    (tmp_path / "clicks.csv").write_text("impression,item\n1,b\n")
    by_spark, by_duckdb = (
        tally(tmp_path / "log.csv", clicks=tmp_path / "clicks.csv", engine=engine) for engine in ("spark", "duckdb")
    )
    assert by_spark == by_duckdb
    assert by_spark.clicks.tolist() == [[0, 0], [0, 1]]


def test_a_clusters_own_number_of_parts_stays(session: SparkSession) -> None:
    divide_among_all(session)
    assert session.conf.get("spark.sql.shuffle.partitions") == "2"
