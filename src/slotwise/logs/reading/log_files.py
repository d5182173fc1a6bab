"""Logs in files: which files those are, and how both engines read them the same way."""

from __future__ import annotations

import functools
import glob
import os
from collections.abc import Iterable
from pathlib import Path

import ibis
import ibis.expr.types as ir
from ibis.backends import BaseBackend

from slotwise.core.errors import InvalidInput, SlotwiseError, UnreadableFile
from slotwise.logs.reading.file_sniffing import ENDINGS, FileHead, contents_of, is_log, what_is_wrong


def read_files(connection: BaseBackend, pattern: str, *, name: str = "slotwise_log") -> ir.Table:
    """Parquet or text: a file, a folder, a pattern, or an address that the engine knows.

    `name` is what Spark calls the view of them.
    """
    files = matching(pattern)
    # files that are read the same way are read together
    groups: dict[FileHead, list[str]] = {}
    for file in files:
        groups.setdefault(contents_of(file), []).append(file)
    kinds = {head.kind: Path(group[0]).name for head, group in groups.items()}
    if len(kinds) > 1:
        names = " and ".join(sorted(kinds.values()))
        raise InvalidInput(f"the files of a log must be of one kind, got {names} in {pattern}")
    try:
        if connection.name == "duckdb":
            table = _read_by_duckdb(connection, groups)
            if not {name for head in groups for name in head.names} <= set(table.columns):
                # it has passed over the header for a row of more values
                fault = what_is_wrong(files)
                if fault is not None:
                    raise UnreadableFile(f"{pattern} cannot be read: {fault}")
            return table
        return _read_by_spark(connection, groups, name)
    except SlotwiseError:
        raise
    except Exception as problem:
        raise UnreadableFile(f"{pattern} cannot be read: {what_is_wrong(files) or first_line(problem)}") from problem


def refuse_partial(pattern: str, names: Iterable[str]) -> None:
    """Raise if only some files have a column: the others would count as missing values."""
    columns = {file: contents_of(file).names for file in matching(pattern) if "://" not in file}
    for name in names:
        lacking = [file for file, there in columns.items() if name not in there]
        if 0 < len(lacking) < len(columns):
            raise InvalidInput(
                f"{name} must be a column of every file of the log, got none in {Path(lacking[0]).name} "
                f"({len(lacking):,} of {len(columns):,} files): rename it there, or leave such files out by a pattern"
            )


def _read_by_duckdb(connection: BaseBackend, groups: dict[FileHead, list[str]]) -> ir.Table:
    if next(iter(groups)).kind == "parquet":
        return connection.read_parquet([file for group in groups.values() for file in group], union_by_name=True)
    return functools.reduce(
        _with_rows_of,
        [
            # nothing is left to guessing: an item 007 is not an item 7, and a row that begins with # is a row
            connection.read_csv(
                group,
                all_varchar=True,
                header=True,
                delim=head.separator,
                quote='"',
                escape='"',
                comment="",
                union_by_name=True,
                **({} if "://" in group[0] else {"compression": head.compression or "none"}),
            )
            for head, group in groups.items()
        ],
    )


def _with_rows_of(first: ir.Table, other: ir.Table) -> ir.Table:
    """All rows of both, each with all columns of both."""
    names = list(dict.fromkeys([*first.columns, *other.columns]))
    both = [
        table.select(**{name: table[name] if name in table.columns else ibis.null("string") for name in names})
        for table in (first, other)
    ]
    return both[0].union(both[1])


def _read_by_spark(connection: BaseBackend, groups: dict[FileHead, list[str]], name: str) -> ir.Table:
    reader = connection._session.read
    if next(iter(groups)).kind == "parquet":
        frame = reader.option("mergeSchema", "true").parquet(*(file for group in groups.values() for file in group))
    else:
        frames = []
        # Spark takes the first file's columns for those of all files: those of each order of columns are read together
        for head, group in groups.items():
            _refuse_wrong_endings(head, group)
            frames.append(
                # a row of too many or too few values is an error, as it is for DuckDB
                reader.csv(
                    group,
                    header=True,
                    sep=head.separator,
                    quote='"',
                    escape='"',
                    multiLine=True,
                    enforceSchema=False,
                    mode="FAILFAST",
                )
            )
        frame = functools.reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), frames)
    frame.createOrReplaceTempView(name)
    return connection.table(name)


def _refuse_wrong_endings(head: FileHead, files: list[str]) -> None:
    """Spark knows how a file is compressed by its name alone."""
    wanted = {"gzip": ".gz", "zstd": ".zst", None: ""}[head.compression]
    for file in files:
        ending = next((suffix for suffix in (".gz", ".zst") if file.lower().endswith(suffix)), "")
        if "://" not in file and ending != wanted:
            remedy = f"it is compressed: rename it to end in {wanted}" if wanted else f"it is not: remove the {ending}"
            raise InvalidInput(f"Spark takes {file} for what it is called, and {remedy}, or use the engine duckdb")


def matching(pattern: str) -> list[str]:
    """The files of a path, a folder (and those below it) or a pattern, in order."""
    if not pattern:
        raise UnreadableFile("the log must be a file, a folder, a pattern or an address, got ''")
    if "://" in pattern:
        # s3://, hdfs://: the engine knows
        return [pattern]
    path = Path(pattern)
    if path.is_dir():
        return _in_folder(pattern)
    if path.exists():
        return [pattern]
    files = [file for file in glob.glob(pattern, recursive=True) if os.path.isfile(file)]
    if not files:
        raise UnreadableFile(f"there is no file {pattern}")
    return sorted(files)


def _in_folder(folder: str) -> list[str]:
    """The log's files in a folder and those below it; refuses a folder in which there are others."""
    every = sorted(
        os.path.join(where, name)
        for where, _, names in os.walk(folder)
        for name in names
        # files that Spark and editors add to a folder
        if not name.startswith(("_", "."))
    )
    logs = [file for file in every if is_log(file)]
    if not logs:
        raise UnreadableFile(f"the folder {folder} has no {', '.join(ENDINGS)} files")
    if len(logs) < len(every):
        others = [os.path.relpath(file, folder) for file in every if file not in set(logs)]
        raise InvalidInput(
            f"the folder {folder} has files that are no part of a log, such as {others[0]} ({len(others):,} of "
            f"{len(every):,}): name those to read by a pattern, as in '{os.path.join(folder, '**', '*.csv')}'"
        )
    return logs


def first_line(problem: BaseException) -> str:
    """Return the first line of an error."""
    return str(problem).strip().splitlines()[0] if str(problem).strip() else type(problem).__name__
