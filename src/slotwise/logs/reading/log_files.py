"""Logs in files: which files those are, and how both engines read them the same way."""

from __future__ import annotations

import functools
import glob
import os
from pathlib import Path
from typing import Any

import ibis.expr.types as ir
import pyarrow as pa

from slotwise.errors import InvalidInput, UnreadableFile

PARQUET = (".parquet", ".pq")
TEXT = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")


def read_files(connection: Any, pattern: str) -> ir.Table:
    """Parquet or text: a file, a folder, a pattern, or an address that the engine knows."""
    files = _matching(pattern)
    kinds = {_kind(file) for file in files}
    if len(kinds) > 1:
        names = " and ".join(sorted(Path(next(f for f in files if _kind(f) == kind)).name for kind in kinds))
        raise InvalidInput(f"the files of a log must be of one kind, got {names} in {pattern}")
    reader = _read_by_duckdb if connection.name == "duckdb" else _read_by_spark
    try:
        return reader(connection, files, kinds.pop())
    except Exception as problem:
        raise UnreadableFile(f"{pattern} cannot be read: {first_line(problem)}") from problem


def _read_by_duckdb(connection: Any, files: list[str], kind: str) -> ir.Table:
    if kind == "parquet":
        return connection.read_parquet(files, union_by_name=True)
    # nothing is left to guessing: an item 007 is not an item 7, and a row that begins with # is a row
    return connection.read_csv(
        files,
        all_varchar=True,
        header=True,
        delim=_separator(_header(files[0])),
        quote='"',
        escape='"',
        comment="",
        union_by_name=True,
    )


def _read_by_spark(connection: Any, files: list[str], kind: str) -> ir.Table:
    reader = connection._session.read
    if kind == "parquet":
        frame = reader.option("mergeSchema", "true").parquet(*files)
    else:
        # Spark takes the first file's columns for those of all files: read the files of each order of columns together
        groups: dict[str, list[str]] = {}
        for file in files:
            groups.setdefault(_header(file), []).append(file)
        frames = [
            reader.csv(
                group, header=True, sep=_separator(header), quote='"', escape='"', multiLine=True, enforceSchema=False
            )
            for header, group in groups.items()
        ]
        frame = functools.reduce(lambda one, more: one.unionByName(more, allowMissingColumns=True), frames)
    frame.createOrReplaceTempView("slotwise_log")
    return connection.table("slotwise_log")


def _header(file: str) -> str:
    """The first line. Only the engine can read it from an address, so there commas are assumed."""
    if "://" in file:
        return ""
    with pa.input_stream(file, compression="detect") as stream:
        return str(stream.read(1 << 16).decode("utf-8-sig", errors="replace")).partition("\n")[0].strip()


def _separator(header: str) -> str:
    """The separator that the header has most of."""
    return max(",;\t|", key=header.count)


def _matching(pattern: str) -> list[str]:
    """The files of a path, a folder (and those below it) or a pattern, in order."""
    if not pattern:
        raise UnreadableFile("the log must be a file, a folder, a pattern or an address, got ''")
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


def first_line(problem: BaseException) -> str:
    """What an error says first."""
    return str(problem).strip().splitlines()[0] if str(problem).strip() else type(problem).__name__
