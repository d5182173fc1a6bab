"""Placements changed in part, one item at a time, at a version, and deleted."""

from __future__ import annotations

import itertools
import json
import threading
from typing import Any

import pytest

from tests.service.serving import THREE, Client
from tests.waiting import FOR_EVER

MERGE_PATCH = {"Content-Type": "application/merge-patch+json"}
names = map("changing {}".format, itertools.count())


@pytest.fixture
def path(client: Client) -> str:
    """Of a placement of this test's own: two slots, items a, b and c, a minute."""
    name = next(names)
    client.define(name)
    return f"/v1/placements/{name}"


def name_of(path: str) -> str:
    return path.rpartition("/")[2]


def test_a_patch_changes_named_fields_and_null_restores_the_default(client: Client, path: str) -> None:
    client.define(name_of(path), holdout=0.5, position_bias=[1.0, 0.5])
    answer = client.patch(path, json={"holdout": 0.25, "position_bias": None, "window_seconds": None})
    assert answer.status_code == 200
    assert answer.json() == client.get(path).json()
    assert answer.json()["holdout"] == 0.25
    assert answer.json()["position_bias"] is None
    assert answer.json()["window_seconds"] == 1800.0
    assert answer.json()["items"] == ["a", "b", "c"]
    items = client.patch(path, content=b'{"items": ["b", {"id": "d", "value": 2}]}', headers=MERGE_PATCH).json()[
        "items"
    ]
    assert items == ["b", {"id": "d", "value": 2.0}]


@pytest.mark.parametrize(
    ("patch", "named"),
    [
        ({"slots": 4}, "slots"),
        ({"slots": None}, "slots"),
        ({"items": None}, "items"),
        ({"items": ["a"]}, "slots"),
        ({"holdouts": 1}, "holdouts"),
        ({"mode": "asleep"}, "mode"),
        ({"mode": "frozen"}, "exploring"),
        ({"memory": "auto"}, "half_life"),
        ({"sticky_seconds": 0.5}, "sticky_seconds"),
        ({"sticky_seconds": 31 * 86_400}, "sticky_seconds"),
        ({"new_items_at_most": 1.5}, "new_items_at_most"),
        ({"new_items_at_most": 0.5, "policy": "pbm-ucb", "position_bias": [1.0, 0.5]}, "new_items_at_most"),
        ([], "body"),
        (None, "body"),
        ("x", "body"),
    ],
)
def test_a_patch_that_cannot_be_is_refused_by_field_and_changes_nothing(
    client: Client, path: str, patch: Any, named: str
) -> None:
    before = client.get(path)
    answer = client.patch(path, json=patch)
    assert answer.status_code == 422, answer.text
    assert named in answer.json()["detail"]
    after = client.get(path)
    assert (after.json(), after.headers["etag"]) == (before.json(), before.headers["etag"])


def test_every_answer_has_the_etag_of_the_version(client: Client, path: str) -> None:
    first = client.get(path).headers["etag"]
    assert client.define(name_of(path)).headers["etag"] == first == '"1"'
    tags = [
        client.patch(path, json={"holdout": 0.1}).headers["etag"],
        client.patch(path, json={"holdout": 0.1}).headers["etag"],
        client.put(f"{path}/items/d").headers["etag"],
        client.delete(f"{path}/items/a").headers["etag"],
        client.define(name_of(path), items=["x", "y"]).headers["etag"],
        client.get(path).headers["etag"],
    ]
    assert tags == ['"2"', '"2"', '"3"', '"4"', '"5"', '"5"']


def test_a_stale_etag_is_refused_and_changes_nothing(client: Client, path: str) -> None:
    stale = {"If-Match": client.get(path).headers["etag"]}
    current = {"If-Match": client.patch(path, json={"holdout": 0.5}).headers["etag"]}
    for headers in (stale, {"If-Match": '"7"'}, {"If-Match": 'W/"2"'}, {"If-Match": '"x"'}):
        for answer in (
            client.put(path, json=THREE, headers=headers),
            client.patch(path, json={"holdout": 0.0}, headers=headers),
            client.put(f"{path}/items/d", headers=headers),
            client.delete(f"{path}/items/a", headers=headers),
            client.delete(path, params={"confirm": name_of(path)}, headers=headers),
        ):
            assert answer.status_code == 412, answer.text
            assert answer.headers["content-type"] == "application/problem+json"
    found = client.get(path)
    assert (found.json()["holdout"], found.json()["items"]) == (0.5, ["a", "b", "c"])
    assert client.patch(path, json={"holdout": 0.1}, headers=current).status_code == 200
    assert client.patch(path, json={"holdout": 0.2}, headers={"If-Match": "*"}).status_code == 200
    either = {"If-Match": f'"1", {client.get(path).headers["etag"]}'}
    assert client.patch(path, json={"holdout": 0.3}, headers=either).status_code == 200


@pytest.mark.parametrize("tag", ["1", '"1', "", '"1" "2"', "**"])
def test_an_invalid_etag_is_rejected_by_name(client: Client, path: str, tag: str) -> None:
    answer = client.patch(path, json={"holdout": 0.1}, headers={"If-Match": tag})
    assert answer.status_code == 422
    assert "If-Match" in answer.json()["detail"]


def test_create_only(client: Client, path: str) -> None:
    only = {"If-None-Match": "*"}
    assert client.put(path, json=THREE, headers=only).status_code == 412
    fresh = f"/v1/placements/{next(names)}"
    assert client.put(fresh, json=THREE, headers={"If-Match": "*"}).status_code == 412
    assert client.put(fresh, json=THREE, headers=only).status_code == 201
    assert client.put(fresh, json=THREE, headers={"If-None-Match": '"1"'}).status_code == 422


def test_an_item_is_added_changed_and_retired_and_nothing_is_lost(client: Client, path: str) -> None:
    client.report(client.decide(name_of(path), pin={"a": 1}), clicked="a")
    client.settle(name_of(path))
    added = client.put(f"{path}/items/d", json={"value": 2.5})
    assert (added.status_code, added.json()) == (201, {"id": "d", "value": 2.5})
    assert client.put(f"{path}/items/d", json={"value": 2.5}).status_code == 200
    assert client.put(f"{path}/items/b", json={"value": 3}).status_code == 200
    wanted = ["a", {"id": "b", "value": 3.0}, "c", {"id": "d", "value": 2.5}]
    assert client.get(path).json()["items"] == wanted
    # a PUT is all that there is to say of the item
    assert client.put(f"{path}/items/b").json() == {"id": "b"}
    retired = client.delete(f"{path}/items/a")
    assert (retired.status_code, retired.json()["id"]) == (200, "a")
    assert "a" not in client.decide(name_of(path))["items"]
    assert client.estimates(name_of(path))["tally"]["clicks"][0][3] == 1
    assert client.put(f"{path}/items/a").status_code == 201
    assert next(item for item in client.estimates(name_of(path))["items"] if item["id"] == "a")["clicks"] == 1


def test_items_that_cannot_be_are_refused(client: Client, path: str) -> None:
    assert client.delete(f"{path}/items/nobody").status_code == 404
    assert "nobody" in client.delete(f"{path}/items/nobody").json()["detail"]
    assert client.delete(f"{path}/items/a").status_code == 200
    fewer = client.delete(f"{path}/items/b")
    assert fewer.status_code == 422
    assert "slots" in fewer.json()["detail"]
    assert client.get(path).json()["items"] == ["b", "c"]
    wrong: list[Any] = [{"value": 0}, {"worth": 1}, {"id": "b"}, [], {"value": "1"}]
    for body in wrong:
        assert client.put(f"{path}/items/b", json=body).status_code == 422, body
    assert client.put(f"{path}/items/{'x' * 201}").status_code == 422
    assert client.put(f"{path}/items/a%00b").status_code == 422
    for answer in (
        client.put("/v1/placements/nobody/items/a"),
        client.delete("/v1/placements/nobody/items/a"),
        client.patch("/v1/placements/nobody", json={}),
        client.get("/v1/placements/nobody/changes"),
        client.delete("/v1/placements/nobody?confirm=nobody"),
    ):
        assert answer.status_code == 404


def test_items_may_be_called_anything(client: Client, path: str) -> None:
    for id, quoted in (("a/b", "a%2Fb"), ("a/b/c", "a/b/c"), ("首页 🛒?", "%E9%A6%96%E9%A1%B5%20%F0%9F%9B%92%3F")):
        answer = client.put(f"{path}/items/{quoted}", json={"value": 2})
        assert (answer.status_code, answer.json()["id"]) == (201, id)
        assert client.delete(f"{path}/items/{quoted}").json() == {"id": id, "value": 2.0}


def test_changes_are_listed_with_their_time(client: Client, path: str) -> None:
    client.clock.now += 5
    client.patch(path, json={"holdout": 0.1, "items": ["c", "b", {"id": "a", "value": 2}, "d"]})
    client.define(name_of(path), items=["c", "b"], holdout=0.1)
    client.define(name_of(path), items=["c", "b"], holdout=0.1)
    third, second, first = client.get(f"{path}/changes").json()["changes"]
    none = {"count": 0, "items": []}
    assert (first["version"], first["fields"], first["retired"]) == (1, {}, none)
    assert first["added"] == {"count": 3, "items": ["a", "b", "c"]}
    assert second["fields"] == {"holdout": {"before": 0.0, "after": 0.1}}
    assert second["added"] == {"count": 1, "items": ["d"]}
    assert second["changed"] == {"count": 1, "items": ["a"]}
    assert (second["reordered"], second["time"][-1]) == (True, "Z")
    assert third["retired"] == {"count": 2, "items": ["a", "d"]}
    assert (third["added"], third["reordered"], third["fields"]) == (none, False, {})


def test_a_thousand_items_are_counted_and_a_hundred_named(client: Client, path: str) -> None:
    client.patch(path, json={"items": [f"item {number}" for number in range(1000)]})
    newest = client.get(f"{path}/changes").json()["changes"][0]
    assert (newest["added"]["count"], len(newest["added"]["items"])) == (1000, 100)


def test_a_placement_is_deleted_if_its_name_is_given_twice(client: Client, path: str) -> None:
    name = name_of(path)
    pending, counted = client.decide(name), client.decide(name)
    client.report(counted, clicked=None)
    client.settle(name)
    pending = client.decide(name)
    for params in ({}, {"confirm": ""}, {"confirm": "nobody"}):
        refused = client.delete(path, params=params)
        assert refused.status_code == 422
        assert "confirm" in refused.json()["detail"]
    assert client.delete(path, params={"confirm": name}).json() == {"name": name}
    assert client.delete(path, params={"confirm": name}).status_code == 404
    for answer in (
        client.get(path),
        client.get(f"{path}/estimates"),
        client.get(f"{path}/changes"),
        client.post(f"{path}/decisions"),
        client.report(pending, clicked=None),
        client.report(counted, clicked=None),
        client.beacon(pending, clicked=None),
    ):
        assert answer.status_code == 404, answer.text
    assert name not in [found["name"] for found in client.get("/v1/placements").json()["placements"]]


def test_a_recreated_placement_starts_empty_and_continues_the_versions(client: Client, path: str) -> None:
    name = name_of(path)
    client.report(client.decide(name), clicked=None)
    client.settle(name)
    old = client.get(path).headers["etag"]
    client.delete(path, params={"confirm": name})
    again = client.define(name)
    assert (again.status_code, again.headers["etag"]) == (201, '"2"')
    assert client.patch(path, json={"holdout": 0.1}, headers={"If-Match": old}).status_code == 412
    found = client.estimates(name)
    assert found["decisions"]["issued"] == 0
    assert not any(map(any, found["tally"]["passes"]))
    assert [change["version"] for change in client.get(f"{path}/changes").json()["changes"]] == [2]


def test_changes_at_once_do_not_undo_each_other(client: Client, path: str) -> None:
    items = [f"new {number}" for number in range(8)]

    def add(item: str) -> None:
        with Client(base_url=client.base_url, timeout=FOR_EVER) as mine:
            assert mine.put(f"{path}/items/{item}").status_code == 201

    threads = [threading.Thread(target=add, args=(item,)) for item in items]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(client.get(path).json()["items"]) == sorted(["a", "b", "c", *items])
    assert len(client.get(f"{path}/changes").json()["changes"]) == 9


def test_one_of_two_concurrent_changes_is_rejected(client: Client, path: str) -> None:
    tag, answers = client.get(path).headers["etag"], []

    def change(holdout: float) -> None:
        with Client(base_url=client.base_url, timeout=FOR_EVER) as mine:
            answers.append(mine.patch(path, json={"holdout": holdout}, headers={"If-Match": tag}).status_code)

    threads = [threading.Thread(target=change, args=(share,)) for share in (0.1, 0.2, 0.3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [200, 412, 412]


def test_deep_and_malformed_patches_are_refused(client: Client, path: str) -> None:
    for body in (b"{", b"", b'{"items": ' + b"[" * 5000, b'{"segments": ' + b'{"a":' * 500 + b"1" + b"}" * 501):
        assert client.patch(path, content=body).status_code == 422
    assert json.loads(client.get(path).text)["items"] == ["a", "b", "c"]
