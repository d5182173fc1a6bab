"""For whom: segments, features, several clicks and what they brought, over HTTP."""

from __future__ import annotations

import itertools
from datetime import datetime
from typing import Any

import pytest

from tests.service.serving import THREE, Client

SEGMENTS = {"device": ["mobile", "desktop"], "visitor": ["new", "returning"]}


names = map("placement {}".format, itertools.count())


def _estimates(client: Client, name: str, *segment: str) -> dict[str, Any]:
    answer = client.get(f"/v1/placements/{name}/estimates", params=[("segment", one) for one in segment])
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_each_segment_is_counted_by_itself_and_all_add_up(client: Client) -> None:
    name = next(names)
    client.define(name, segments=SEGMENTS)
    contexts = [
        {"device": "mobile", "visitor": "new"},
        {"device": "mobile", "visitor": "a stranger"},
        {"device": "a watch"},
        {},
    ]
    for context in contexts:
        decision = client.decide(name, context=context, pin={"a": 1})
        assert client.report(decision, clicked="a").status_code == 200
    client.decide(name, context={"device": "mobile"}, pin={"b": 1})
    everybody = client.settle(name)
    assert everybody["tally"]["clicks"][0] == [4, 0, 0]
    assert everybody["decisions"]["issued"] == 5
    assert {str(one["segment"]): one["decisions"]["issued"] for one in everybody["by_segment"]} == {
        "{'device': 'mobile', 'visitor': 'new'}": 1,
        "{'device': 'mobile'}": 2,
        "{}": 2,
    }
    mobile = _estimates(client, name, "device:mobile")
    assert (mobile["tally"]["clicks"][0], mobile["tally"]["passes"][0]) == ([2, 0, 0], [0, 1, 0])
    assert mobile["decisions"]["issued"] == 3
    new = _estimates(client, name, "device:mobile", "visitor:new")
    assert (new["tally"]["clicks"][0], new["decisions"]["issued"]) == ([1, 0, 0], 1)
    other = _estimates(client, name, "device:other", "visitor:other")
    assert (other["tally"]["clicks"][0], other["decisions"]["issued"]) == ([2, 0, 0], 2)
    assert _estimates(client, name, "visitor:returning")["decisions"]["issued"] == 0
    assert all(len(found["best_list"]) == 2 for found in (everybody, mobile, new, other))


def test_outcomes_of_a_segment_affect_that_segment_first(client: Client) -> None:
    name = next(names)
    client.define(name, slots=1, segments={"device": ["mobile", "desktop"]})
    for device, liked in (("mobile", "a"), ("desktop", "b")):
        for item in ("a", "b", "c"):
            for _ in range(60):
                decision = client.decide(name, context={"device": device}, pin={item: 1})
                client.report(decision, clicked=item if item == liked else None)
    client.settle(name)
    assert _estimates(client, name, "device:mobile")["best_list"] == ["a"]
    assert _estimates(client, name, "device:desktop")["best_list"] == ["b"]
    client.wait_for_snapshot()
    # 60 of 60 against none: the policy, too, gives each what it likes; at random 1 in 3¹⁰ would
    assert {tuple(client.decide(name, context={"device": "mobile"})["items"]) for _ in range(10)} == {("a",)}
    assert {tuple(client.decide(name, context={"device": "desktop"})["items"]) for _ in range(10)} == {("b",)}


def test_segments_can_change_while_nothing_is_lost(client: Client) -> None:
    name = next(names)
    client.define(name, segments={"device": ["mobile"]})
    pending = client.decide(name, context={"device": "mobile"})
    client.report(client.decide(name, context={"device": "mobile"}, pin={"a": 1}), clicked="a")
    client.define(name, segments={"visitor": ["new"]})
    client.report(client.decide(name, context={"visitor": "new"}, pin={"a": 1}), clicked="a")
    client.report(pending, clicked=None)
    found = client.settle(name)
    assert sum(found["tally"]["clicks"][0]) == 2
    assert found["decisions"]["final"] == 3
    # what was known of devices is of visitors of whom nothing is known
    assert sum(_estimates(client, name, "visitor:other")["tally"]["clicks"][0]) == 1
    client.wait_for_snapshot()
    client.decide(name, context={"visitor": "new"})
    client.settle(name)
    client.wait_for_snapshot()
    client.define(name)
    assert client.settle(name)["decisions"]["final"] == 4


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"segments": {"a:b": ["c"]}}, "colon"),
        ({"segments": {"device": ["mobile", "mobile"]}}, "'device'"),
        ({"segments": {"device": ["other"]}}, "'other'"),
        ({"segments": {"device": []}}, "device"),
        ({"segments": {key: ["a", "b"] for key in "tuvwxyz"}}, "one more value of each key, got 2187"),
        ({"items": ["a", "b", {"id": "c", "features": {"price": [1]}}]}, "price"),
        ({"items": ["a", "b", {"id": "c", "features": {"price": True}}]}, "price"),
        (
            {"items": ["a", {"id": "b", "features": {"price": 3}}, {"id": "c", "features": {"price": "high"}}]},
            "the feature 'price' of 'c' must be a number, as that of 'b' is, got 'high'",
        ),
        ({"items": ["a", "b", {"id": "c", "features": {str(number): 1 for number in range(51)}}]}, "50"),
        ({"half_life": "never"}, "half_life"),
        ({"half_life": "72"}, "half_life"),
        ({"half_life": 0}, "half_life"),
        ({"half_life": 90_000}, "half_life"),
        ({"half_life": True}, "half_life"),
        ({"half_life": {"hours": 72}}, "half_life"),
        ({"memory": {"half_life_hours": 72}}, "set half_life to a number of hours"),
        ({"memory": None}, "set half_life to a number of hours"),
        ({"mode": "frozen"}, "set exploring to false"),
        ({"exploring": "no"}, "exploring"),
        (
            {"half_life": "auto", "policy": "thompson-sampling:half_life=500"},
            "half_life must be null if the policy has a half-life",
        ),
        ({"values": "guessed"}, "values"),
        ({"window_seconds": {"at_most": 0}}, "at_most"),
        ({"window_seconds": {"at_most": 600, "catch": 1}}, "catch"),
    ],
)
def test_errors_in_a_definition_are_named(client: Client, changes: dict[str, Any], named: str) -> None:
    answer = client.put(f"/v1/placements/{next(names)}", json={**THREE, **changes})
    assert answer.status_code == 422
    assert named in answer.text


@pytest.mark.parametrize("segments", [{"x": list(map(str, range(1_000)))}, {key: list("abcdefghij") for key in "xyz"}])
def test_a_thousand_combinations_are_allowed(client: Client, segments: dict[str, list[str]]) -> None:
    client.define(next(names), segments=segments)
    one_more = {**segments, "x": [*segments["x"], "one more"]}
    answer = client.put(f"/v1/placements/{next(names)}", json={**THREE, "segments": one_more})
    assert (answer.status_code, "at most 1000 combinations" in answer.text) == (422, True)


def test_unknown_keys_and_segments_are_refused_by_name(client: Client) -> None:
    name = next(names)
    client.define(name, segments=SEGMENTS)
    answer = client.post(f"/v1/placements/{name}/decisions", json={"context": {"colour": "red"}})
    assert (answer.status_code, "'colour'" in answer.text) == (422, True)
    for context in ({"device": 3}, {"device": None}, ["device"]):
        assert client.post(f"/v1/placements/{name}/decisions", json={"context": context}).status_code == 422
    for wrong in ("colour:red", "device:watch", "device", ""):
        answer = client.get(f"/v1/placements/{name}/estimates", params={"segment": wrong})
        assert answer.status_code == 422
        assert f"'{wrong}'" in answer.json()["detail"]
    asked = "segment=device:mobile&segment=device:desktop"
    assert client.get(f"/v1/placements/{name}/estimates?{asked}").status_code == 422
    mistyped = client.get(f"/v1/placements/{name}/estimates?segmnet=device:mobile")
    assert (mistyped.status_code, "segmnet" in mistyped.text) == (422, True)
    plain = next(names)
    client.define(plain)
    assert client.post(f"/v1/placements/{plain}/decisions", json={"context": {"device": "mobile"}}).status_code == 422


def test_features_are_kept_and_given_to_the_learner(client: Client) -> None:
    name = next(names)
    # clicked by category; the last two were never seen
    items = [
        {"id": f"{category}{number}", "features": {"category": category, "price": float(number)}}
        for number in range(6)
        for category in ("good", "bad")
    ]
    client.define(name, slots=1, items=items)
    for item in items[:10]:
        every = 2 if str(item["id"]).startswith("good") else 20
        for visit in range(40):
            decision = client.decide(name, pin={item["id"]: 1})
            client.report(decision, clicked=None if visit % every else item["id"])
    found = {one["id"]: one["attractiveness"] for one in client.settle(name)["items"]}
    assert found["good5"] > 2 * found["bad5"]
    assert client.get(f"/v1/placements/{name}").json()["items"] == items


def test_several_clicks_all_count_and_are_all_kept(client: Client) -> None:
    name = next(names)
    client.define(name)
    decision = client.decide(name, pin={"a": 1, "b": 2})
    assert client.report(decision, clicked=["b", "a"], value=2.5).json() == {"duplicate": False}
    assert client.report(decision, clicked=["b", "a"], value=2.5).json() == {"duplicate": True}
    for other in ({"clicked": ["b"]}, {"clicked": ["b", "a"]}, {"clicked": ["a", "b"], "value": 2.5}):
        answer = client.report(decision, **other)
        assert answer.status_code == 409
        assert "'b', then on 'a' with value 2.5" in answer.json()["detail"]
    again = client.decide(name, pin={"a": 1, "b": 2})
    assert client.report(again, clicked=None).status_code == 200
    # one click twice is one, and the same as the item alone with nothing said of a value
    assert client.report(again, clicked=["a", "a"]).status_code == 200
    before = client.estimates(name)["decisions"]
    assert before["reported"] == 2
    assert before["reported_until"] == decision["expires"]
    found = client.settle(name)
    assert found["tally"]["clicks"] == [[2, 0, 0], [0, 1, 0]]
    # all of the first list was clicked, so that its items are passed as well
    assert found["tally"]["passes"] == [[1, 0, 0], [0, 1, 0]]
    counted = {kind: found["decisions"][kind] for kind in ("clicked", "several", "value", "reported", "reported_until")}
    assert counted == {"clicked": 2, "several": 1, "value": 2.5, "reported": 0, "reported_until": None}
    client.wait_for_snapshot()
    metrics = client.get("/metrics").text
    assert f'slotwise_several_clicks_share{{placement="{name}"}} 0.5' in metrics
    assert f'slotwise_value_total{{placement="{name}"}} 2.5' in metrics


@pytest.mark.parametrize(
    "outcome",
    [
        {"clicked": []},
        {"clicked": ["a", None]},
        {"clicked": ["a", "nobody"]},
        {"clicked": ["a"] * 21},
        {"clicked": None, "value": 1.0},
        {"shown": False, "value": 1.0},
        {"shown": 0},
        {"shown": 0.0},
        {"shown": True},
        {"clicked": "a", "value": -0.5},
        {"clicked": "a", "value": "much"},
        {"clicked": "a", "value": 1e300},
    ],
)
def test_outcomes_that_make_no_sense_are_refused(client: Client, outcome: dict[str, Any]) -> None:
    name = next(names)
    client.define(name)
    assert client.report(client.decide(name, pin={"a": 1}), **outcome).status_code == 422


def test_values_are_learned_from_rewards_of_clicks(client: Client) -> None:
    name = next(names)
    client.define(name, slots=1, values="learned")
    brings = {"a": 1.0, "b": 9.0, "c": None}
    for _ in range(40):
        for item, value in brings.items():
            decision = client.decide(name, pin={item: 1})
            client.report(decision, clicked=item, **({} if value is None else {"value": value}))
            client.report(client.decide(name, pin={item: 1}), clicked=None)
    found = client.settle(name)
    assert found["best_list"] == ["b"]
    client.wait_for_snapshot()
    assert {tuple(client.decide(name)["items"]) for _ in range(10)} == {("b",)}


def test_a_window_follows_the_delays_of_clicks(client: Client) -> None:
    name = next(names)
    client.define(name, window_seconds={"at_most": 1800, "catch": 0.5})
    assert client.estimates(name)["window_seconds"] == 1800.0
    decisions = [client.decide(name, pin={"a": 1}) for _ in range(24)]
    client.clock.now += 100.0
    for decision in decisions:
        assert client.report(decision, clicked="a").status_code == 200
    found = client.settle(name, 1701.0)
    assert 100.0 <= found["window_seconds"] <= 105.0
    client.wait_for_snapshot()
    now = client.clock.now
    waits = [_seconds(client.decide(name)) - now for _ in range(40)]
    # 0.05⁴⁰ that all wait for all of it
    assert min(waits) == pytest.approx(found["window_seconds"], abs=0.001)
    assert set(waits) <= {min(waits), 1800.0}


def _seconds(decision: dict[str, Any]) -> float:
    return datetime.fromisoformat(decision["expires"]).timestamp()
