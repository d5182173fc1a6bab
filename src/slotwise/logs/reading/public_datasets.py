"""Public click datasets: recognised by the content of a file, and read into a table with the columns of a log.

- `yandex`: the sessions of Yandex' relevance prediction challenge, a line per query or click with tabs in between
  (`SessionID TimePassed Q QueryID RegionID URL …` and `SessionID TimePassed C URL`), or the short form in which
  records `query TAB url,url,… : clicked , clicked` end in a semicolon. Every query is a placement.
- `open-bandit`: CSV files of the Open Bandit Dataset, one shown item a row with its position, click and propensity.
  Rows are not tied into pages there, so that each is an impression of one filled slot.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from slotwise.core.errors import InvalidInput, UnknownName, UnreadableFile
from slotwise.logs.reading.columns import Columns

#: how much of a file is looked at
HEAD = 4096
_RECORD = re.compile(r"\s*(\S+)\t([^\s:;]+)\s*:([^:;]*)")
_LINE = re.compile(r"\d+\t\d+\t(Q\t\d+\t\d+\t\d+|C\t\d+)")
#: of an Open Bandit file, in the order of the columns of a long log
OPEN_BANDIT = ("position", "item_id", "click", "propensity_score")


def recognised(path: str | os.PathLike[str]) -> str | None:
    """The format of a file, if it is one of `FORMATS`."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            head = file.read(HEAD)
    except (OSError, TypeError, ValueError):
        return None
    if _LINE.match(head) or _RECORD.match(head):
        return "yandex"
    names = {name.strip(' "') for name in head.partition("\n")[0].split(",")}
    return "open-bandit" if names.issuperset(OPEN_BANDIT) else None


def load(path: str | os.PathLike[str], format: str) -> tuple[pa.Table, Columns]:
    """Return a file of this format as a table, and its columns, as `slotwise.logs.fit_placements` takes them."""
    if format not in FORMATS:
        raise UnknownName("format", format, sorted(FORMATS))
    if not Path(path).is_file():
        raise UnreadableFile(f"there is no file {path}")
    try:
        return FORMATS[format](Path(path))
    except (OSError, UnicodeDecodeError, pa.ArrowException) as problem:
        raise UnreadableFile(f"{path} cannot be read as {format}: {problem}") from problem


def _yandex(path: Path) -> tuple[pa.Table, Columns]:
    text = path.read_text(encoding="utf-8")
    pages = list(_of_lines(path, text.splitlines()) if _LINE.match(text) else _of_records(path, text))
    if not pages:
        raise InvalidInput(f"{path} holds no session")
    query, items, clicked = zip(*pages, strict=True)
    strings = pa.list_(pa.string())
    table = pa.table({"query": query, "items": pa.array(items, strings), "clicked": pa.array(clicked, strings)})
    return table, Columns(item="items", placement="query")


def _of_records(path: Path, text: str) -> Iterator[tuple[str, list[str], list[str]]]:
    for number, record in enumerate(text.split(";"), start=1):
        if not record.strip():
            continue
        match = _RECORD.fullmatch(record)
        if match is None:
            got = repr(record.strip()[:80])
            raise InvalidInput(f"{path}, record {number}: expected query, tab, documents, colon and clicks, got {got}")
        query, shown, clicked = match.groups()
        yield query, shown.split(","), _once(document.strip() for document in clicked.split(",") if document.strip())


def _of_lines(path: Path, lines: Iterable[str]) -> Iterator[tuple[str, list[str], list[str]]]:
    """A page for each query; a click belongs to the last query of its session that showed the clicked item."""
    session, pages = None, list[tuple[str, list[str], list[str]]]()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        fields = line.split("\t")
        is_query = len(fields) > 5 and fields[2] == "Q"
        if not is_query and not (len(fields) == 4 and fields[2] == "C"):
            raise InvalidInput(f"{path}, line {number}: expected a query (Q) or a click (C), got {line[:80]!r}")
        if fields[0] != session:
            yield from ((query, shown, _once(clicked)) for query, shown, clicked in pages)
            session, pages = fields[0], []
        if is_query:
            pages.append((fields[3], [each for each in fields[5:] if each], []))
        elif pages:
            page = next((each for each in reversed(pages) if fields[3] in each[1]), pages[-1])
            page[2].append(fields[3])
    yield from ((query, shown, _once(clicked)) for query, shown, clicked in pages)


def _once(clicked: Iterable[str]) -> list[str]:
    """In the order of their first clicks."""
    return list(dict.fromkeys(clicked))


def _open_bandit(path: Path) -> tuple[pa.Table, Columns]:
    text = dict.fromkeys(OPEN_BANDIT, pa.string())
    options = csv.ConvertOptions(include_columns=list(OPEN_BANDIT), column_types=text)
    table = csv.read_csv(path, convert_options=options)
    rows = table.append_column("row", pa.array(range(1, len(table) + 1)))
    slot, item, clicked, propensity = OPEN_BANDIT
    return rows, Columns(impression="row", slot=slot, item=item, clicked=clicked, item_propensity=propensity)


#: by name, what reads them
FORMATS = {"yandex": _yandex, "open-bandit": _open_bandit}
