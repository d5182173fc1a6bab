"""Candidates that are no items of the placement, over HTTP, on either store."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.postgres import Postgres
from tests.service.http.conftest import client as client
from tests.service.http.conftest import store as store
from tests.service.serving import Client, serving

names = (f"candidates-{number}" for number in itertools.count())
NEW = [{"id": "x", "features": {"price": 2.0}}, "y"]


@pytest.fixture
def name(client: Client) -> str:
    fresh = next(names)
    client.define(fresh, max_items=2)
    return fresh


@pytest.mark.parametrize("settings", [{}, {"exploring": False}, {"sticky_seconds": 60.0}], ids=str)
def test_items_that_the_placement_does_not_hold_are_shown(client: Client, name: str, settings: dict[str, Any]) -> None:
    client.define(name, max_items=2, **settings)
    for number in range(4):
        visitor = {"visitor": str(number % 2)} if settings.get("sticky_seconds") else {}
        assert sorted(client.decide(name, candidates=NEW, **visitor)["items"]) == ["x", "y"]
    assert client.decide(name, candidates=["a", *NEW], exclude=["y", "a"])["items"] == ["x"]
    assert client.decide(name, candidates=["b", *NEW], pin={"y": 2})["items"][1] == "y"
    # a list without candidates is of the placement's items
    assert set(client.decide(name)["items"]) < {"a", "b", "c"}


@pytest.mark.parametrize("settings", [{"holdout": 1.0}, {"mode": "shadow"}], ids=str)
def test_the_control_order_is_own_items_first(client: Client, name: str, settings: dict[str, Any]) -> None:
    client.define(name, slots=3, max_items=2, **settings)
    assert client.decide(name, candidates=["y", "x", "c", "a"])["items"] == ["a", "c", "y"]


def test_they_are_learned_and_counted_once(client: Client, name: str) -> None:
    decision = client.decide(name, candidates=NEW)
    assert client.estimates(name)["candidate_items"] == {"learned": 0, "dropped": 0}
    for _ in range(2):
        client.report(decision, clicked="x")
    found = client.settle(name)
    assert found["candidate_items"] == {"learned": 2, "dropped": 0}
    assert found["tally"]["items"] == ["a", "b", "c", "x", "y"]
    assert [sum(column) for column in zip(*found["tally"]["clicks"], strict=True)] == [0, 0, 0, 1, 0]
    # they are in no list of their own accord
    assert {item["id"] for item in found["items"]} == {"a", "b", "c"} > set(found["best_list"])
    client.decide(name, candidates=["u", "v"])
    client.settle(name)
    client.decide(name, candidates=["w"])
    assert client.settle(name)["candidate_items"] == {"learned": 2, "dropped": 3}


def test_after_a_restart_the_better_one_comes_first(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest, store: str
) -> None:
    own = store if store.startswith("postgresql") else f"sqlite:///{tmp_path_factory.mktemp('own')}/store.db"
    if store.startswith("postgresql"):
        postgres: Postgres = request.getfixturevalue("postgres")
        own = postgres.fresh()
    with serving(own) as first:
        first.define(slots=1, max_items=10, position_bias=[1.0])
        for _ in range(40):
            first.report(first.decide(candidates=["good"]), clicked="good")
            first.decide(candidates=["poor"])
        before = first.settle()["tally"]
    with serving(own) as second:
        second.clock.now += 120.0
        assert second.estimates()["tally"] == before
        # of a worker that reads the counts, and of one that has followed them
        shown = [second.decide(candidates=["poor", "good"])["items"][0] for _ in range(40)]
        assert shown.count("good") > 35


@pytest.mark.parametrize(
    ("wish", "reason"),
    [
        ({"candidates": ["x\u200b"]}, "U+200B"),
        ({"candidates": ["x" * 201]}, "200"),
        ({"candidates": [""]}, "candidates"),
        ({"candidates": [{"id": ""}]}, "id"),
        ({"candidates": [{"features": {}}]}, "id"),
        ({"candidates": [{"id": "x", "value": 2.0}]}, "value"),
        ({"candidates": [{"id": "x", "features": {"price": None}}]}, "price"),
        ({"candidates": [{"id": "x", "features": {"price": "1e999"}}, {"id": "x"}]}, "'x' twice"),
        ({"candidates": ["\uff41"]}, "look the same"),
        ({"candidates": ["tea", "\uff54ea"]}, "look the same"),
        ({"candidates": ["x"], "exclude": ["x"]}, "nothing to show"),
        ({"candidates": ["x"], "pin": {"z": 1}}, "'z'"),
        ({"candidates": [7]}, "candidates"),
    ],
)
def test_bad_candidates_are_refused(client: Client, name: str, wish: dict[str, Any], reason: str) -> None:
    answer = client.post(f"/v1/placements/{name}/decisions", json=wish)
    assert answer.status_code == 422
    assert reason in answer.text
    assert client.estimates(name)["decisions"]["issued"] == 0


def test_features_of_another_kind_than_the_items_are_refused(client: Client, name: str) -> None:
    client.define(name, items=["a", {"id": "b", "features": {"price": 2.0}}], max_items=5)
    wish = {"candidates": [{"id": "x", "features": {"price": "cheap"}}]}
    answer = client.post(f"/v1/placements/{name}/decisions", json=wish)
    assert answer.status_code == 422
    assert "'price' of 'x' must be a number" in answer.text


def test_without_max_items_they_are_refused(client: Client, name: str) -> None:
    client.define(name)
    answer = client.post(f"/v1/placements/{name}/decisions", json={"candidates": NEW})
    assert answer.status_code == 422
    assert "'x', which is not one of the 3 items" in answer.text


def test_kinds_of_features_that_do_not_agree_break_nothing(client: Client, name: str) -> None:
    """Two callers send the same feature, one as a number and one as a text, before either is counted."""
    client.define(name, max_items=5)
    for features in ({"price": 2.0}, {"price": "cheap"}):
        client.decide(name, candidates=[{"id": str(features["price"]), "features": features}])
    assert client.settle(name)["candidate_items"]["learned"] == 2
    client.wait_for_snapshot()
    assert len(client.decide(name, candidates=["2.0", "cheap"])["items"]) == 2
    assert client.get("/v1/placements").json()["broken"] == []
