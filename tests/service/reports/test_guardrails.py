"""Guardrails at the store: the verdict, since when it counts, and events that come after the hour was merged."""

from __future__ import annotations

import json
from typing import Any

import pytest

from slotwise.service.reports.guardrails import read_guardrails
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.storage import Store, open_store
from slotwise.service.storage.decision_types import (
    DAY,
    Arm,
    Event,
    IssuedDecision,
    Outcome,
    Report,
    RewardTerms,
    new_id,
)
from slotwise.service.storage.placements_table import Change

NOON = 1_800_000_000.0
DEFINITION: dict[str, Any] = {
    "slots": 1,
    "items": ["a", "b"],
    "holdout": 0.5,
    "reward": {"cart": 1.0},
    "reward_days": 30.0,
    "guardrails": [{"metric": "cart_rate", "event": "cart", "worse_by": 0.1}],
}


def define(store: Store, now: float, **fields: Any) -> PlacementDefinition:
    definition = PlacementDefinition.model_validate({**DEFINITION, **fields})
    what: dict[str, Any] = {"fields": {name: {} for name in fields}}
    store.put_placement("home", definition.text() + " " * int(now - NOON), Change(now, json.dumps(what)))
    return definition


def view(store: Store, arm: Arm, views: int, events: int, now: float, *, later: bool = False) -> None:
    """Count views of one arm, some of them with a cart, at once or after they are final."""
    reward = RewardTerms('{"cart": 1.0}', now + 30 * DAY)
    decisions = [IssuedDecision(new_id(now), "home", ("a",), arm, now, now + 1.0, reward=reward) for _ in range(views)]
    bought = decisions[:events]
    outcome = Outcome("no_click", events=() if later else (Event("cart"),))
    store.write(decisions, [])
    store.write([], [Report(decision.id, outcome, now) for decision in bought])
    while store.finalise(now + 1.0, 500):
        pass
    if later:
        store.merge_hours(now + 2 * DAY, 100)
        events_of = (Event("cart", None, "e"),)
        store.write([], [Report(decision.id, None, now + DAY, events_of) for decision in bought])


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize(
    ("learned", "state"), [(20, "broken"), (105, "unclear"), (260, "holds")], ids=["broken", "unclear", "holds"]
)
def test_the_verdict_is_by_the_anytime_valid_interval(url: str, learned: int, state: str, later: bool) -> None:
    store = open_store(url)
    definition = define(store, NOON)
    view(store, "learned", 300, learned, NOON, later=later)
    view(store, "holdout", 300, 120, NOON, later=later)
    (found,) = read_guardrails(store, "home", definition)
    assert (found["state"], found["learned"], found["holdout"]) == (state, learned / 300, 0.4)
    assert found["ratio"] is not None
    high = found["ratio"]["anytime"]["high"]
    assert (high is not None and high < 0.9) == (state == "broken")
    store.close()


def test_it_is_too_early_with_few_events_and_begins_anew_when_it_is_put_back(url: str) -> None:
    store = open_store(url)
    definition = define(store, NOON)
    view(store, "learned", 300, 5, NOON)
    view(store, "holdout", 300, 120, NOON)
    (found,) = read_guardrails(store, "home", definition)
    assert (found["state"], found["ratio"]) == ("unclear", None)
    assert "learned" in (found["too_early"] or "")
    view(store, "learned", 300, 15, NOON)
    assert read_guardrails(store, "home", definition)[0]["state"] == "broken"
    back = define(store, NOON + 7200.0, mode="live")
    assert read_guardrails(store, "home", back)[0]["state"] == "unclear"
    store.close()


def test_clicks_can_be_a_guardrail(url: str) -> None:
    store = open_store(url)
    definition = define(store, NOON, guardrails=[{"metric": "click_rate", "event": "click", "worse_by": 0.0}])
    later = NOON + 3600.0
    for arm, clicks in (("learned", 30), ("holdout", 150)):
        decisions = [IssuedDecision(new_id(later), "home", ("a",), arm, later, later + 1.0) for _ in range(300)]  # type: ignore[arg-type]
        store.write(decisions, [])
        store.write([], [Report(each.id, Outcome("clicked", "a"), later) for each in decisions[:clicks]])
    while store.finalise(later + 1.0, 500):
        pass
    assert read_guardrails(store, "home", definition)[0]["state"] == "broken"
    store.close()


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"holdout": 0.0}, "'cart_rate' needs a holdout"),
        ({"reward": {"buy": 1.0}}, "got 'cart'"),
        ({"guardrails": [*DEFINITION["guardrails"], *DEFINITION["guardrails"]]}, "'cart_rate' twice"),
        ({"guardrails": [{"metric": "m", "event": "cart", "worse_by": 1.0}]}, "worse_by"),
    ],
)
def test_a_guardrail_that_cannot_be_is_refused_by_name(fields: dict[str, Any], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        PlacementDefinition.model_validate({**DEFINITION, **fields})
