"""Items that the owner keeps in a slot, whoever looks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.plain_python import nothing_is_compiled
from tests.service.serving import Client, serving

__all__ = ["nothing_is_compiled"]

SIX = [f"item {number}" for number in range(6)]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with serving(f"sqlite:///{tmp_path_factory.mktemp('pins')}/store.db") as serving_client:
        yield serving_client


@pytest.mark.parametrize(
    "terms", [{}, {"holdout": 1.0}, {"exploring": False}, {"mode": "shadow"}, {"policy": "thompson-sampling"}]
)
def test_every_visitor_sees_a_pinned_item_in_its_slot(client: Client, terms: dict[str, Any]) -> None:
    name = "-".join(map(str, terms.values())) or "live"
    client.define(name, items=SIX, slots=3, pin={"item 4": 2}, position_bias=[1.0, 0.8, 0.6], **terms)
    shown = [client.decide(name)["items"] for _ in range(30)]
    assert {(len(items), items[1]) for items in shown} == {(3, "item 4")}
    assert all(items.count("item 4") == 1 for items in shown)


def test_constraints_of_a_decision_override_pins(client: Client) -> None:
    client.define("wishes", items=SIX, slots=2, pin={"item 4": 1, "item 5": 2})
    assert client.decide("wishes")["items"] == ["item 4", "item 5"]
    assert client.decide("wishes", pin={"item 0": 1})["items"] == ["item 0", "item 5"]
    assert client.decide("wishes", pin={"item 5": 1})["items"][0] == "item 5"
    left = client.decide("wishes", exclude=["item 4"])["items"]
    assert left[1] == "item 5"
    assert "item 4" not in left


def test_a_returning_visitor_sees_items_pinned_meanwhile(client: Client) -> None:
    client.define("sticky", items=SIX, slots=2, sticky_seconds=600.0, pin={"item 4": 1})
    first = client.decide("sticky", visitor="v")["items"]
    assert client.decide("sticky", visitor="v")["items"] == first
    client.patch("/v1/placements/sticky", json={"pin": {"item 4": None, "item 3": 1}})
    assert client.decide("sticky", visitor="v")["items"][0] == "item 3"


def test_a_pinned_item_that_is_retired_is_pinned_no_more(client: Client) -> None:
    client.define("retired", items=SIX, slots=2, pin={"item 4": 1, "item 5": 2})
    assert client.delete("/v1/placements/retired/items/item%204").status_code == 200
    assert client.get("/v1/placements/retired").json()["pin"] == {"item 5": 2}
    changes = client.get("/v1/placements/retired/changes").json()["changes"]
    assert changes[0]["fields"]["pin"] == {"before": {"item 4": 1, "item 5": 2}, "after": {"item 5": 2}}


@pytest.mark.parametrize(
    ("pin", "why"),
    [
        ({"item 9": 1}, "pin must name items of the placement, got 'item 9'"),
        ({"item 1": 3}, "the slot of 'item 1' in pin must be at most 2, got 3"),
        ({"item 1": 1, "item 2": 1}, "pin puts both 'item 1' and 'item 2' into slot 1"),
        ({"item 1": 0}, "greater than or equal to 1"),
        ({"item 1": "first"}, "valid integer"),
    ],
)
def test_pins_that_cannot_be(client: Client, pin: dict[str, Any], why: str) -> None:
    refused = client.put("/v1/placements/no", json={"slots": 2, "items": SIX, "pin": pin})
    assert refused.status_code == 422
    assert why in refused.text
