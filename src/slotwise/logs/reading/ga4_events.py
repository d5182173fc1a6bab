"""Google Analytics 4 as exported to BigQuery: `view_item_list` shows a page, and `select_item` is a click."""

from __future__ import annotations

from typing import Any

from slotwise.core.errors import InvalidInput
from slotwise.logs.reading.event_tables import ONE_SPELLING, EventKinds, count, join_clicks, read_events

TYPES = {
    **dict.fromkeys(("event_name", "event_timestamp", "user_pseudo_id"), "VARCHAR"),
    "event_params": 'STRUCT("key" VARCHAR, "value" STRUCT(string_value VARCHAR, int_value VARCHAR))[]',
    "items": "STRUCT(item_id VARCHAR, item_list_id VARCHAR, item_list_name VARCHAR, item_list_index VARCHAR)[]",
}


def read_ga4(run: Any, files: list[str], path: str, kinds: EventKinds) -> tuple[dict[str, int], dict[str, float]]:
    """Make the table `log` of shown items and clicks; return findings, and the weights of events.

    A click belongs to the last page before it that showed the item to this visitor in this session. The query is the
    parameter `search_term`, or else the list.
    """
    read_events(run, files, TYPES)
    run.execute(f"""
        CREATE TABLE events AS SELECT {kinds.number_of("event_name")} AS kind, user_pseudo_id AS visitor,
            try_cast(event_timestamp AS DOUBLE) / 1e6 AS time,
            event_params AS params, items,
            list_filter(params, p -> p.key = 'search_term')[1].value.string_value AS term,
            list_filter(params, p -> p.key = 'ga_session_id')[1].value.int_value AS session,
            list_filter(params, p -> p.key = 'item_list_id')[1].value.string_value AS list
        FROM raw WHERE event_name IS NOT NULL""")
    run.execute("""
        CREATE TABLE shown AS SELECT page, visitor, session, term, time, each.item_id AS item,
            coalesce(each.item_list_id, list, each.item_list_name) AS list,
            coalesce(try_cast(each.item_list_index AS BIGINT), place) AS slot,
            each.item_list_index IS NULL AS unplaced
        FROM (
            SELECT *, (hash(visitor, session, time, list, term) >> 1)::BIGINT AS page,
                unnest(items) AS each, generate_subscripts(items, 1) AS place
            FROM events WHERE kind = 0 AND visitor IS NOT NULL
        )""")
    if not count(run, "SELECT count(*) FROM shown"):
        raise InvalidInput(f"{path} does not say what was shown: GA4 has events view_item_list with items")
    run.execute(f"""
        CREATE TABLE texts AS SELECT page, min(coalesce(term, list)) AS spelling,
            {ONE_SPELLING.format("min(coalesce(term, list))")} AS query FROM shown GROUP BY page""")
    run.execute("""
        CREATE TABLE selected AS SELECT kind, visitor, session, time, unnest(items).item_id AS item
        FROM events WHERE kind > 0 AND visitor IS NOT NULL""")
    run.execute("""
        CREATE TABLE joined AS SELECT selected.*, shown.page FROM selected ASOF LEFT JOIN shown
        ON selected.visitor = shown.visitor AND selected.session IS NOT DISTINCT FROM shown.session
            AND selected.item = shown.item AND selected.time >= shown.time""")
    run.execute("""CREATE TABLE clicks AS SELECT page, item, bit_or(1 << kind) AS kinds, min(time) AS click_time
        FROM joined WHERE page IS NOT NULL GROUP BY page, item""")
    findings, weights = join_clicks(run, kinds, path)
    run.execute("""CREATE TABLE lost AS SELECT kind, EXISTS (
            FROM shown WHERE shown.visitor = joined.visitor AND shown.session IS NOT DISTINCT FROM joined.session
                AND shown.item = joined.item) AS later
        FROM joined WHERE page IS NULL""")
    clicks, more, before = run.execute("""SELECT count(*) FILTER (kind = 1 AND NOT later),
        count(*) FILTER (kind > 1 AND NOT later), count(*) FILTER (later) FROM lost""").fetchone()
    return {
        **findings,
        "clicks_without_impression": clicks,
        "later_without_impression": more,
        "clicks_before_page": before,
        "events_without_query": count(run, "SELECT count(*) FROM events WHERE visitor IS NULL AND kind >= 0"),
        "positions_by_order": count(run, "SELECT count(*) FROM shown WHERE unplaced"),
        "other_events": count(run, "SELECT count(*) FROM events WHERE kind < 0"),
    }, weights
