from __future__ import annotations

import pytest

from slotwise.service.storage.accumulator import Accumulator, CountKey
from slotwise.service.storage.decision_types import Event, Outcome, Report
from slotwise.service.storage.outcome_rules import ReportedDecision, judge
from slotwise.service.storage.rewards import MAX_EVENTS

DEADLINE, UNTIL = 2.0, 90.0


def reported(events: tuple[Event, ...] = (), outcome: Outcome | None = None) -> ReportedDecision:
    """A pending decision, issued with a reward."""
    where = CountKey("home", 0, "", "learned")
    terms = '{"click": 0.5, "cart": 2}', UNTIL
    return ReportedDecision(where, ("a", "b"), DEADLINE, False, False, False, *terms, outcome, events)


def later(count: int, now: float = 1.0) -> Report:
    return Report("id", None, now, tuple(Event("cart", None, f"{number}") for number in range(count)))


@pytest.mark.parametrize(("now", "verdict"), [(1.999, "recorded"), (DEADLINE, "late")])
def test_an_outcome_at_the_deadline_is_late(now: float, verdict: str) -> None:
    known = {"items": ["a"], "deadline": DEADLINE, "final": False, "recorded": None}
    assert judge(Outcome("no_click"), now=now, **known) == verdict  # type: ignore[arg-type]


@pytest.mark.parametrize(("now", "verdict"), [(89.999, "recorded"), (UNTIL, "late")])
def test_an_event_at_the_end_of_the_days_is_late(now: float, verdict: str) -> None:
    assert reported().take(later(1, now), Accumulator()).verdict == verdict


def test_a_decision_has_so_many_later_events_at_most() -> None:
    decision = reported()
    assert decision.take(later(MAX_EVENTS), Accumulator()).verdict == "recorded"
    receipt = decision.take(later(MAX_EVENTS + 1), Accumulator())
    assert (receipt.verdict, len(decision.events)) == ("invalid_event", MAX_EVENTS)
    assert receipt.why == f"events of one decision must be at most {MAX_EVENTS}, got {MAX_EVENTS + 1}"


def test_a_wrong_name_is_the_reason_also_of_too_many_events() -> None:
    wrong = Report("id", None, 1.0, tuple(Event("visit", None, f"{number}") for number in range(MAX_EVENTS + 1)))
    assert "visit" in (reported().take(wrong, Accumulator()).why or "")


def test_a_list_with_events_was_shown() -> None:
    decision = reported()
    decision.take(later(1), Accumulator())
    receipt = decision.take(Report("id", Outcome("not_shown"), 1.0), Accumulator())
    assert (receipt.verdict, decision.outcome) == ("invalid_event", None)
    assert decision.take(Report("id", Outcome("no_click"), 1.0), Accumulator()).verdict == "recorded"
