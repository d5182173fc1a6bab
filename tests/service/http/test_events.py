"""Named events and rewards: with an outcome, later by id, and later by token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from slotwise.service.storage.rewards import MAX_EVENTS
from tests.service.serving import Client, serving

REWARD = {"click": 0.0, "cart": 2.0, "purchase": "value"}
DAY = 86_400.0


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    if request.param == "sqlite":
        store = f"sqlite:///{tmp_path_factory.mktemp('events')}/store.db"
    else:
        store = request.getfixturevalue("postgres").fresh()
    with serving(store) as client:
        yield client


_names = iter(range(10_000))


@pytest.fixture
def name(client: Client) -> str:
    """A placement with a reward, of this test alone."""
    name = f"shop-{next(_names)}"
    client.define(name, reward=REWARD, reward_days=3.0)
    return name


def add(client: Client, decision: dict[str, Any], *events: dict[str, Any]) -> httpx.Response:
    return client.post(f"/v1/decisions/{decision['id']}/events", json={"events": [*events]})


def logged(client: Client, decision: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/v1/decisions/{decision['id']}").json()
    return found


def test_an_outcome_brings_the_worth_of_its_events(client: Client, name: str) -> None:
    decision = client.decide(name)
    outcome = {"clicked": decision["items"][0], "events": [{"name": "cart"}, {"name": "purchase", "value": 39.0}]}
    assert client.report(decision, **outcome).json() == {"duplicate": False}
    assert client.report(decision, **outcome).json() == {"duplicate": True}
    other = client.report(decision, clicked=decision["items"][0], events=[{"name": "cart"}])
    assert other.status_code == 409
    assert "'purchase'" in other.json()["detail"]
    found = logged(client, decision)
    assert found["value"] == 41.0
    assert found["events"] == [
        {"name": "cart", "value": None, "event_id": None},
        {"name": "purchase", "value": 39.0, "event_id": None},
    ]


def test_a_later_event_changes_the_value_of_its_item_once_and_no_count(client: Client, name: str) -> None:
    decision = client.decide(name)
    client.report(decision, clicked=decision["items"][1])
    before = client.settle(name)
    event = {"event_id": "order-7", "name": "purchase", "value": 39.0}
    client.clock.now += 2 * DAY
    assert add(client, decision, event).json() == {"duplicate": False}
    assert add(client, decision, event).json() == {"duplicate": True}
    conflict = add(client, decision, {**event, "value": 40.0})
    assert conflict.status_code == 409
    assert "'order-7'" in conflict.json()["detail"]
    client.wait_for_snapshot()
    after = client.estimates(name)
    assert after["tally"] == before["tally"]
    assert after["decisions"] == {**before["decisions"], "value": 39.0}
    history = client.get(f"/v1/placements/{name}/history").json()
    assert sum(period["by_arm"]["learned"]["value"] for period in history["periods"]) == 39.0
    client.clock.now += DAY
    late = add(client, decision, {"event_id": "order-8", "name": "cart"})
    assert late.status_code == 410
    assert "reward_days" in late.json()["detail"]
    assert logged(client, decision)["value"] == 39.0


def test_items_are_ranked_by_what_their_clicks_bring_later(client: Client, name: str) -> None:
    of_a = []
    for item, value in (("a", 1.0), ("b", 100.0)):
        for number in range(8):
            decision = client.decide(name, candidates=["a", "b"])
            client.report(decision, clicked=item)
            of_a += [decision] if item == "a" else []
            event = {"event_id": str(number), "name": "purchase", "value": value + number % 2}
            assert add(client, decision, event).status_code == 200
    client.settle(name)
    overview = client.get(f"/v1/placements/{name}/overview").json()
    values = {item["id"]: item["value"] for item in overview["items"]}
    assert values["b"] > 50.0 > values["a"]
    for decision in of_a:
        later = {"event_id": "later", "name": "purchase", "value": 1_000.0}
        assert add(client, decision, later).json() == {"duplicate": False}
    client.wait_for_snapshot()
    client.clock.now += 60.0
    overview = client.get(f"/v1/placements/{name}/overview?period=8d").json()
    values = {item["id"]: item["value"] for item in overview["items"]}
    assert values["a"] > values["b"]


def test_a_browser_adds_events_until_the_deadline(client: Client, name: str) -> None:
    decision = client.decide(name)
    event = {"event_id": "c-1", "name": "cart"}
    # before the outcome as well as after it
    assert client.beacon(decision, events=[event]).json() == {"duplicate": False}
    assert client.beacon(decision, clicked=decision["items"][0]).json() == {"duplicate": False}
    assert client.beacon(decision, events=[event]).json() == {"duplicate": True}
    assert client.beacon(decision, events=[{**event, "name": "purchase", "value": 1.0}]).status_code == 409
    assert client.beacon(decision, events=[{**event, "event_id": "c-2"}]).json() == {"duplicate": False}
    assert logged(client, decision)["value"] == 4.0
    client.clock.now += 61.0
    expired = client.beacon(decision, events=[{**event, "event_id": "c-3"}])
    assert expired.status_code == 403
    # the server still can
    assert add(client, decision, {**event, "event_id": "c-3"}).json() == {"duplicate": False}
    forged = client.post("/v1/outcomes", json={"token": "x" * 8, "events": [event]})
    assert forged.status_code == 403


def test_an_event_without_a_click_counts_for_the_view_and_for_no_item(client: Client, name: str) -> None:
    decision = client.decide(name)
    client.settle(name)
    assert add(client, decision, {"event_id": "c", "name": "cart"}).status_code == 200
    assert logged(client, decision)["value"] == 2.0
    assert client.settle(name)["decisions"]["clicked"] == 0


@pytest.mark.parametrize(
    ("event", "word"),
    [
        ({"event_id": "e", "name": "refund"}, "['cart', 'purchase'], got 'refund'"),
        ({"event_id": "e", "name": "purchase"}, "'purchase' must have a value"),
        ({"event_id": "e", "name": "click"}, "a click is reported as the outcome"),
        ({"event_id": "", "name": "cart"}, "event_id"),
        ({"name": "cart"}, "event_id"),
        ({"event_id": "e", "name": "cart", "value": -1.0}, "value"),
        ({"event_id": "e", "name": "cart", "value": 1e99}, "value"),
        ({"event_id": "e", "name": "cart", "more": 1}, "more"),
    ],
)
def test_an_event_that_cannot_be_is_refused_by_name(
    client: Client, name: str, event: dict[str, Any], word: str
) -> None:
    decision = client.decide(name)
    for refused in (add(client, decision, event), client.beacon(decision, events=[event])):
        assert refused.status_code == 422, refused.text
        assert word in refused.json()["detail"]
    good = {"event_id": "good", "name": "cart"}
    assert add(client, decision, good, event).status_code == 422
    assert logged(client, decision)["events"] == [], "all of them are recorded, or none"


def test_events_need_a_reward_and_a_list_that_was_shown(client: Client, name: str) -> None:
    client.define("plain")
    plain, unseen = client.decide("plain"), client.decide(name)
    event = {"event_id": "e", "name": "cart"}
    refused = add(client, plain, event)
    assert refused.status_code == 422
    assert "no reward" in refused.json()["detail"]
    refused = client.report(plain, clicked=plain["items"][0], events=[{"name": "cart"}])
    assert refused.status_code == 422
    assert client.report(plain, clicked=plain["items"][0]).json() == {"duplicate": False}
    client.report(unseen, shown=False)
    assert "not shown" in add(client, unseen, event).json()["detail"]
    assert client.report(client.decide(name), shown=False, events=[{"name": "cart"}]).status_code == 422
    bought = client.decide(name)
    add(client, bought, event)
    refused = client.report(bought, shown=False)
    assert refused.status_code == 422
    assert "events of this list were reported" in refused.json()["detail"]
    assert add(client, {"id": "0" * 32}, event).status_code == 404
    assert add(client, plain).status_code == 422


def test_the_number_of_events_is_bounded(client: Client, name: str) -> None:
    decision = client.decide(name)
    for start in range(0, MAX_EVENTS, 20):
        events = [{"event_id": str(number), "name": "cart"} for number in range(start, start + 20)]
        assert add(client, decision, *events).status_code == 200
    refused = add(client, decision, {"event_id": "more", "name": "cart"})
    assert refused.status_code == 422
    assert str(MAX_EVENTS) in refused.json()["detail"]
    assert add(client, decision, {"event_id": "0", "name": "cart"}).json() == {"duplicate": True}


def test_a_batch_of_outcomes_has_a_verdict_on_its_events(client: Client, name: str) -> None:
    decisions = [client.decide(name) for _ in range(2)]
    outcomes = [
        {"id": decisions[0]["id"], "clicked": decisions[0]["items"][0], "events": [{"name": "cart"}]},
        {"id": decisions[1]["id"], "clicked": decisions[1]["items"][0], "events": [{"name": "refund"}]},
    ]
    answer = client.post("/v1/decisions/outcomes", json={"outcomes": outcomes})
    assert [each["verdict"] for each in answer.json()["outcomes"]] == ["recorded", "invalid_event"]


def test_decisions_keep_the_reward_they_were_issued_with(client: Client, name: str) -> None:
    decision = client.decide(name)
    client.define(name, reward={"cart": 7.0})
    later = client.decide(name)
    for each in (decision, later):
        client.report(each, clicked=each["items"][0], events=[{"name": "cart"}])
    assert logged(client, decision)["value"] == 2.0
    assert logged(client, later)["value"] == 7.0


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"reward": {}}, "reward"),
        ({"reward": {"cart": -1.0}}, "reward.cart"),
        ({"reward": {"cart": "worth"}}, "reward.cart"),
        ({"reward": {str(number): 1.0 for number in range(21)}}, "reward"),
        ({"reward_days": 3.0}, "reward_days"),
        ({"reward": {"cart": 1.0}, "reward_days": 91.0}, "reward_days"),
    ],
)
def test_a_reward_that_cannot_be_is_refused_by_name(client: Client, fields: dict[str, Any], word: str) -> None:
    refused = client.put("/v1/placements/wrong", json={"slots": 1, "items": ["a", "b"], **fields})
    assert refused.status_code == 422
    assert word in refused.json()["detail"]
