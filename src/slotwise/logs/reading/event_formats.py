"""Search and shop events as their trackers write them, turned into rows of shown items.

- `ubi`: User Behavior Insights, events and queries in one file or in several: lines of JSON, with or without the action
  lines of a bulk request, documents below `_source`, or Parquet; or the address of a search server.
- `ga4`: Google Analytics 4 as exported to BigQuery, in JSON or Parquet.

Queries that differ by case or blanks only are one query. Later events, such as a purchase, count as clicks.
"""

from __future__ import annotations

import glob
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import duckdb
import ibis
import ibis.expr.types as ir

from slotwise.core.errors import InvalidInput, UnreadableFile
from slotwise.logs.reading.columns import Columns
from slotwise.logs.reading.event_tables import EventKinds, EventValues, count
from slotwise.logs.reading.ga4_events import read_ga4
from slotwise.logs.reading.search_server import Progress, download_events, is_search_server
from slotwise.logs.reading.ubi_events import read_ubi

ENDINGS = (".ndjson", ".jsonl", ".json", ".parquet")
#: by name, how events are read, and the action that shows documents
EVENT_FORMATS = {"ubi": (read_ubi, "impression"), "ga4": (read_ga4, "view_item_list")}
EVENT_RULES: Mapping[str, str] = {
    "events_without_query": "events without a query id or a visitor: left out, they belong to no page",
    "other_events": "events of other kinds: ignored",
    "clicks_without_impression": "clicks on something that no impression of the page shows: left out",
    "later_without_impression": "carts, purchases and other later events that no click and no impression explains: "
    "left out",
    "early_clicks": "clicks with a time before their query: kept, since they name their page",
    "clicks_before_page": "clicks with a time before every page that shows the item to this visitor: left out",
    "positions_by_order": "items without a position: taken from their order in the event",
    "merged_queries": "spellings of queries that differ by case or blanks only: taken as one query",
    "ambiguous_queries": "query ids with several queries: left out, it is not known which one was asked",
}


class EventLog(NamedTuple):
    """Events as a long log: its rows, their columns, how often each rule was applied, and the weights of events."""

    rows: ir.Table
    columns: Columns
    findings: dict[str, int]
    weights: dict[str, float]


def load_events(
    path: str, format: str, values: EventValues | None = None, progress: Progress = lambda _: None
) -> EventLog:
    """Read events; with `values`, the log has a column of what the events of a document are worth."""
    connection = ibis.duckdb.connect(preserve_insertion_order=False, lambda_syntax="ENABLE_SINGLE_ARROW")
    read, shown = EVENT_FORMATS[format]
    with ExitStack() as stack:
        if is_search_server(path):
            if format != "ubi":
                raise InvalidInput(f"a search server has events of the format ubi, got {format}")
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="slotwise-"))
            files = download_events(path, Path(folder), progress)
        else:
            files = _files(path)
        try:
            findings, weights = read(connection.con, files, path, EventKinds(shown, values))
        except duckdb.Error as problem:
            line = str(problem).strip().splitlines()[0]
            raise UnreadableFile(f"{path} cannot be read as {format}: {line}") from problem
        except RuntimeError as problem:
            if "interrupted" in str(problem):
                # this is how DuckDB reports Ctrl-C
                raise KeyboardInterrupt from None
            raise
    if not count(connection.con, "SELECT count(*) FROM log WHERE query IS NOT NULL"):
        raise InvalidInput(f"{path} has no page with a query: {_text(findings)}")
    for (name,) in connection.con.execute(
        "SELECT table_name FROM duckdb_tables() WHERE table_name != 'log'"
    ).fetchall():
        # the memory is needed to count
        connection.con.execute(f"DROP TABLE {name}")
    columns = Columns(placement="query", order="click_time", value="value" if weights else None)
    return EventLog(connection.table("log"), columns, findings, weights)


def _text(findings: Mapping[str, int]) -> str:
    found = [f"{number:,} {EVENT_RULES[rule]}" for rule, number in findings.items() if number]
    return "; ".join(found) or "no event names one"


def _files(path: str) -> list[str]:
    place = Path(path)
    names = sorted(map(str, place.rglob("*"))) if place.is_dir() else sorted(glob.glob(path))
    files = [name for name in names if name.removesuffix(".gz").endswith(ENDINGS)] if place.is_dir() else names
    if not files:
        raise UnreadableFile(f"there is no file {path}, or none that ends in {', '.join(ENDINGS)}")
    return files
