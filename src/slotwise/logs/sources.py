"""Where click logs come from: files, folders, databases, data frames; on DuckDB, Spark or PostgreSQL."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ibis
import ibis.expr.types as ir

from slotwise import checks
from slotwise.errors import InvalidInput, MissingExtra, UnreadableFile

ENGINES = ("duckdb", "spark")
ENGINE_MODULES = ("duckdb", "psycopg", "pyspark", "py4j")
PARQUET = (".parquet", ".pq")
TEXT = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")
DATABASE = (".duckdb", ".ddb", ".db")
SERVERS = ("postgresql://", "postgres://")
JAVA = "Spark needs Java 17 or 21: apt-get install openjdk-17-jre-headless, or set JAVA_HOME"


@contextlib.contextmanager
def read(
    source: Any,
    *,
    table: str | None = None,
    engine: str = "duckdb",
    master: str | None = None,
    memory: str | None = None,
) -> Iterator[ir.Table]:
    """A log as an ibis table, for as long as the block lasts.

    `source` is a Parquet or CSV file, a folder of them, a pattern, a DuckDB file, a postgresql:// address (with
    `table` for these two), a data frame, an Arrow table or an ibis table. `memory` is what DuckDB may use, as in "2GB":
    what does not fit goes to disk. `master` is the address of a Spark cluster, this machine by default.
    """
    checks.one_of("engine", engine, ENGINES)
    if master is not None and engine != "spark":
        raise InvalidInput(f"master is for the engine spark, got {master!r} for {engine}")
    try:
        with _opened(source, table, engine, master, memory) as log:
            yield log
    except Exception as problem:
        if isinstance(problem, RuntimeError) and "interrupted" in str(problem):
            # what DuckDB makes of Ctrl-C
            raise KeyboardInterrupt from None
        # no space, a file that ends too early, a server that went away: theirs, but said in a line
        if type(problem).__module__.strip("_").split(".")[0] not in ENGINE_MODULES:
            raise
        raise UnreadableFile(f"the log cannot be counted: {_first_line(problem)}") from problem


@contextlib.contextmanager
def _opened(source: Any, table: str | None, engine: str, master: str | None, memory: str | None) -> Iterator[ir.Table]:
    if isinstance(source, ir.Table):
        yield source
    elif isinstance(source, str) and source.startswith(SERVERS):
        if engine == "spark":
            raise InvalidInput("a PostgreSQL table is counted by PostgreSQL itself: leave the engine out")
        with _postgresql(source, table) as found:
            yield found
    elif not isinstance(source, str | os.PathLike):
        with _duckdb(memory) as connection:
            yield connection.create_view("log", ibis.memtable(source))
    elif engine == "spark":
        with _spark(master) as connection:
            yield _files(connection, os.fspath(source))
    elif _is_database(source):
        with _duckdb(memory, database=source) as connection:
            yield _table(connection, table, os.fspath(source))
    else:
        with _duckdb(memory) as connection:
            yield _files(connection, os.fspath(source))


def _files(connection: Any, pattern: str) -> ir.Table:
    files = _matching(pattern)
    kinds = {_kind(file) for file in files}
    if len(kinds) > 1:
        names = " and ".join(sorted(Path(next(f for f in files if _kind(f) == kind)).name for kind in kinds))
        raise InvalidInput(f"the files of a log must be of one kind, got {names} in {pattern}")
    reader = _read_by_duckdb if connection.name == "duckdb" else _read_by_spark
    try:
        return reader(connection, files, kinds.pop())
    except Exception as problem:
        raise UnreadableFile(f"{pattern} cannot be read: {_first_line(problem)}") from problem


def _read_by_duckdb(connection: Any, files: list[str], kind: str) -> ir.Table:
    if kind == "parquet":
        return connection.read_parquet(files)
    # all as text: an item 007 is not an item 7
    return connection.read_csv(files, all_varchar=True, header=True)


def _read_by_spark(connection: Any, files: list[str], kind: str) -> ir.Table:
    reader = connection._session.read
    tabs = ".tsv" in Path(files[0]).name
    frame = reader.parquet(*files) if kind == "parquet" else reader.csv(files, header=True, sep="\t" if tabs else ",")
    frame.createOrReplaceTempView("slotwise_log")
    return connection.table("slotwise_log")


def _matching(pattern: str) -> list[str]:
    """The files of a path, a folder (and those below it) or a pattern, in order."""
    if "://" in pattern:
        # s3://, hdfs://: the engine knows
        return [pattern]
    path = Path(pattern)
    if path.is_dir():
        found = [
            os.path.join(folder, name)
            for folder, folders, names in os.walk(path)
            for name in names
            # what Spark and editors leave beside the data
            if not name.startswith(("_", "."))
        ]
        found = [file for file in found if _known(file)]
        if not found:
            raise UnreadableFile(f"the folder {pattern} has no {', '.join(PARQUET + TEXT)} files")
    elif path.exists():
        found = [pattern]
    else:
        found = [file for file in glob.glob(pattern, recursive=True) if os.path.isfile(file)]
        if not found:
            raise UnreadableFile(f"there is no file {pattern}")
    return sorted(found)


def _known(file: str) -> bool:
    return file.lower().endswith(PARQUET + TEXT)


def _kind(file: str) -> str:
    if not _known(file):
        raise InvalidInput(f"a log must be a {', '.join(PARQUET + TEXT)} file or a database, got {file}")
    return "parquet" if file.lower().endswith(PARQUET) else "text"


def _is_database(source: Any) -> bool:
    return str(os.fspath(source)).lower().endswith(DATABASE)


def _table(connection: Any, name: str | None, where: str) -> ir.Table:
    tables = _tables(connection)
    if name is None:
        if len(tables) == 1:
            return connection.table(tables[0])
        raise InvalidInput(f"table must be one of those in {where}: {', '.join(sorted(tables)) or 'there are none'}")
    schema, _, short = name.rpartition(".")
    try:
        return connection.table(short, database=schema or None)
    except Exception as problem:
        raise InvalidInput(f"there is no table {name!r} in {where}, which has {', '.join(sorted(tables))}") from problem


def _tables(connection: Any) -> list[str]:
    if connection.name == "duckdb":
        # ibis 12 asks DuckDB 2 for them by a name that is gone
        return [name for (name,) in connection.con.execute("SHOW TABLES").fetchall()]
    return list(connection.list_tables())


@contextlib.contextmanager
def _duckdb(memory: str | None, database: Any = None) -> Iterator[Any]:
    settings: dict[str, Any] = {"preserve_insertion_order": False}
    if memory is not None:
        if not re.fullmatch(r"\d+(\.\d+)?\s*[KMGT]i?B", memory):
            raise InvalidInput(f"memory must be like 500MB or 4GB, got {memory!r}")
        settings["memory_limit"] = memory
    spill = tempfile.mkdtemp(prefix="slotwise-")
    try:
        if database is not None and not Path(database).is_file():
            raise UnreadableFile(f"there is no file {database}")
        try:
            connection = ibis.duckdb.connect(
                *([database] if database is not None else []),
                **({"read_only": True} if database is not None else {}),
                temp_directory=spill,
                **settings,
            )
        except Exception as problem:
            raise UnreadableFile(f"{database} cannot be opened: {_first_line(problem)}") from problem
        try:
            yield connection
        finally:
            connection.disconnect()
    finally:
        shutil.rmtree(spill, ignore_errors=True)


@contextlib.contextmanager
def _postgresql(address: str, table: str | None) -> Iterator[ir.Table]:
    hidden = re.sub(r"//[^@/]*@", "//…@", address)
    try:
        connection = ibis.postgres.connect(**_parts(address))
    except ImportError:
        raise MissingExtra("a PostgreSQL table", "logs") from None
    except Exception as problem:
        raise UnreadableFile(f"{hidden} cannot be reached: {_first_line(problem)}") from None
    try:
        yield _table(connection, table, hidden)
    finally:
        connection.disconnect()


def _parts(address: str) -> dict[str, Any]:
    """What libpq makes of an address, in the words of ibis."""
    from psycopg.conninfo import conninfo_to_dict

    given = {name: value for name, value in conninfo_to_dict(address).items() if value is not None}
    known = {"dbname": "database", "user": "user", "password": "password", "host": "host"}
    parts: dict[str, Any] = {known[name]: given.pop(name) for name in list(known) if name in given}
    if "port" in given:
        parts["port"] = int(given.pop("port"))
    return parts | given


@contextlib.contextmanager
def _spark(master: str | None) -> Iterator[Any]:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("the engine spark", "spark") from None
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        raise UnreadableFile(JAVA)
    running = SparkSession.getActiveSession()
    builder = (
        SparkSession.builder.appName("slotwise")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
    )
    if master is None or master.startswith("local"):
        # nobody else has to reach it
        builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
        builder = builder.config("spark.sql.shuffle.partitions", str(os.cpu_count() or 1))
    session = running or builder.master(master or "local[*]").getOrCreate()
    try:
        yield ibis.pyspark.connect(session)
    finally:
        if running is None:
            session.stop()


def _first_line(problem: BaseException) -> str:
    return str(problem).strip().splitlines()[0] if str(problem).strip() else type(problem).__name__
