"""Placements that do not explore, or that run in the shadow."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plain_python import nothing_is_compiled
from tests.service.serving import Client

__all__ = ["nothing_is_compiled"]

SIX = [f"item {number}" for number in range(6)]


def teach(client: Client, name: str, **definition: Any) -> None:
    """Item 5 is clicked whenever it is shown, item 4 half of the time, and nothing else ever."""
    client.define(name, items=SIX, **definition)
    for number in range(120):
        shown = {f"item {number % 6}": 1, f"item {(number + 1 + number % 5) % 6}": 2}
        decision = client.decide(name, pin=shown)
        for item, every in (("item 5", 1), ("item 4", 2)):
            if item in decision["items"] and number % every == 0:
                client.report(decision, clicked=item)
                break
    client.settle(name)
    client.wait_for_snapshot()


def test_without_exploring_only_the_best_list_is_shown_and_still_learns(client: Client) -> None:
    teach(client, "steady")
    client.patch("/v1/placements/steady", json={"exploring": False})
    best = client.estimates("steady")["best_list"]
    assert {*best} == {"item 5", "item 4"}
    assert [client.decide("steady")["items"] for _ in range(20)] == [best] * 20
    assert client.decide("steady", exclude=["item 5"])["items"][0] == "item 4"
    assert client.decide("steady", pin={"item 0": 1})["items"] == ["item 0", "item 5"]
    assert client.decide("steady")["arm"] == "learned"
    before = client.estimates("steady")["decisions"]
    after = client.settle("steady")
    assert after["decisions"]["no_click"] > before["no_click"]
    assert after["shadow"] is None
    client.patch("/v1/placements/steady", json={"holdout": 1.0})
    assert client.decide("steady")["items"] == SIX[:2]


def test_the_shadow_shows_the_control_order_and_returns_the_learned_list(client: Client) -> None:
    teach(client, "shadow")
    client.patch("/v1/placements/shadow", json={"mode": "shadow", "holdout": 0.5})
    decisions = [client.decide("shadow") for _ in range(10)]
    assert {(tuple(found["items"]), found["arm"]) for found in decisions} == {(("item 0", "item 1"), "shadow")}
    assert client.decide("shadow", exclude=["item 0"])["items"] == ["item 1", "item 2"]
    assert client.post("/v1/placements/shadow/decisions", json={"pin": {"nobody": 1}}).status_code == 422
    before = client.estimates("shadow")["tally"]["passes"]
    found = client.settle("shadow")
    assert found["tally"]["passes"][0][0] == before[0][0] + 10, "the shadow is not counted as any decision is"
    shadow = found["shadow"]
    assert (shadow["shows"], shadow["measure"]) == (SIX[:2], "click_rate")
    assert {*shadow["would_show"]} == {"item 5", "item 4"}
    assert shadow["would_bring"]["estimate"] > 0.5 > shadow["brings"]["estimate"]
    assert shadow["difference"]["low"] > 0.0
    for part in ("would_bring", "brings", "difference"):
        assert shadow[part]["low"] <= shadow[part]["estimate"] <= shadow[part]["high"]
    gained = shadow["would_bring"]["estimate"] - shadow["brings"]["estimate"]
    assert shadow["difference"]["estimate"] == pytest.approx(gained)


def test_the_shadow_counts_values_where_there_are_any(client: Client) -> None:
    teach(client, "values")
    client.patch("/v1/placements/values", json={"mode": "shadow"})
    before = client.estimates("values")["shadow"]
    client.put("/v1/placements/values/items/item 5", json={"value": 100})
    found = client.estimates("values")["shadow"]
    assert found["measure"] == "value"
    assert found["would_bring"]["estimate"] > 10 * before["would_bring"]["estimate"]


def test_new_items_take_no_more_than_their_share(client: Client) -> None:
    def new_ones() -> int:
        return sum(item.startswith("new") for _ in range(40) for item in client.decide("new")["items"])

    teach(client, "new", new_items_at_most=0.01)
    client.patch("/v1/placements/new", json={"items": [*SIX, *(f"new {number}" for number in range(50))]})
    # 0.8 of 80 are expected at most: more than 8 come with a probability below 10⁻⁶
    assert new_ones() <= 8
    client.patch("/v1/placements/new", json={"new_items_at_most": 1.0})
    assert new_ones() > 8
