from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from slotwise import MNL
from slotwise.choice import click_probabilities, regret
from slotwise.drive.ledger import Ledger
from slotwise.drive.visitors import Habits, Visit, Visitors
from tests.chance import assert_frequencies

ITEMS = ["a", "b", "c", "d"]
#: everybody reports all they do, in time
PLAIN = Habits(unseen=0.0, silent=0.0, late=0.0, twice=0.0, conflicting=0.0, hesitant=0.0)


def _stands(visit: Visit) -> str | None:
    """What counts of a visit within its window: the first report, or the click that replaces it."""
    clicked = [report["clicked"] for report in visit.reports[:2] if report.get("clicked")]
    return clicked[0] if clicked else None


@pytest.mark.parametrize("habits", [PLAIN, Habits(unseen=0.1, late=0.5, twice=0.5, conflicting=0.5, hesitant=0.5)])
def test_clicks_are_those_of_the_model_whatever_the_habits(small: MNL, habits: Habits) -> None:
    visitors = Visitors(small, ITEMS, random.Random(1), habits)
    shown = ("d", "a", "b")
    visits = [visitors.visit(shown) for _ in range(20_000)]
    counts = Counter(_stands(visit) for visit in visits if visit.seen)
    assert_frequencies(click_probabilities(small, [3, 0, 1]), [counts[item] for item in (*shown, None)])


def test_regret_is_the_models(small: MNL) -> None:
    visitors = Visitors(small, ITEMS, random.Random(1))
    assert visitors.regret(("d", "a", "b")) == pytest.approx(regret(small, [3, 0, 1]))
    # the second slot is the worst
    assert visitors.regret(("d", "a", "b")) == pytest.approx(0.0)
    assert visitors.regret(("a", "d", "b")) > 0.01


def test_every_habit_is_somebodys(small: MNL) -> None:
    visitors = Visitors(small, ITEMS, random.Random(1))
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


def test_a_ledger_notices_one_count_too_many() -> None:
    ledger = Ledger(["a", "b", "c"], slots=2)
    ledger.issued(("a", "b"), seen=True)
    ledger.ended(("a", "b"), {"clicked": "b"})
    ledger.issued(("c", "a"), seen=True)
    ledger.ended(("c", "a"), None)
    ledger.issued(("c", "b"), seen=False)
    ledger.ended(("c", "b"), {"shown": False})
    document: dict[str, Any] = {
        "decisions": {"issued": 3, "clicked": 1, "no_click": 1, "not_shown": 1, "late": 0},
        # in an order of its own, with one that is retired
        "tally": {
            "items": ["c", "b", "a", "x"],
            "clicks": [[0] * 4, [0, 1, 0, 0]],
            "passes": [[1, 0, 0, 0], [0, 0, 1, 0]],
        },
    }
    assert ledger.differences(document) == []
    for counts in ("clicks", "passes"):
        for slot, item in np.ndindex(2, 4):
            document["tally"][counts][slot][item] += 1
            assert len(ledger.differences(document)) == 1
            document["tally"][counts][slot][item] -= 1
    document["decisions"]["late"] += 1
    assert ledger.differences(document) == ["late: 1 at the service, 0 with the visitors"]
