"""Is all well: what is fine, what somebody should look at, and what is not known yet."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slotwise.service.reports.drift_view import DriftReport, ItemDrift
from slotwise.service.reports.health_checks import Observed, checks_of
from slotwise.service.schemas.report_schemas import ModelCheckDocument
from slotwise.service.storage.count_rows import Counters

USUAL = Counters(issued=1000, clicked=300, no_click=650, silent=200, several=3, late=2, duplicates=5)
FITS: ModelCheckDocument = {
    "is_tested": True, "is_wrong": False, "evidence": 0.3, "spread": 0.0, "sentence": "The model fits.",
}  # fmt: skip
WRONG: ModelCheckDocument = {**FITS, "is_wrong": True, "spread": 0.4}
UNTESTED: ModelCheckDocument = {**FITS, "is_tested": False}
WELL = Observed(USUAL, None, 0.2, FITS, DriftReport(None, 10), None)


def levels(found: Observed) -> dict[str, str]:
    return {check["id"]: check["level"] for check in checks_of(found)}


def said(found: Observed, id: str) -> str:
    return next(check["sentence"] for check in checks_of(found) if check["id"] == id)


def advice(found: Observed, id: str) -> str | None:
    return next(check["advice"] for check in checks_of(found) if check["id"] == id)


def counted(**changes: Any) -> Observed:
    return WELL._replace(counters=replace(USUAL, **changes))


def test_where_all_is_well_everything_is_fine() -> None:
    assert set(levels(WELL).values()) == {"fine"}


@pytest.mark.parametrize(
    ("id", "found"),
    [
        ("late", counted(late=11)),
        ("repeated", counted(conflicts=11)),
        ("several", counted(several=16)),
        ("silent", counted(clicked=0, no_click=650, silent=640)),
        ("fresh", WELL._replace(staleness=1.5)),
        ("fit", WELL._replace(model_check=WRONG)),
        ("drift", WELL._replace(drift=DriftReport(ItemDrift("tea", 0, 0.2, 0.1, 1, 2), 10))),
    ],
)
def test_one_thing_is_looked_at_and_the_others_are_fine(id: str, found: Observed) -> None:
    assert {name for name, level in levels(found).items() if level == "look"} == {id}
    assert {check["id"] for check in checks_of(found) if check["advice"]} == {id}


@pytest.mark.parametrize(
    ("id", "found"),
    [("late", counted(late=10)), ("repeated", counted(conflicts=10)), ("several", counted(several=15))],
)
def test_a_few_are_no_reason_to_look(id: str, found: Observed) -> None:
    assert levels(found)[id] == "fine"


def test_shares_of_few_decisions_are_not_judged() -> None:
    few = WELL._replace(counters=Counters(issued=99, clicked=50, no_click=49, late=30, conflicts=30))
    assert {levels(few)[id] for id in ("late", "repeated")} == {"fine"}


def test_before_anything_happened_most_is_not_known() -> None:
    nothing = Observed(Counters(), None, 0.0, UNTESTED, DriftReport(None, 0), None)
    assert {id for id, level in levels(nothing).items() if level == "unknown"} == {
        "late", "silent", "several", "fit", "drift",
    }  # fmt: skip


def test_pending_decisions_are_reported_with_the_time_of_the_next_count() -> None:
    waiting = counted(issued=1003)
    assert said(waiting, "waiting") == "53 decisions are pending, and none of them has an outcome yet."
    until = waiting._replace(reported_until="2026-11-16T02:48:12.089Z")
    assert said(until, "waiting").endswith("the first with an outcome is counted at 16 November, 02:48 UTC.")
    assert said(counted(issued=951), "waiting") == "One decision is pending, and it has no outcome yet."


def test_capped_decisions_are_reported_and_many_of_them_warn() -> None:
    assert levels(WELL)["capped"] == "fine"
    few, many = counted(capped=2), counted(capped=200)
    assert levels(few)["capped"] == "fine"
    assert said(few, "capped") == ("2 decisions beyond an hourly cap, per visitor or network, are not learned from.")
    assert levels(many)["capped"] == "look"
    assert "bots" in (advice(many, "capped") or "")
    assert advice(few, "capped") is None
