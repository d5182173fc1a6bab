"""One sentence of state: each rule, in its order, and what it says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slotwise.service.reports.drift_view import ItemDrift
from slotwise.service.reports.learning_status import Facts, ItemPair, state, views_needed
from slotwise.service.schemas.report_schemas import ItemEstimateDocument
from slotwise.service.storage.count_rows import Counters
from slotwise.service.storage.decision_types import DAY, HOUR

#: a Wednesday, 08:00 UTC
NOW = 1_800_000_000.0 - 2 * DAY


def item(id: str, attractiveness: float, probability: float, spread: float = 1.1) -> ItemEstimateDocument:
    return {
        "id": id,
        "attractiveness": attractiveness,
        "low": attractiveness / spread,
        "high": attractiveness * spread,
        "probability_in_best_list": probability,
        "shown": 1000,
        "clicks": 100,
    }


SURE = Facts(
    now=NOW,
    slots=2,
    window_seconds=1800.0,
    mode="live",
    decisions=Counters(issued=1000, clicked=200, no_click=800),
    items=[item("a", 0.4, 1.0), item("b", 0.3, 0.97), item("c", 0.1, 0.03)],
    best_list=["a", "b"],
    values={},
    ends=[],
    last_hour=int(NOW) - HOUR,
    drift=None,
)
UNSURE = replace(SURE, items=[item("a", 0.4, 1.0), item("b", 0.3, 0.7, 2.0), item("c", 0.25, 0.3, 2.0)])
DRIFT = ItemDrift("a", int(NOW) - DAY, before=0.4, after=0.2, alike=1, compared=3)


def told(facts: Facts, **changes: Any) -> str:
    return state(replace(facts, **changes))["sentence"]


def test_before_the_first_count_it_names_the_missing_step() -> None:
    assert told(SURE, decisions=Counters()) == "Waiting for the first decision: connect your page."
    assert told(SURE, decisions=Counters(issued=1)) == (
        "Nothing is counted yet: one decision is pending until the window of 30 minutes ends."
    )
    assert "1,200 decisions are pending until the window of" in told(SURE, decisions=Counters(issued=1200))
    assert "none of the lists so far was seen" in told(SURE, decisions=Counters(issued=3, not_shown=3))
    assert state(replace(SURE, decisions=Counters()))["kind"] == "nothing_yet"


def test_with_one_item_there_is_nothing_to_choose() -> None:
    assert state(replace(SURE, slots=1, items=[item("a", 0.4, 1.0)], best_list=["a"]))["kind"] == "one_item"


@pytest.mark.parametrize(("hours", "kind"), [(24, "settled"), (25, "quiet")])
def test_it_is_quiet_after_a_day_without_a_decision(hours: int, kind: str) -> None:
    assert state(replace(SURE, last_hour=int(NOW) - hours * HOUR))["kind"] == kind


def test_it_reports_the_time_of_the_last_decision() -> None:
    assert told(SURE, last_hour=int(NOW) - 2 * DAY) == "Quiet: no decision has been requested since Monday."
    assert told(SURE, last_hour=int(NOW) - 20 * DAY) == "Quiet: no decision has been requested since 24 December."


def test_a_drift_is_reported_first_and_does_not_hide_the_learned_state() -> None:
    found = state(replace(SURE, drift=DRIFT))
    assert found["kind"] == "changed"
    assert found["sentence"] == "Something changed on Tuesday: visitors click less on “a”."
    assert str(found["more"]).startswith("Settled: these are the best items. Earlier counts still have full weight")
    assert state(replace(SURE, drift=DRIFT, decays=True))["more"] == "Settled: these are the best items."
    assert "more on most items" in told(SURE, drift=DRIFT._replace(after=0.9, alike=3))


def ends(*lists: tuple[int, list[str]]) -> list[tuple[int, list[str]]]:
    return [(int(NOW) - hours * HOUR, best) for hours, best in lists]


def test_settled_since_the_first_of_the_ends_with_the_same_items() -> None:
    found = state(replace(SURE, ends=ends((99, ["b", "a"]), (80, ["a", "c"]), (73, ["b", "a"]), (2, ["a", "b"]))))
    assert found["sentence"] == "Settled: this list has been best for 3 days."
    assert found["since"] == "2027-01-10T08:00:00.000Z"
    assert told(SURE, ends=ends((2, ["a", "c"]))) == "Settled: these are the best items."
    # what was best an hour ago is not what is best now
    assert told(SURE, ends=ends((50, ["a", "b"]), (2, ["a", "c"]))) == "Settled: these are the best items."


@pytest.mark.parametrize(("probability", "kind"), [(0.9, "settled"), (0.89, "too_early")])
def test_settled_from_ninety_percent_on(probability: float, kind: str) -> None:
    items = [item("a", 0.4, 1.0), item("b", 0.3, probability, 2.0), item("c", 0.25, 0.1, 2.0)]
    assert state(replace(SURE, items=items))["kind"] == kind


def test_too_early_estimates_the_missing_views() -> None:
    found = state(UNSURE)
    assert found["kind"] == "too_early"
    assert found["views_needed"] is not None
    assert found["sentence"] == f"Too early: about {found['views_needed']:,} more views."


def test_values_count_in_who_leads() -> None:
    # worth less by click, but a click is worth more: c leads, and nobody can say how long it takes for b
    assert (
        told(UNSURE, values={"b": 1.0, "c": 3.0}) == "Too early: the difference between “b” and “c” is not clear yet."
    )


def test_items_that_are_known_to_be_alike_are_close() -> None:
    items = [item("a", 0.4, 1.0), item("b", 0.301, 0.6, 1.05), item("c", 0.3, 0.4, 1.05)]
    found = state(replace(SURE, items=items))
    assert found["kind"] == "close"
    assert "“b” and “c” are nearly equal" in found["sentence"]


def test_where_all_items_are_shown_their_order_counts() -> None:
    both = replace(SURE, items=[item("a", 0.4, 1.0), item("b", 0.3, 1.0)])
    assert state(both)["kind"] == "settled"
    alike = replace(both, items=[item("a", 0.4, 1.0, 3.0), item("b", 0.35, 1.0, 3.0)])
    assert state(alike)["kind"] == "too_early"
    # the same items in another order are another list
    assert told(both, ends=ends((50, ["b", "a"]))) == "Settled: these are the best items."
    assert "for 2 days" in told(both, ends=ends((50, ["a", "b"])))


def test_the_mode_is_added() -> None:
    assert "Shadow mode" in str(state(replace(SURE, mode="shadow"))["more"])
    assert "Exploring is off" in str(state(replace(SURE, exploring=False))["more"])


def test_long_names_are_cut() -> None:
    items = [item("a", 0.4, 1.0), item("b" * 200, 0.301, 0.6, 1.05), item("c", 0.3, 0.4, 1.05)]
    assert len(told(SURE, items=items, best_list=["a", "b" * 200])) < 200


def test_views_that_are_needed_follow_the_square_law() -> None:
    once = views_needed(ItemPair("a", "b", 0.7, lead=0.1, error=0.4), seen=1000)
    twice = views_needed(ItemPair("a", "b", 0.7, lead=0.1, error=0.8), seen=1000)
    assert once is not None
    assert twice is not None
    assert (twice + 1000) / (once + 1000) == pytest.approx(4.0, rel=0.05)
    assert views_needed(ItemPair("a", "b", 0.5, lead=0.0, error=0.4), seen=1000) is None
    assert views_needed(ItemPair("a", "b", 0.5, lead=0.001, error=0.4), seen=1000) is None
