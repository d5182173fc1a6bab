"""Where click logs come from: files, folders, databases, data frames; on DuckDB, Spark or PostgreSQL."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeGuard

import ibis
import ibis.expr.types as ir
import pyarrow as pa
from ibis.backends import BaseBackend

from slotwise.core import validation
from slotwise.core.errors import InvalidInput, MissingExtra, UnreadableFile
from slotwise.logs.reading.file_sniffing import refuse_twins, what_is_wrong
from slotwise.logs.reading.log_files import first_line, matching, read_files
from slotwise.logs.reading.spark_session import spark

if TYPE_CHECKING:
    import pandas as pd

FilePath = str | os.PathLike[str]
ENGINES = ("duckdb", "spark")
ENGINE_MODULES = ("duckdb", "psycopg", "pyspark", "py4j")
DATABASE = (".duckdb", ".ddb", ".db")
SERVERS = ("postgresql://", "postgres://")


class ReadOptions(TypedDict, total=False):
    """How a log is read: the options of `read`, which everything that reads a log takes."""

    #: which table, where the source is a database
    table: str | None
    #: one of `ENGINES`
    engine: str
    #: the address of a Spark cluster; without it Spark runs on this machine
    master: str | None
    #: what DuckDB may use, as in "2GB"; what does not fit goes to disk
    memory: str | None
    #: the clicks, where they are in a table of their own: a file, a table's name, or a data frame, as the log is
    clicks: object


@contextlib.contextmanager
def read(
    source: object,
    *,
    table: str | None = None,
    engine: str = "duckdb",
    master: str | None = None,
    memory: str | None = None,
) -> Iterator[ir.Table]:
    """Open a log as an ibis table, for the duration of a `with` block.

    Parameters
    ----------
    source
        A Parquet or CSV file, a folder of them, a pattern, a DuckDB file, a postgresql:// address, a data frame, an
        Arrow table or an ibis table.
    table
        The name of the table, if the source is a database.
    engine
        "duckdb" or "spark".
    master
        The address of a Spark cluster; None to run Spark on this machine.
    memory
        The memory limit of DuckDB, as in "2GB"; larger data go to disk.
    """
    with read_with_clicks(source, table=table, engine=engine, master=master, memory=memory) as (log, _):
        yield log


@contextlib.contextmanager
def read_with_clicks(
    source: object,
    *,
    table: str | None = None,
    engine: str = "duckdb",
    master: str | None = None,
    memory: str | None = None,
    clicks: object = None,
) -> Iterator[tuple[ir.Table, ir.Table | None]]:
    """A log as in `read`, and the table of its clicks, where they have one of their own; both where one engine is."""
    validation.one_of("engine", engine, ENGINES)
    if master is not None and engine != "spark":
        raise InvalidInput(f"master is for the engine spark, got {master!r} for {engine}")
    try:
        with _opened(source, table, engine, master, memory, clicks) as both:
            yield both
    except Exception as problem:
        if isinstance(problem, RuntimeError) and "interrupted" in str(problem):
            # this is how DuckDB reports Ctrl-C
            raise KeyboardInterrupt from None
        # no space, a truncated file, a lost server: report the engine's error in one line
        if type(problem).__module__.strip("_").split(".")[0] not in ENGINE_MODULES:
            raise
        files = [file for place in (source, clicks) if is_files(place) for file in matching(os.fspath(place))]
        fault = what_is_wrong(files)
        raise UnreadableFile(f"the log cannot be counted: {fault or first_line(problem)}") from problem


@contextlib.contextmanager
def _opened(
    source: object, table: str | None, engine: str, master: str | None, memory: str | None, clicks: object
) -> Iterator[tuple[ir.Table, ir.Table | None]]:
    if table is not None and not (isinstance(source, str | os.PathLike) and _has_tables(source)):
        raise InvalidInput(f"table is for a .duckdb file or a PostgreSQL database, got {table!r}")
    if engine == "spark" and not isinstance(source, str | os.PathLike):
        raise InvalidInput(f"the engine spark reads files, got {validation.short(source)}")
    if isinstance(source, ir.Table):
        yield source, None if clicks is None else clicks if isinstance(clicks, ir.Table) else _in_memory(clicks)
    elif isinstance(source, str) and source.startswith(SERVERS):
        if engine == "spark":
            raise InvalidInput("a PostgreSQL table is counted by PostgreSQL itself: leave the engine out")
        if not (clicks is None or isinstance(clicks, str)):
            raise InvalidInput(f"clicks must name a table of the database, got {validation.short(clicks)}")
        with _postgresql(source) as connection:
            shown = without_password(source)
            yield _table(connection, table, shown), None if clicks is None else _table(connection, clicks, shown)
    else:
        with (
            spark(master)
            if engine == "spark"
            else _duckdb(memory, database=source if _is_database(source) else None) as connection
        ):
            if not isinstance(source, str | os.PathLike):
                log = connection.create_view("log", _in_memory(source))
            elif engine != "spark" and _is_database(source):
                log = _table(connection, table, os.fspath(source))
            else:
                log = read_files(connection, os.fspath(source))
            yield log, None if clicks is None else _clicks(connection, clicks, source)


def _clicks(connection: BaseBackend, clicks: object, source: object) -> ir.Table:
    """The clicks of a log that DuckDB or Spark has opened: a table of the same database, files, or a data frame."""
    if not isinstance(clicks, str | os.PathLike):
        if connection.name != "duckdb":
            raise InvalidInput(f"the engine spark reads files, got {validation.short(clicks)} for the clicks")
        return _in_memory(clicks)
    if _is_database(source) and not os.path.exists(clicks):
        return _table(connection, os.fspath(clicks), os.fspath(source))
    return read_files(connection, os.fspath(clicks), name="slotwise_clicks")


def without_password(address: str) -> str:
    """An address without what may be a password.

    >>> without_password("postgresql://me:secret@host/shop?password=secret")
    'postgresql://…@host/shop'
    """
    return re.sub(r"//[^@/]*@", "//…@", address).partition("?")[0] if "://" in address else address


def _in_memory(source: object) -> ir.Table:
    try:
        table = ibis.memtable(pa.table(_arrow_columns(source)) if _is_pandas(source) else source)
    except InvalidInput:
        raise
    except Exception as problem:
        kinds = "a path, an address, a data frame, an Arrow or an ibis table"
        raise InvalidInput(f"a log must be {kinds}, got {validation.short(source)}: {first_line(problem)}") from problem
    refuse_twins("the table", table.columns)
    return table


def _is_pandas(source: object) -> TypeGuard[pd.DataFrame]:
    return type(source).__module__.split(".")[0] == "pandas" and type(source).__name__ == "DataFrame"


def _arrow_columns(frame: pd.DataFrame) -> dict[str, pa.Array]:
    """Return the columns of a pandas data frame; raise if a column mixes numbers and text."""
    names = [str(name) for name in frame.columns]
    refuse_twins("the data frame", names)
    columns = {}
    for place, name in enumerate(names):
        column = frame.iloc[:, place]
        try:
            columns[name] = pa.array(column, from_pandas=True)
        except (pa.ArrowTypeError, pa.ArrowInvalid) as problem:
            kinds = {type(value).__name__: value for value in column.dropna()}
            examples = " and ".join(f"{value!r} ({kind})" for kind, value in list(kinds.items())[:2])
            raise InvalidInput(
                f"{name} must hold values of one kind, got {examples}: frame[{name!r}] = frame[{name!r}].astype(str)"
            ) from problem
    return columns


def is_files(source: object) -> TypeGuard[FilePath]:
    """Return whether a source is a file, a folder or a pattern, rather than a database or an object in memory."""
    return isinstance(source, str | os.PathLike) and not _has_tables(source)


def _is_database(source: object) -> TypeGuard[FilePath]:
    return isinstance(source, str | os.PathLike) and str(os.fspath(source)).lower().endswith(DATABASE)


def _has_tables(source: object) -> bool:
    return _is_database(source) or str(source).startswith(SERVERS)


def _table(connection: BaseBackend, name: str | None, where: str) -> ir.Table:
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


def _tables(connection: BaseBackend) -> list[str]:
    if connection.name == "duckdb":
        # ibis 12 looks them up under a name that DuckDB 2 no longer has
        return [name for (name,) in connection.con.execute("SHOW TABLES").fetchall()]
    return list(connection.list_tables())


@contextlib.contextmanager
def _duckdb(memory: str | None, database: FilePath | None = None) -> Iterator[BaseBackend]:
    # ibis writes lambdas as DuckDB 2 takes them only on request
    settings: dict[str, Any] = {"preserve_insertion_order": False, "lambda_syntax": "ENABLE_SINGLE_ARROW"}
    if memory is not None:
        if not re.fullmatch(r"\d+(\.\d+)?\s*[KMGT]i?B", memory):
            raise InvalidInput(f"memory must be like 500MB or 4GB, got {memory!r}")
        settings["memory_limit"] = memory
    spill = tempfile.mkdtemp(prefix="slotwise-")
    try:
        if database is not None and not Path(database).is_file():
            raise UnreadableFile(f"there is no file {database}")
        if database is not None and _begins_with(database, b"SQLite format 3"):
            raise UnreadableFile(
                f"{database} is a SQLite database, not DuckDB's: write the table as CSV, as in sqlite3 -csv -header "
                f"{database} 'SELECT * FROM clicks' > clicks.csv"
            )
        try:
            connection = ibis.duckdb.connect(
                *([database] if database is not None else []),
                **({"read_only": True} if database is not None else {}),
                temp_directory=spill,
                **settings,
            )
        except Exception as problem:
            raise UnreadableFile(f"{database} cannot be opened: {first_line(problem)}") from problem
        try:
            yield connection
        finally:
            connection.disconnect()
    finally:
        shutil.rmtree(spill, ignore_errors=True)


def _begins_with(file: FilePath, magic: bytes) -> bool:
    with open(file, "rb") as stream:
        return stream.read(len(magic)) == magic


@contextlib.contextmanager
def _postgresql(address: str) -> Iterator[BaseBackend]:
    shown = without_password(address)
    try:
        connection = ibis.postgres.connect(**_parts(address))
    except ImportError:
        raise MissingExtra("a PostgreSQL table", "logs") from None
    except Exception as problem:
        raise UnreadableFile(f"{shown} cannot be reached: {first_line(problem)}") from None
    try:
        yield connection
    finally:
        connection.disconnect()


def _parts(address: str) -> dict[str, Any]:
    """The parts of an address as libpq reads it, under the names that ibis gives them."""
    from psycopg.conninfo import conninfo_to_dict

    given = {name: value for name, value in conninfo_to_dict(address).items() if value is not None}
    ibis_names = {"dbname": "database", "user": "user", "password": "password", "host": "host"}
    parts: dict[str, Any] = {ibis_names[name]: given.pop(name) for name in list(ibis_names) if name in given}
    if "port" in given:
        parts["port"] = int(given.pop("port"))
    return parts | given
