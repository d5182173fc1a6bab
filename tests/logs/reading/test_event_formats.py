"""Events of User Behavior Insights and of Google Analytics 4."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from slotwise.core.errors import InvalidInput, UnreadableFile
from slotwise.judgements import CellCounts, count_cells
from slotwise.logs import RULES, EventValues, LogSource, fit_placements


def _event(action: str, query: str | None, item: str, ordinal: Any, time: str = "2025-01-01T10:00:01Z") -> Any:
    position = {} if ordinal is None else {"ordinal": ordinal}
    attributes = {"object": {"object_id": item, "price": 3}, "position": position}
    return {"action_name": action, "query_id": query, "timestamp": time, "event_attributes": attributes}


def _query(query: str, text: str, hits: list[str] | None = None) -> Any:
    return {
        "query_id": query,
        "user_query": text,
        "timestamp": "2025-01-01T10:00:00Z",
        "query_response_hit_ids": hits or [],
    }


def _events(first: int = 0) -> list[Any]:
    """Two pages of one query, clicks on the second document and on both, and everything that can be wrong."""
    return [
        _query("1", "Red  Dress"),
        _query("2", "red dress "),
        *(_event("impression", page, item, first + slot) for page in "12" for slot, item in enumerate("ab")),
        _event("impression", "1", "a", first),
        _event("click", "1", "b", first + 1),
        _event("click", "2", "a", first, "2024-12-31T00:00:00Z"),
        _event("purchase", "2", "b", first + 1),
        _event("click", None, "a", first),
        _event("click", "1", "z", 7),
        _event("on_search", "1", "", None),
    ]


def _count(path: Path, events: list[Any], values: EventValues | None = None, format: str = "ubi") -> CellCounts:
    path = _write(path / "events.ndjson", events, "lines")
    return count_cells(LogSource.of_file(str(path), format=format, values=values))


def _write(path: Path, events: list[Any], form: str) -> Path:
    if form == "bulk":
        lines = [line for each in events for line in ({"index": {"_index": "ubi_events"}}, each)]
    else:
        lines = [{"_index": "ubi_events", "_source": each} for each in events] if form == "hits" else events
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    return path


def _check(counts: CellCounts) -> None:
    assert counts.queries == ("red dress",)
    assert counts.pages.tolist() == [2.0]
    assert counts.documents == ("a", "b")
    assert counts.shown.tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert counts.clicks.tolist() == [[1.0, 0.0], [0.0, 2.0]]
    wanted = {"events_without_query": 1, "other_events": 1, "clicks_without_impression": 1, "early_clicks": 1}
    assert {rule: counts.cleaning[rule] for rule in wanted} == wanted
    assert counts.cleaning["merged_queries"] == 1
    assert counts.cleaning["duplicate_rows"] == 1


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("form", ["lines", "bulk", "hits"])
def test_ubi_in_json(tmp_path: Path, form: str, first: int) -> None:
    path = _write(tmp_path / "ubi.ndjson", _events(first), form)
    _check(count_cells(LogSource.of_file(str(path), format="ubi")))


def test_ubi_in_parquet_and_in_two_files(tmp_path: Path) -> None:
    events = _events()
    _write(tmp_path / "queries.ndjson", events[:2], "bulk")
    lines = _write(tmp_path / "lines", events[2:], "lines")
    duckdb.sql(f"COPY (FROM read_json('{lines}', format='newline_delimited')) TO '{tmp_path / 'events.parquet'}'")
    lines.unlink()
    _check(count_cells(LogSource.of_file(str(tmp_path), format="ubi")))


def test_ubi_without_impressions_uses_the_hits_of_the_query(tmp_path: Path) -> None:
    events = [_query("1", "tea", ["a", "b", "c"]), _event("click", "1", "b", 1)]
    counts = count_cells(LogSource.of_file(str(_write(tmp_path / "ubi.json", events, "lines")), format="ubi"))
    assert counts.shown.tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert counts.clicks.sum(axis=0).tolist() == [0.0, 1.0, 0.0]


def test_slots_counted_per_page_of_results_are_left_out_and_named(tmp_path: Path) -> None:
    events = [*_events(), *(_event("impression", "2", item, slot) for slot, item in enumerate("cd"))]
    counts = count_cells(LogSource.of_file(str(_write(tmp_path / "ubi.json", events, "lines")), format="ubi"))
    assert counts.cleaning["conflicting_slots"] == 1
    assert counts.pages.tolist() == [1.0]


@pytest.mark.parametrize(
    ("events", "error", "message"),
    [
        ([_query("1", "tea"), _event("click", "1", "a", 1)], InvalidInput, "does not say what was shown"),
        ([{"x": 1}], InvalidInput, "does not say what was shown"),
        (None, UnreadableFile, "cannot be read as ubi"),
    ],
)
def test_ubi_is_refused(tmp_path: Path, events: Any, error: type[Exception], message: str) -> None:
    path = tmp_path / "ubi.ndjson"
    path.write_text("{not json\n") if events is None else _write(path, events, "lines")
    with pytest.raises(error, match=message):
        LogSource.of_file(str(path), format="ubi")
    with pytest.raises(UnreadableFile, match="there is no file"):
        LogSource.of_file(str(tmp_path / "none.ndjson"), format="ubi")


def _ga4(name: str, seconds: float, items: list[Any], term: str | None = None, visitor: str | None = "v") -> Any:
    params = [{"key": "ga_session_id", "value": {"int_value": "7"}}]
    params += [] if term is None else [{"key": "search_term", "value": {"string_value": term}}]
    return {
        "event_name": name,
        "event_timestamp": str(int(seconds * 1e6)),
        "user_pseudo_id": visitor,
        "event_params": params,
        "items": items,
    }


def _items(ids: str, first: int | None) -> list[Any]:
    return [
        {"item_id": id, "item_list_id": "results"} | ({} if first is None else {"item_list_index": str(first + place)})
        for place, id in enumerate(ids)
    ]


GA4 = [
    _ga4("view_item_list", 10.0, _items("ab", 1), "Red Dress"),
    _ga4("select_item", 12.0, _items("b", 2)),
    _ga4("view_item_list", 20.0, _items("ba", 1), "red dress"),
    _ga4("select_item", 21.0, _items("b", 1)),
    _ga4("purchase", 22.0, _items("a", None)),
    _ga4("select_item", 5.0, _items("a", 1)),
    _ga4("view_item_list", 30.0, _items("ab", None)),
    _ga4("select_item", 31.0, _items("a", 1), visitor=None),
    _ga4("page_view", 32.0, []),
]


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_ga4_clicks_belong_to_the_last_page_that_showed_the_item(tmp_path: Path, form: str) -> None:
    path = _write(tmp_path / "ga4.json", GA4, "lines")
    if form == "parquet":
        duckdb.sql(f"COPY (FROM read_json('{path}')) TO '{tmp_path / 'ga4.parquet'}'")
        path = tmp_path / "ga4.parquet"
    counts = count_cells(LogSource.of_file(str(path), format="ga4"))
    assert counts.queries == ("red dress", "results")
    assert counts.pages.tolist() == [2.0, 1.0]
    assert counts.documents == ("a", "b", "a", "b")
    assert counts.clicks.tolist() == [[0.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]]
    wanted = {
        "clicks_before_page": 1,
        "events_without_query": 1,
        "positions_by_order": 2,
        "other_events": 1,
        "merged_queries": 1,
    }
    assert {rule: counts.cleaning[rule] for rule in wanted} == wanted


def test_fit_reads_events_too(tmp_path: Path) -> None:
    path = _write(tmp_path / "ubi.ndjson", _events(), "bulk")
    (fit,) = fit_placements(LogSource.of_file(str(path), format="ubi"))
    assert fit.placement == "red dress"
    assert fit.tally.cleaning["clicks_without_impression"] == 1


def test_applications_may_count_from_0_or_from_1(tmp_path: Path) -> None:
    events = [_query("3", "red dress") | {"application": "app"}]
    events += [_event("impression", "3", item, slot) | {"application": "app"} for slot, item in ((1, "a"), (2, "b"))]
    path = _write(tmp_path / "ubi.json", [*_events(), *events], "lines")
    counts = count_cells(LogSource.of_file(str(path), format="ubi"))
    assert counts.shown.tolist() == [[3.0, 0.0], [0.0, 3.0]]


def test_every_kind_of_bad_input_is_counted_and_named(tmp_path: Path) -> None:
    """Each rule once: what is left is the two good pages of `_events`, and what is kept by a rule."""
    events = [
        *_events(),
        # an impression without a position, and one without a document
        _event("impression", "1", "c", None),
        _event("impression", "1", "", 5),
        # a position that is no number
        _event("impression", "1", "d", "first"),
        # an impression of a query that nobody asked, and a blank query
        _event("impression", "9", "a", 0),
        _query("8", "   "),
        _event("impression", "8", "a", 0),
        # a query id for two queries
        _query("7", "tea"),
        _query("7", "coffee"),
        _event("impression", "7", "a", 0),
        # a purchase of something that was not shown
        _event("purchase", "1", "y", None),
        # the same click again
        _event("click", "1", "b", 1),
        # a click whose time cannot be read
        _event("click", "2", "b", 1, "yesterday"),
    ]
    counts = _count(tmp_path, events)
    assert counts.queries == ("red dress",)
    assert counts.clicks.sum(axis=0).tolist() == [1.0, 2.0]
    found = {rule: number for rule, number in counts.cleaning.items() if number}
    wanted = {
        "null_slot": 2,
        "null_item": 1,
        "null_placement": 3,
        "ambiguous_queries": 1,
        "later_without_impression": 1,
        "clicks_without_impression": 1,
        "events_without_query": 1,
        "duplicate_rows": 1,
        "early_clicks": 1,
        "merged_queries": 1,
        "other_events": 1,
    }
    assert {rule: found.get(rule) for rule in wanted} == wanted
    assert all(rule in RULES for rule in found)


def test_a_click_without_a_readable_time_counts(tmp_path: Path) -> None:
    events = [_query("1", "tea"), *(_event("impression", "1", item, slot) for slot, item in enumerate("ab"))]
    events += [_event("click", "1", "a", 0), _event("click", "1", "b", 1, "yesterday")]
    assert _count(tmp_path, events).clicks.sum(axis=0).tolist() == [1.0, 1.0]


def test_a_log_without_a_query_is_refused_with_the_reason(tmp_path: Path) -> None:
    events = [_event("impression", None, "a", 1), _event("impression", "1", "a", 1), _event("click", "1", "a", 1)]
    with pytest.raises(InvalidInput, match="no page with a query: 1 events without a query id"):
        _count(tmp_path, events)


def test_a_log_without_clicks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no click on a document"):
        _count(tmp_path, [_query("1", "tea"), _event("impression", "1", "a", 1)])


def test_all_pages_of_results_that_count_from_1_are_refused_with_advice(tmp_path: Path) -> None:
    events = [_query("1", "tea"), *(_event("impression", "1", item, slot) for slot, item in ((1, "a"), (1, "b")))]
    with pytest.raises(InvalidInput, match="two items in one slot"):
        _count(tmp_path, [*events, _event("click", "1", "a", 1)])


def _funnel() -> list[Any]:
    """Four pages of one document: shown, clicked three times, in the cart twice, and purchased once."""
    steps = [(), ("click",), ("click", "add_to_cart"), ("click", "add_to_cart", "purchase")]
    events = [_query(str(page), "tea") for page in range(4)]
    events += [_event("impression", str(page), "a", 1) for page in range(4)]
    return events + [_event(step, str(page), "a", 1) for page, taken in enumerate(steps) for step in taken]


def test_given_weights_count_the_most_valuable_event(tmp_path: Path) -> None:
    counts = _count(tmp_path, _funnel(), EventValues.of_text("click=1,add_to_cart=3,purchase=10"))
    assert counts.clicks.sum() == 3.0
    assert counts.values is not None
    assert counts.values.tolist() == [[14.0], [110.0]]


def test_learned_weights_are_shares_of_purchases(tmp_path: Path) -> None:
    path = _write(tmp_path / "events.ndjson", _funnel(), "lines")
    source = LogSource.of_file(str(path), format="ubi", values=EventValues())
    assert source.weights == pytest.approx({"click": 1 / 3, "cart": 1 / 2, "purchase": 1.0})
    assert count_cells(source).values == pytest.approx(np.array([[1 / 3 + 1 / 2 + 1], [1 / 9 + 1 / 4 + 1]]))


def test_an_action_with_a_weight_counts_as_a_click(tmp_path: Path) -> None:
    events = [*_funnel(), _event("bookmark", "0", "a", 1)]
    assert _count(tmp_path, events).clicks.sum() == 3.0
    assert _count(tmp_path, events, EventValues({"bookmark": 2.0})).clicks.sum() == 4.0


def test_ga4_has_values_too(tmp_path: Path) -> None:
    counts = _count(tmp_path, GA4, EventValues({"click": 1.0, "purchase": 5.0}), "ga4")
    assert counts.values is not None
    assert counts.values[0].tolist() == [5.0, 2.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [("click", "like click=1"), ("click=-1", "0 or more"), ("click=nan", "0 or more"), ("click=0", "one above 0")],
)
def test_weights_that_make_no_sense_are_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        EventValues.of_text(text)


def test_weights_cannot_be_learned_without_a_purchase(tmp_path: Path) -> None:
    events = [event for event in _funnel() if event.get("action_name") != "purchase"]
    with pytest.raises(InvalidInput, match="no purchase to learn weights from"):
        _count(tmp_path, events, EventValues())
