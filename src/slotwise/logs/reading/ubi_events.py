"""User Behavior Insights (https://github.com/o19s/ubi, schema 1.3): the indices `ubi_queries` and `ubi_events`."""

from __future__ import annotations

from typing import Any

from slotwise.core.errors import InvalidInput
from slotwise.logs.reading.event_tables import ONE_SPELLING, SECONDS, EventKinds, count, join_clicks, read_events

TYPES = {
    **dict.fromkeys(("action_name", "query_id", "user_query", "timestamp", "application"), "VARCHAR"),
    "event_attributes": 'STRUCT("object" STRUCT(object_id VARCHAR), "position" STRUCT(ordinal VARCHAR))',
    "query_response_hit_ids": "VARCHAR[]",
}
#: the number of a page
PAGE = "CASE WHEN query_id != '' THEN (hash(query_id) >> 1)::BIGINT END"


def read_ubi(run: Any, files: list[str], path: str, kinds: EventKinds) -> tuple[dict[str, int], dict[str, float]]:
    """Make the table `log` of shown documents and clicks; return findings, and the weights of events.

    A page is a `query_id`; its documents are the events `impression`, or if there are none the
    `query_response_hit_ids` of the query. If an application has the `position.ordinal` 0, it counts from 0.
    """
    read_events(run, files, TYPES)
    # no time of an impression: it takes long to parse, and a click is compared with its query
    run.execute(f"""
        CREATE TABLE events AS SELECT {kinds.number_of("action_name")} AS kind, user_query AS spelling,
            hash(application) AS application,
            {PAGE} AS page,
            CASE WHEN kind = 0 THEN NULL ELSE {SECONDS.format("timestamp")} END AS time,
            nullif(event_attributes.object.object_id, '') AS item,
            try_cast(event_attributes.position.ordinal AS BIGINT) AS slot
        FROM raw WHERE action_name IS NOT NULL OR user_query IS NOT NULL""")
    run.execute(f"""
        CREATE TABLE spellings AS SELECT spelling, {ONE_SPELLING.format("spelling")} AS query
        FROM (SELECT DISTINCT spelling FROM events WHERE spelling IS NOT NULL AND page IS NOT NULL)""")
    run.execute("""
        CREATE TABLE texts AS SELECT page, min(spelling) AS spelling, min(query) AS first, max(query) AS last,
            CASE WHEN first = last THEN first END AS query, min(time) AS time
        FROM events JOIN spellings USING (spelling) WHERE page IS NOT NULL GROUP BY page""")
    run.execute(f"CREATE VIEW shown AS {_shown(run)}")
    if not count(run, "SELECT count(*) FROM (FROM shown LIMIT 1)"):
        raise InvalidInput(
            f"{path} does not say what was shown: UBI has events with the action_name impression and a query_id, or "
            "queries with query_response_hit_ids"
        )
    run.execute("""CREATE TABLE clicks AS SELECT page, item, bit_or(1 << kind) AS kinds, min(time) AS click_time
        FROM events WHERE kind > 0 AND page IS NOT NULL GROUP BY page, item""")
    findings, weights = join_clicks(run, kinds, path)
    without, other = run.execute(
        "SELECT count(*) FILTER (page IS NULL AND kind >= 0), count(*) FILTER (kind < 0) FROM events"
    ).fetchone()
    early = "SELECT count(*) FROM clicks JOIN texts USING (page) WHERE click_time < time"
    return {
        "events_without_query": without,
        "other_events": other,
        **findings,
        "early_clicks": count(run, early),
        "ambiguous_queries": count(run, "SELECT count(*) FROM texts WHERE first < last"),
    }, weights


def _shown(run: Any) -> str:
    """Return the query of page, item and slot."""
    impressions = "FROM events WHERE kind = 0 AND page IS NOT NULL"
    firsts = run.execute(f"SELECT application, min(slot) {impressions} GROUP BY ALL").fetchall()
    if not firsts:
        return f"""SELECT {PAGE} AS page, unnest(query_response_hit_ids) AS item,
                generate_subscripts(query_response_hit_ids, 1) AS slot
            FROM raw WHERE len(query_response_hit_ids) > 0 AND action_name IS NULL AND query_id != ''"""
    from_0 = [name for name, first in firsts if first == 0]
    if len(from_0) in (0, len(firsts)):
        return f"SELECT page, item, slot + {int(bool(from_0))} AS slot {impressions}"
    return f"SELECT page, item, slot + (application IN {(*from_0, 0)})::BIGINT AS slot {impressions}"
