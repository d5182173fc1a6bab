from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas as pd
import psycopg
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from slotwise.core.errors import InvalidInput, UnreadableFile
from slotwise.logs import Columns, tallies, tally
from slotwise.logs.reading.spark_session import refuse_silence
from tests.logs.reference_counter import COLUMNS, Plain, dirty_rows, table
from tests.postgres import Postgres

PAGES = Columns(placement="page", order="turn")
ROWS = dirty_rows(3)
LOG = table(ROWS)
ONE = Columns(order="turn")


@pytest.fixture(scope="module")
def plain() -> Plain:
    return Plain(ROWS, "first")


def write_csv(path: Path, separator: str = ",") -> None:
    with pa.CompressedOutputStream(path, "zstd") if path.suffix == ".zst" else path.open("wb") as file:
        pyarrow.csv.write_csv(LOG, file, pyarrow.csv.WriteOptions(delimiter=separator))


def test_parquet(tmp_path: Path, plain: Plain) -> None:
    pq.write_table(LOG, tmp_path / "log.parquet")
    plain.check(tallies(tmp_path / "log.parquet", PAGES))
    plain.check(tallies(str(tmp_path / "log.parquet"), PAGES))


@pytest.mark.parametrize("name", ["log.csv", "log.tsv", "log.csv.gz", "log.csv.zst"])
def test_text(tmp_path: Path, plain: Plain, name: str) -> None:
    write_csv(tmp_path / name.removesuffix(".gz"), "\t" if "tsv" in name else ",")
    if name.endswith(".gz"):
        (tmp_path / name).write_bytes(gzip.compress((tmp_path / "log.csv").read_bytes()))
    plain.check(tallies(tmp_path / name, PAGES))


def test_folders_and_patterns(tmp_path: Path, plain: Plain) -> None:
    (tmp_path / "2026" / "01").mkdir(parents=True)
    pq.write_table(LOG[:500], tmp_path / "2026" / "first.parquet")
    pq.write_table(LOG[500:], tmp_path / "2026" / "01" / "second.parquet")
    (tmp_path / "2026" / "_SUCCESS").touch()
    plain.check(tallies(tmp_path / "2026", PAGES))
    plain.check(tallies(str(tmp_path / "**" / "*.parquet"), PAGES))
    (tmp_path / "2026" / "more.csv").write_text("impression,slot,item,clicked\n")
    with pytest.raises(InvalidInput, match=r"of one kind, got first\.parquet and more\.csv|second\.parquet"):
        tallies(tmp_path / "2026", PAGES)


def test_ids_of_a_text_file_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("impression,slot,item,clicked\n1,1,007,1\n1,2,7,0\n2,1,7,0\n")
    assert tally(tmp_path / "log.csv").item_ids == ("007", "7")


STRANGE = {
    "one.csv": 'impression,slot,item,clicked\n#1,1,"a ""b""",1\n#1,2,"c\nd",0\n#2,1,\'e\',0\n',
    "two.csv": "clicked,item,slot,impression\n0,#5,1,#3\n",
    "semicolon.csv": "impression;slot;item;clicked\n1;1;a,b;1\n2;1;a,b;0\n",
}


def write_strange(folder: Path) -> None:
    for name, text in STRANGE.items():
        (folder / name).write_text(text)


def check_strange(folder: Path, engine: str) -> None:
    """Comments that are none, quotes, lines within a field, other separators, columns in another order."""
    both = tally(str(folder / "[ot][nw][eo].csv"), engine=engine)
    assert both.item_ids == ("#5", "'e'", 'a "b"', "c\nd")
    assert (both.impressions, both.cleaning["rows"]) == (3, 4)
    assert tally(folder / "semicolon.csv", engine=engine).item_ids == ("a,b",)


def test_strange_text_files(tmp_path: Path) -> None:
    write_strange(tmp_path)
    check_strange(tmp_path, "duckdb")


def test_frames_and_tables(plain: Plain) -> None:
    plain.check(tallies(LOG, PAGES))
    plain.check(tallies(pd.DataFrame(ROWS, columns=COLUMNS), PAGES))
    connection = ibis.duckdb.connect()
    mine = connection.create_table("mine", LOG)
    plain.check(tallies(mine, PAGES))
    assert connection.con.execute("SHOW TABLES").fetchall() == [("mine",)], "nothing of ours is left behind"
    connection.disconnect()


def test_a_duckdb_file(tmp_path: Path, plain: Plain) -> None:
    with duckdb.connect(tmp_path / "log.duckdb") as connection:
        connection.register("arrow", LOG)
        connection.execute("CREATE TABLE clicks AS SELECT * FROM arrow")
        connection.execute("CREATE SCHEMA other; CREATE TABLE other.clicks AS SELECT * FROM arrow LIMIT 0")
    plain.check(tallies(tmp_path / "log.duckdb", PAGES))
    plain.check(tallies(tmp_path / "log.duckdb", PAGES, table="clicks"))
    with pytest.raises(InvalidInput, match="the log has no rows"):
        tallies(tmp_path / "log.duckdb", PAGES, table="other.clicks")
    with pytest.raises(InvalidInput, match=r"there is no table 'nothing' in .*, which has clicks"):
        tallies(tmp_path / "log.duckdb", PAGES, table="nothing")


def test_a_postgresql_table(postgres: Postgres, plain: Plain) -> None:
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS logs CASCADE")
        connection.execute("CREATE SCHEMA logs")
        connection.execute(
            "CREATE TABLE logs.clicks (page text, impression bigint, slot int, item text, clicked bool, turn float8)"
        )
        with connection.cursor() as cursor, cursor.copy("COPY logs.clicks FROM STDIN") as copy:
            for row in ROWS:
                copy.write_row(row)
    plain.check(tallies(postgres.url, PAGES, table="logs.clicks"))
    with pytest.raises(InvalidInput, match=r"there is no table 'logs\.nothing'"):
        tallies(postgres.url, PAGES, table="logs.nothing")


def test_a_password_is_not_repeated() -> None:
    for given in ("me:secret@127.0.0.1:1/nothing?connect_timeout=2", "127.0.0.1:1/shop?user=me&password=secret"):
        with pytest.raises(UnreadableFile, match="cannot be reached") as caught:
            tallies(f"postgresql://{given}", PAGES)
        assert "secret" not in str(caught.value)


def test_a_spark_cluster_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error comes at once, with the address; Spark itself would try for more than a minute."""
    session = pytest.importorskip("pyspark.sql").SparkSession
    monkeypatch.setattr(session, "getActiveSession", lambda: None)
    monkeypatch.setenv("JAVA_HOME", "not asked for")
    with pytest.raises(UnreadableFile, match=r"no Spark cluster answers at 127\.0\.0\.1:1 \(.*refused.*Without master"):
        tallies("log.csv", PAGES, engine="spark", master="spark://127.0.0.1:1")
    with pytest.raises(UnreadableFile, match="no Spark cluster answers at nowhere"):
        refuse_silence("spark://nowhere")
    refuse_silence("local[2]")


def test_clicks_of_a_table_of_their_own(tmp_path: Path, postgres: Postgres) -> None:
    """The same tally as with the clicks in the log: from frames, from files and from PostgreSQL."""
    rows = {"impression": [1, 1, 2, 2, 3, 3], "slot": [1, 2] * 3, "item": list("abbaab")}
    wanted = tally(pa.table(rows | {"clicked": [0, 1, 0, 0, 1, 0]}))
    clicks = pa.table({"impression": [1, 3], "item": ["b", "a"]})
    assert tally(pa.table(rows), clicks=clicks) == wanted
    pyarrow.csv.write_csv(pa.table(rows), tmp_path / "log.csv")
    pyarrow.csv.write_csv(clicks, tmp_path / "clicks.csv")
    assert tally(tmp_path / "log.csv", clicks=tmp_path / "clicks.csv") == wanted
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS events CASCADE")
        connection.execute("CREATE SCHEMA events")
        connection.execute("CREATE TABLE events.shown (impression int, slot int, item text)")
        connection.execute("CREATE TABLE events.clicks (impression int, item text)")
        connection.execute(
            "INSERT INTO events.shown VALUES (1,1,'a'),(1,2,'b'),(2,1,'b'),(2,2,'a'),(3,1,'a'),(3,2,'b')"
        )
        connection.execute("INSERT INTO events.clicks VALUES (1,'b'),(3,'a')")
    assert tally(postgres.url, table="events.shown", clicks="events.clicks") == wanted
    with pytest.raises(InvalidInput, match="the table of clicks has no column 'impression' to join it to the log by"):
        tally(pa.table(rows), clicks=pa.table({"view": [1], "item": ["b"]}))


def test_a_log_larger_than_the_memory_it_is_given(tmp_path: Path) -> None:
    log, memory = tmp_path / "log.parquet", 110
    with duckdb.connect() as connection:
        connection.execute(
            f"""COPY (SELECT md5(range::varchar) || md5((-range)::varchar) impression, slot::int slot,
            'item ' || ((range * 7 + slot * 13) % 40) item, range % 3 = 0 AND slot = range % 5 clicked
            FROM range(400000), unnest(range(1, 6)) slots(slot) ORDER BY hash(range, slot)) TO '{log}'"""
        )
    assert log.stat().st_size > memory * 1_000_000
    small, large = tally(log, memory=f"{memory}MB"), tally(log)
    assert small == large
    assert small.impressions == 400_000


def test_a_failing_engine_is_reported_in_one_line(tmp_path: Path) -> None:
    pq.write_table(LOG, tmp_path / "log.parquet", row_group_size=100)
    whole = (tmp_path / "log.parquet").read_bytes()
    middle = len(whole) // 3
    (tmp_path / "log.parquet").write_bytes(whole[:middle] + bytes(2_000) + whole[middle + 2_000 :])
    with pytest.raises(UnreadableFile, match="the log cannot be counted: "):
        tallies(tmp_path / "log.parquet", PAGES)


@pytest.mark.parametrize(
    ("source", "options", "error", "message"),
    [
        ("nothing.parquet", {}, UnreadableFile, "there is no file nothing.parquet"),
        ("nothing/*.csv", {}, UnreadableFile, r"there is no file nothing/\*.csv"),
        ("nothing.duckdb", {}, UnreadableFile, "there is no file nothing.duckdb"),
        ("broken.parquet", {}, UnreadableFile, "broken.parquet cannot be read"),
        ("broken.duckdb", {}, UnreadableFile, "broken.duckdb cannot be opened"),
        ("notes.txt", {}, InvalidInput, "a log must be a .*, got notes.txt"),
        ("empty", {}, UnreadableFile, "the folder empty has no"),
        ("broken.parquet", {"engine": "hadoop"}, InvalidInput, "engine must be duckdb or spark, got 'hadoop'"),
        ("broken.parquet", {"master": "local"}, InvalidInput, "master is for the engine spark"),
        ("broken.parquet", {"table": "clicks"}, InvalidInput, "table is for a .duckdb file or a PostgreSQL database"),
        ("", {}, UnreadableFile, "got ''"),
        (5, {}, InvalidInput, "a log must be a path, .*, got 5"),
        (LOG, {"engine": "spark"}, InvalidInput, "the engine spark reads files"),
        ("broken.parquet", {"memory": "much"}, InvalidInput, "memory must be like 500MB or 4GB, got 'much'"),
    ],
)
def test_unreadable_sources(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    source: Any,
    options: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("broken.parquet", "broken.duckdb", "notes.txt"):
        (tmp_path / name).write_bytes(b"this is not a log" * 100)
    (tmp_path / "empty").mkdir()
    with pytest.raises(error, match=message):
        tally(source, **options)
