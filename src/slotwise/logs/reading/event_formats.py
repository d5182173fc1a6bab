"""Search and shop events as their trackers write them, turned into rows of shown items.

- `ubi`: User Behavior Insights (https://github.com/o19s/ubi, schema 1.3), events and queries in one file or in several:
  lines of JSON, with or without the action lines of a bulk request, documents below `_source`, or Parquet. A page is a
  `query_id`; its documents are the events `impression`, or if there are none the `query_response_hit_ids` of the query.
  If an application has the `position.ordinal` 0, it counts from 0.
- `ga4`: Google Analytics 4 as exported to BigQuery: `view_item_list` shows the items of a page, and `select_item` is a
  click, of the last page before it that showed the item to this user in this list. The query is the parameter
  `search_term`, or else the list.

Queries that differ by case or blanks only are one query. Later events, such as a purchase, count as clicks.
"""

from __future__ import annotations

import glob
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import ibis
import ibis.expr.types as ir

from slotwise.core.errors import InvalidInput, UnreadableFile
from slotwise.logs.reading.columns import Columns

ENDINGS = (".ndjson", ".jsonl", ".json", ".parquet")
COLUMNS = Columns(placement="query", order="click_time")
#: the largest object of a file of JSON, in bytes
MAX_OBJECT = 64 * 2**20
UBI_CLICKS = ("click", "click_through", "add_to_cart", "purchase")
GA4_CLICKS = ("select_item", "add_to_cart", "purchase")
_UBI_TEXT = ("action_name", "query_id", "user_query", "timestamp", "application")
_UBI_NESTED = {
    "event_attributes": 'STRUCT("object" STRUCT(object_id VARCHAR), "position" STRUCT(ordinal VARCHAR))',
    "query_response_hit_ids": "VARCHAR[]",
}
_GA4_TEXT = ("event_name", "event_timestamp", "user_pseudo_id")
_GA4_NESTED = {
    "event_params": 'STRUCT("key" VARCHAR, "value" STRUCT(string_value VARCHAR, int_value VARCHAR))[]',
    "items": "STRUCT(item_id VARCHAR, item_list_id VARCHAR, item_list_name VARCHAR, item_list_index VARCHAR)[]",
}

#: one spelling of a query: lower case, single blanks
_ONE_SPELLING = "nullif(trim(regexp_replace(lower({}), '\\s+', ' ', 'g')), '')"
#: seconds, from a time or from a number of seconds or milliseconds
_SECONDS = """coalesce(epoch(try_cast({0} AS TIMESTAMPTZ)),
    CASE WHEN try_cast({0} AS DOUBLE) > 1e11 THEN try_cast({0} AS DOUBLE) / 1e3 ELSE try_cast({0} AS DOUBLE) END)"""


def load_events(path: str, format: str) -> tuple[ir.Table, Columns, dict[str, int]]:
    """Return events as a long log, the names of its columns, and how often each rule for events was applied."""
    files = _files(path)
    connection = ibis.duckdb.connect(preserve_insertion_order=False, lambda_syntax="ENABLE_SINGLE_ARROW")
    run = connection.con
    try:
        findings = (_ubi if format == "ubi" else _ga4)(run, files, path)
        findings["merged_queries"] = _number(run, "SELECT count(DISTINCT spelling) - count(DISTINCT query) FROM texts")
    except duckdb.Error as problem:
        line = str(problem).strip().splitlines()[0]
        raise UnreadableFile(f"{path} cannot be read as {format}: {line}") from problem
    if not _number(run, "SELECT count(*) FROM log"):
        raise InvalidInput(f"{path} has no page with a query: {findings}")
    return connection.table("log"), COLUMNS, findings


def _files(path: str) -> list[str]:
    place = Path(path)
    names = sorted(map(str, place.rglob("*"))) if place.is_dir() else sorted(glob.glob(path))
    files = [name for name in names if name.removesuffix(".gz").endswith(ENDINGS)] if place.is_dir() else names
    if not files:
        raise UnreadableFile(f"there is no file {path}, or none that ends in {', '.join(ENDINGS)}")
    return files


def _read(run: Any, files: list[str], text: tuple[str, ...], nested: Mapping[str, str]) -> None:
    """Make a view `raw` of all files, with columns of text and nested ones of these types."""
    types = {**dict.fromkeys(text, "VARCHAR"), **nested}
    parquet = [file for file in files if file.endswith(".parquet")]
    parts = []
    if parquet:
        view = f"read_parquet({parquet!r}, union_by_name=true)"
        there = {row[0] for row in run.execute(f"DESCRIBE FROM {view}").fetchall()}
        columns = [f"CAST({name if name in there else 'NULL'} AS {kind}) AS {name}" for name, kind in types.items()]
        parts.append(f"SELECT {', '.join(columns)} FROM {view}")
    lines = [file for file in files if file not in parquet]
    if lines:
        # a hit of a search has the document below _source
        whole = f"STRUCT({', '.join(f'{name} {kind}' for name, kind in types.items())})"
        columns = [f"coalesce({name}, _source.{name}) AS {name}" for name in types]
        options = f"columns={types | {'_source': whole}!r}, maximum_object_size={MAX_OBJECT}"
        parts.append(f"SELECT {', '.join(columns)} FROM read_json({lines!r}, {options})")
    run.execute(f"CREATE VIEW raw AS {' UNION ALL '.join(parts)}")


def _ubi(run: Any, files: list[str], path: str) -> dict[str, int]:
    _read(run, files, _UBI_TEXT, _UBI_NESTED)
    run.execute(f"""
        CREATE TABLE events AS SELECT action_name AS action, user_query AS spelling, application,
            CASE WHEN trim(query_id) != '' THEN (hash(trim(query_id)) >> 1)::BIGINT END AS page,
            {_SECONDS.format("timestamp")} AS time,
            nullif(event_attributes.object.object_id, '') AS item,
            try_cast(event_attributes.position.ordinal AS BIGINT) AS slot,
            CASE WHEN action_name IS NULL THEN query_response_hit_ids END AS hits
        FROM raw WHERE action_name IS NOT NULL OR user_query IS NOT NULL""")
    run.execute(f"""
        CREATE TABLE texts AS SELECT page, any_value(spelling) AS spelling,
            {_ONE_SPELLING.format("any_value(spelling)")} AS query
        FROM events WHERE page IS NOT NULL AND spelling IS NOT NULL GROUP BY page""")
    if _number(run, "SELECT count(*) FROM events WHERE action = 'impression' AND page IS NOT NULL"):
        shown = """SELECT page, item, slot + (min(slot) OVER (PARTITION BY application) = 0)::BIGINT AS slot, time
            FROM events WHERE action = 'impression' AND page IS NOT NULL"""
    else:
        shown = """SELECT page, unnest(hits) AS item, generate_subscripts(hits, 1) AS slot, time
            FROM events WHERE len(hits) > 0 AND page IS NOT NULL"""
    run.execute(f"CREATE TABLE shown AS {shown}")
    if not _number(run, "SELECT count(*) FROM shown"):
        raise InvalidInput(
            f"{path} does not say what was shown: UBI has events with the action_name impression, or queries with "
            "query_response_hit_ids"
        )
    run.execute(f"""CREATE TABLE clicks AS SELECT page, item, min(time) AS click_time FROM events
        WHERE action IN {UBI_CLICKS} AND page IS NOT NULL GROUP BY page, item""")
    return _joined(run) | {
        "events_without_query": _number(
            run, f"SELECT count(*) FROM events WHERE page IS NULL AND action IN {('impression', *UBI_CLICKS)}"
        ),
        "other_events": _number(run, f"SELECT count(*) FROM events WHERE action NOT IN {('impression', *UBI_CLICKS)}"),
    }


def _ga4(run: Any, files: list[str], path: str) -> dict[str, int]:
    _read(run, files, _GA4_TEXT, _GA4_NESTED)
    run.execute("""
        CREATE TABLE events AS SELECT event_name AS action, user_pseudo_id AS visitor,
            try_cast(event_timestamp AS DOUBLE) / 1e6 AS time,
            event_params AS params, items,
            list_filter(params, p -> p.key = 'search_term')[1].value.string_value AS term,
            list_filter(params, p -> p.key = 'ga_session_id')[1].value.int_value AS session,
            list_filter(params, p -> p.key = 'item_list_id')[1].value.string_value AS list
        FROM raw WHERE event_name IS NOT NULL""")
    run.execute("""
        CREATE TABLE pages AS SELECT row_number() OVER () AS number, *,
            (hash(visitor, session, time, list, term) >> 1)::BIGINT AS page
        FROM events WHERE action = 'view_item_list' AND visitor IS NOT NULL""")
    run.execute("""
        CREATE TABLE shown AS SELECT page, visitor, session, term, time, each.item_id AS item,
            coalesce(each.item_list_id, list, each.item_list_name) AS list,
            coalesce(try_cast(each.item_list_index AS BIGINT), place) AS slot,
            each.item_list_index IS NULL AS unplaced
        FROM (SELECT *, unnest(items) AS each, generate_subscripts(items, 1) AS place FROM pages)""")
    if not _number(run, "SELECT count(*) FROM shown"):
        raise InvalidInput(f"{path} does not say what was shown: GA4 has events view_item_list with items")
    run.execute(f"""
        CREATE TABLE texts AS SELECT page, any_value(coalesce(term, list)) AS spelling,
            {_ONE_SPELLING.format("any_value(coalesce(term, list))")} AS query FROM shown GROUP BY page""")
    run.execute(f"""
        CREATE TABLE selected AS SELECT visitor, session, time, unnest(items).item_id AS item
        FROM events WHERE action IN {GA4_CLICKS} AND visitor IS NOT NULL""")
    run.execute("""
        CREATE TABLE joined AS SELECT selected.*, shown.page FROM selected ASOF LEFT JOIN shown
        ON selected.visitor = shown.visitor AND selected.session IS NOT DISTINCT FROM shown.session
            AND selected.item = shown.item AND selected.time >= shown.time""")
    run.execute("""CREATE TABLE clicks AS SELECT page, item, min(time) AS click_time FROM joined
        WHERE page IS NOT NULL GROUP BY page, item""")
    known = ("view_item_list", *GA4_CLICKS)
    return _joined(run) | {
        "clicks_without_impression": _number(run, "SELECT count(*) FROM joined WHERE page IS NULL"),
        "events_without_query": _number(
            run, f"SELECT count(*) FROM events WHERE visitor IS NULL AND action IN {known}"
        ),
        "positions_by_order": _number(run, "SELECT count(*) FROM shown WHERE unplaced"),
        "other_events": _number(run, f"SELECT count(*) FROM events WHERE action NOT IN {known}"),
    }


def _joined(run: Any) -> dict[str, int]:
    """Make the table `log` of what was shown, with the clicks on it, and count clicks that were not shown."""
    run.execute("""
        CREATE TABLE log AS SELECT page AS impression, query, item, slot,
            click_time IS NOT NULL AS clicked, click_time, time
        FROM shown LEFT JOIN clicks USING (page, item) LEFT JOIN texts USING (page)""")
    lost = "SELECT count(*) FROM clicks ANTI JOIN shown USING (page, item)"
    early = "SELECT count(*) FROM log WHERE click_time < time"
    return {"clicks_without_impression": _number(run, lost), "early_clicks": _number(run, early)}


def _number(run: Any, query: str) -> int:
    ((value,),) = run.execute(query).fetchall()
    return int(value)


#: what `load_events` reads, and the rules for events by name
EVENT_FORMATS = ("ubi", "ga4")
EVENT_RULES: Mapping[str, str] = {
    "events_without_query": "events without a query id or a visitor: left out, they belong to no page",
    "other_events": "events of other kinds: ignored",
    "clicks_without_impression": "clicks on something that no impression of the page shows: left out",
    "early_clicks": "clicks with a time before their page: kept, since they name their page",
    "positions_by_order": "items without a position: taken from their order in the event",
    "merged_queries": "spellings of queries that differ by case or blanks only: taken as one query",
}
