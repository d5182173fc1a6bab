"""Detect the format of a log file by its content, and the fault of a file that an engine cannot read."""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from slotwise.core.errors import InvalidInput, UnreadableFile

PARQUET = (".parquet", ".pq")
TEXT = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")
ENDINGS = PARQUET + TEXT
#: what compressed files begin with
COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
#: bytes read from a file to find its header
HEAD = 1 << 16


class FileHead(NamedTuple):
    """How a file is to be read."""

    #: parquet or text
    kind: str
    #: gzip, zstd, or None
    compression: str | None = None
    #: the columns, and the separator of a text file
    names: tuple[str, ...] = ()
    separator: str = ","


def is_log(file: str) -> bool:
    """Whether a file in a folder is one of the log's: by its ending, or because it is Parquet or compressed."""
    start = _start(file)
    return file.lower().endswith(ENDINGS) or start.startswith((b"PAR1", *COMPRESSED))


def contents_of(file: str) -> FileHead:
    """Return how to read a file; raise with a remedy if it is no log."""
    ending = next((suffix for suffix in ENDINGS if file.lower().endswith(suffix)), None)
    unknown = InvalidInput(f"a log must be a {', '.join(ENDINGS)} file or a database, got {file}")
    if "://" in file:
        # only the engine can look into it
        if ending is None:
            raise unknown
        return FileHead("parquet" if ending in PARQUET else "text")
    start = _start(file)
    if not start:
        raise UnreadableFile(f"{file} is empty: a log has a header and at least one row")
    if start.startswith(b"PAR1"):
        names = pq.read_schema(file).names if _is_whole_parquet(file) else []
        refuse_twins(Path(file).name, names)
        return FileHead("parquet", names=tuple(names))
    no_parquet = UnreadableFile(f"{file} cannot be read: it is not Parquet, it begins with {start[:16]!r}")
    if ending in PARQUET and not start.startswith(tuple(COMPRESSED)) and not _is_text(start):
        raise no_parquet
    if start.lstrip(b"\xef\xbb\xbf \r\n\t").startswith((b"{", b"[")):
        raise UnreadableFile(
            f'{file} is JSON: make it Parquet, as in python -c "import duckdb; duckdb.sql(\\"COPY (FROM read_json('
            f"'{file}')) TO 'log.parquet'\\\")\""
        )
    if start.startswith(b"PK\x03\x04"):
        raise UnreadableFile(f"{file} is a ZIP archive or an Excel file: unpack it, or save it as CSV in UTF-8")
    compression = next((name for magic, name in COMPRESSED.items() if start.startswith(magic)), None)
    if compression is None and ending is None:
        raise unknown
    head = _text(file, compression)
    # text, but no table
    if ending in PARQUET and len(head.names) == 1:
        raise no_parquet
    return head


def what_is_wrong(files: Iterable[str]) -> str | None:
    """The first line of text files that no engine can read, and what to do about it; None if there is no such line."""
    for file in files:
        if "://" not in file and not _start(file).startswith(b"PAR1"):
            fault = _fault(file, contents_of(file))
            if fault:
                return f"{Path(file).name}, {fault}"
    return None


def _text(file: str, compression: str | None) -> FileHead:
    try:
        with pa.input_stream(file, compression=compression) as stream:
            head = stream.read(HEAD)
    except (OSError, pa.ArrowException) as problem:
        raise UnreadableFile(f"{file} cannot be read: {problem}") from problem
    if head.startswith(UTF_16) or b"\0" in head:
        raise UnreadableFile(
            f"{file} is UTF-16 or not text at all, and a log must be UTF-8: iconv -f UTF-16 -t UTF-8 {file} > new.csv"
        )
    first = str(head.decode("utf-8-sig", errors="replace")).lstrip().partition("\n")[0].strip()
    if not first:
        raise UnreadableFile(f"{file} is empty: a log has a header and at least one row")
    # the one that the header has most of
    separator = max(",;\t|", key=first.count)
    names = tuple(next(csv.reader([first], delimiter=separator)))
    refuse_twins(Path(file).name, names)
    return FileHead("text", compression, names, separator)


def refuse_twins(what: str, names: Iterable[str]) -> None:
    """Raise if columns have the same name: an engine would silently take one of them."""
    listed = [name for name in names if name.strip()]
    count = Counter(name.casefold() for name in listed)
    twins = [name for name in listed if count[name.casefold()] > 1]
    if twins:
        same = [name for name in twins if name.casefold() == twins[0].casefold()]
        raise InvalidInput(
            f"{what} has {len(same)} columns that are called {' and '.join(map(repr, same))} (case makes no "
            f"difference): rename or remove all but one{hint_of_header(listed)}"
        )


def hint_of_header(names: Iterable[str]) -> str:
    """A question, if what should be names of columns looks like a row of values; else nothing.

    >>> hint_of_header(["1", "2", "tea", "0"]), hint_of_header(["impression", "slot", "item", "clicked"])
    ('; is there no header above the first row?', '')
    """
    is_number = any(name.strip().replace(".", "", 1).isdecimal() for name in names)
    return "; is there no header above the first row?" if is_number else ""


def _fault(file: str, head: FileHead) -> str | None:
    """Return the fault of the first malformed line."""
    with pa.input_stream(file, compression=head.compression) as stream, io.BufferedReader(stream) as lines:
        rows = csv.reader(_decoded(lines), delimiter=head.separator, strict=True)
        try:
            for row in rows:
                if row and len(row) != len(head.names):
                    header = head.separator.join(head.names)[:80]
                    return (
                        f"line {rows.line_num}: {len(row)} values where the header has {len(head.names)} "
                        f"({head.separator.join(row)[:80]}). Put values that hold {head.separator!r} or a quote into "
                        f"double quotes; and {header!r} must be the header"
                    )
        except UnicodeDecodeError as problem:
            return (
                f"line {rows.line_num + 1}: not UTF-8 ({problem.object[problem.start]:#x} in it). If it is Latin-1: "
                f"iconv -f ISO-8859-1 -t UTF-8 {Path(file).name} > new.csv"
            )
        except csv.Error as problem:
            return f"line {rows.line_num}: {problem}. Is a quote open that is never closed?"
        except OSError as problem:
            return f"it ends too early or is damaged: {problem}"
    return None


def _decoded(lines: Iterable[bytes]) -> Iterator[str]:
    for line in lines:
        yield line.decode("utf-8-sig")


def _is_text(start: bytes) -> bool:
    """Whether a file that begins so may be a text file with a header."""
    return start.isascii() and start.decode().replace("\t", " ").replace("\r", "").replace("\n", "").isprintable()


def _start(file: str) -> bytes:
    with open(file, "rb") as stream:
        return stream.read(16)


def _is_whole_parquet(file: str) -> bool:
    """Return whether the last bytes of a Parquet file are present; if not, the engine reports the fault."""
    with open(file, "rb") as stream:
        stream.seek(-min(4, os.path.getsize(file)), os.SEEK_END)
        return stream.read() == b"PAR1"
