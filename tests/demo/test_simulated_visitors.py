from __future__ import annotations

import random
from collections import Counter

import pytest

from slotwise import MNL
from slotwise.click_models import click_probabilities, regret
from slotwise.demo.simulated_visitors import Habits, SimulatedVisitors, Visit
from tests.statistical_assertions import assert_frequencies

ITEMS = ["a", "b", "c", "d"]
#: everybody reports all they do, in time
PLAIN = Habits(unseen=0.0, silent=0.0, late=0.0, twice=0.0, conflicting=0.0, hesitant=0.0)


def _stands(visit: Visit) -> str | None:
    """What counts of a visit within its window: the first report, or the click that replaces it."""
    clicked = [report["clicked"] for report in visit.reports[:2] if report.get("clicked")]
    return clicked[0] if clicked else None


@pytest.mark.parametrize("habits", [PLAIN, Habits(unseen=0.1, late=0.5, twice=0.5, conflicting=0.5, hesitant=0.5)])
def test_clicks_follow_the_model_with_any_habits(small: MNL, habits: Habits) -> None:
    visitors = SimulatedVisitors(small, ITEMS, random.Random(1), habits)
    shown = ("d", "a", "b")
    visits = [visitors.visit(shown) for _ in range(20_000)]
    counts = Counter(_stands(visit) for visit in visits if visit.seen)
    assert_frequencies(click_probabilities(small, [3, 0, 1]), [counts[item] for item in (*shown, None)])


def test_regret_is_the_models(small: MNL) -> None:
    visitors = SimulatedVisitors(small, ITEMS, random.Random(1))
    assert visitors.regret(("d", "a", "b")) == pytest.approx(regret(small, [3, 0, 1]))
    # the second slot is the worst
    assert visitors.regret(("d", "a", "b")) == pytest.approx(0.0)
    assert visitors.regret(("a", "d", "b")) > 0.01


def test_every_habit_is_somebodys(small: MNL) -> None:
    visitors = SimulatedVisitors(small, ITEMS, random.Random(1))
    visits = [visitors.visit(("d", "a", "b")) for _ in range(5_000)]
    assert any(not visit.seen for visit in visits)
    assert any(not visit.reports for visit in visits)
    assert all(not visit.reports for visit in visits if visit.too_late)
    assert any(visit.too_late for visit in visits)
    assert any(visit.reports[-2:-1] == visit.reports[-1:] for visit in visits)
    assert {visit.browser for visit in visits} == {True, False}
    contradictions = [visit for visit in visits if len(visit.reports) > 1 and visit.reports[-2] != visit.reports[-1]]
    assert any(visit.reports[-1].get("clicked") is None for visit in contradictions)
    assert any(visit.reports[0] == {"clicked": None} for visit in contradictions)


def test_items_that_came_later_are_shown_and_not_clicked(small: MNL) -> None:
    visitors = SimulatedVisitors(small, ITEMS, random.Random(1), PLAIN)
    # the fourth slot came later, too
    visits = [visitors.visit(("new", "newer", "a", "b")) for _ in range(300)]
    assert {_stands(visit) for visit in visits} == {"a", None}
