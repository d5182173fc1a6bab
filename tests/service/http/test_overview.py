"""What the dashboard asks for: the same numbers as everywhere else, sent once, and searched."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.serving import Client
from tests.service.synthetic_history import Past, write
from tests.waiting import wait_for

#: of the same length, so that an item's number is its name
ITEMS = ["a", "b", "c", "d", "e"]
LIKED = {"a": 0.5, "b": 0.1, "c": 0.1, "d": 0.05, "e": 0.05}


@pytest.fixture(scope="module")
def shop(client: Client, store: str) -> Client:
    """A past that is counted, not lived: what a service happens to show decides nothing here."""
    definition = {
        "slots": 2,
        "items": list(reversed(ITEMS)),
        "holdout": 0.3,
        "segments": {"device": ["mobile", "desktop"]},
        "window_seconds": 60.0,
    }
    shares = {"mobile": 0.5, "desktop": 0.5}
    write(store, "shop", Past(definition, LIKED, [1.0, 0.5], 6, 40, shares), client.clock.now)
    client.wait_for_snapshot()
    return client


def read(client: Client, what: str, name: str = "shop", **query: Any) -> dict[str, Any]:
    answer = client.get(f"/v1/placements/{name}/{what}", params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_an_overview_has_the_numbers_of_the_estimates(shop: Client) -> None:
    overview, estimates = read(shop, "overview", period="24h"), shop.estimates("shop")
    assert {item["id"]: item["attractiveness"] for item in overview["items"]} == {
        item["id"]: item["attractiveness"] if item["shown"] else None for item in estimates["items"]
    }
    assert [slot["bias"] for slot in overview["position_bias"]] == [
        slot["estimate"] for slot in estimates["position_bias"]
    ]
    assert [slot["item"] for slot in overview["best_list"]] == estimates["best_list"]
    assert overview["uplift"] == estimates["uplift"]
    assert overview["decisions"].items() >= estimates["decisions"].items()
    assert (
        overview["uplift_in_period"]
        == (shop.get("/v1/placements/shop/estimates", params={"period": "24h"}).json()["uplift"])
    )
    assert {check["id"] for check in overview["checks"]} == {
        "waiting", "late", "silent", "repeated", "capped", "several", "fresh", "fit", "drift", "half_life",
    }  # fmt: skip


def test_the_most_relevant_items_come_first(shop: Client) -> None:
    overview = read(shop, "overview")
    items, listed = overview["items"], [slot["item"] for slot in overview["best_list"]]
    assert [item["id"] for item in items[:2]] == listed
    assert items[2:] == sorted(items[2:], key=lambda item: -item["probability_in_best_list"])
    assert items[0]["id"] == "a"


def test_clicks_by_slot_are_those_of_the_tally(shop: Client) -> None:
    overview, tally = read(shop, "overview"), shop.estimates("shop")["tally"]
    believed = {item["id"]: item["attractiveness"] for item in overview["items"]}
    for slot, clicks, passes in zip(overview["position_bias"], tally["clicks"], tally["passes"], strict=True):
        assert slot["clicks"] == sum(clicks) > 0
        assert slot["observed"] == pytest.approx(sum(clicks) / slot["shown"])
        # λα clicks for each pass; how near this is to the clicks is for the tests of fits
        fitted = sum(
            slot["bias"] * believed[item] * passed for item, passed in zip(tally["items"], passes, strict=True)
        )
        assert slot["fitted"] == pytest.approx(fitted / slot["shown"])


def test_an_overview_of_some_visitors_is_theirs_and_its_state_everybodys(shop: Client) -> None:
    everybody, mobile = read(shop, "overview"), read(shop, "overview", segment="device:mobile")
    assert mobile["segment"] == ["device:mobile"]
    assert 0 < mobile["decisions"]["issued"] < everybody["decisions"]["issued"]
    assert mobile["state"] == everybody["state"]
    assert shop.get("/v1/placements/shop/overview", params={"segment": "device:fridge"}).status_code == 422


def test_the_state_is_that_of_the_overview(shop: Client) -> None:
    overview = read(shop, "overview")
    decisions = overview["decisions"]
    views = decisions["clicked"] + decisions["no_click"]
    assert read(shop, "state") == {
        "name": "shop",
        **overview["state"],
        "views": views,
        "click_rate": decisions["clicked"] / views,
        "uplift": overview["uplift"],
        "last_active": overview["last_active"],
    }


@pytest.mark.parametrize("what", ["overview", "state", "timeline"])
def test_an_unchanged_overview_is_not_sent_again(shop: Client, what: str) -> None:
    path = f"/v1/placements/shop/{what}"
    first = shop.get(path)
    again = shop.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", first.headers["ETag"])
    assert shop.get(path, headers={"If-None-Match": '"another"'}).status_code == 200


@pytest.mark.parametrize("by", ["hour", "day"])
def test_a_timeline_has_the_sums_of_the_history(shop: Client, by: str) -> None:
    timeline, history = read(shop, "timeline", by=by), read(shop, "history", by=by)
    periods = history["periods"]
    assert timeline["starts"] == [period["start"] for period in periods]
    assert timeline["issued"] == [period["decisions"]["issued"] for period in periods]
    for arm in ("learned", "holdout"):
        line = timeline["arms"][arm]
        assert line["clicks"] == [period["by_arm"][arm]["clicked"] for period in periods]
        assert line["shown"] == [
            period["by_arm"][arm]["clicked"] + period["by_arm"][arm]["no_click"] for period in periods
        ]
        for mean, low, high in zip(line["mean"], line["low"], line["high"], strict=True):
            assert low <= mean <= high
    for slot in range(2):
        for at, period in enumerate(periods):
            every = sum(shows[at] for shows in timeline["shows"][slot]) + timeline["rest"][slot][at]
            assert every == sum(period["shown"]["shows"][slot])
    for item, line in zip(timeline["items"], timeline["probabilities"], strict=True):
        for at, period in enumerate(periods):
            kept = period["at_the_end"]
            assert line[at] == (None if kept is None else kept["probabilities"].get(item, 0.0))
    assert [change["version"] for change in timeline["changes"]] == [1]


def test_items_are_searched_by_name_in_any_case(client: Client) -> None:
    client.define("found", slots=1, items=["Tea", "green tea", "Straße", "milk", *map(str, range(100))])
    assert {item["id"] for item in read(client, "items", "found", search="TEA")["items"]} == {"Tea", "green tea"}
    assert read(client, "items", "found", search="STRASSE")["found"] == 1
    page = read(client, "items", "found", offset=100, limit=50)
    assert (len(page["items"]), page["found"], page["of"]) == (4, 104, 104)
    assert read(client, "items", "found", search="nothing") == {
        "items": [],
        "labels": {},
        "found": 0,
        "of": 104,
    }
    for wrong in ({"limit": 0}, {"limit": 501}, {"offset": -1}, {"search": "x" * 201}):
        assert client.get("/v1/placements/found/items", params=wrong).status_code == 422


def test_before_the_first_count_nothing_is_reported_as_known(client: Client) -> None:
    client.define("empty")
    overview = read(client, "overview", "empty")
    assert overview["state"]["kind"] == "nothing_yet"
    for item in overview["items"]:
        assert (item["attractiveness"], item["low"], item["high"], item["probability_in_best_list"]) == (None,) * 4
    for slot in overview["position_bias"]:
        assert (slot["bias"], slot["observed"], slot["fitted"]) == (None, None, None)
    assert all(slot["probability"] is None for slot in overview["best_list"])
    assert overview["pays"].startswith("Not measured")
    assert read(client, "timeline", "empty")["starts"] == []


def test_pinned_items_are_in_the_best_list(client: Client) -> None:
    client.define("pinned", pin={"c": 1})
    first, second = read(client, "overview", "pinned")["best_list"]
    assert (first["item"], first["pinned"], second["pinned"]) == ("c", True, False)


def test_values_are_included_if_there_are_any(client: Client) -> None:
    client.define("valued", items=["a", "b", {"id": "c", "value": 2.5}])
    assert {item["id"]: item["value"] for item in read(client, "overview", "valued")["items"]} == {
        "a": 1.0,
        "b": 1.0,
        "c": 2.5,
    }
    client.define("plain")
    assert {item["value"] for item in read(client, "overview", "plain")["items"]} == {None}


def test_it_is_there_as_soon_as_something_is_counted(client: Client) -> None:
    client.define("new")
    assert read(client, "overview", "new")["decisions"]["issued"] == 0
    decision = client.decide("new")
    client.report(decision, clicked=decision["items"][0])
    client.settle("new")
    client.wait_for_snapshot()
    # two makings are at least two seconds apart
    wait_for(lambda: read(client, "overview", "new")["decisions"]["clicked"] == 1, "the click to be seen")


@pytest.mark.parametrize("what", ["overview", "state", "timeline", "items"])
def test_an_unknown_placement_has_no_overview(client: Client, what: str) -> None:
    assert client.get(f"/v1/placements/nobody/{what}").status_code == 404


@pytest.mark.parametrize("query", [{"period": "yesterday"}, {"period": ""}, {"segment": "x"}, {"nonsense": "1"}])
def test_invalid_queries_are_rejected(shop: Client, query: dict[str, str]) -> None:
    assert shop.get("/v1/placements/shop/overview", params=query).status_code == 422
