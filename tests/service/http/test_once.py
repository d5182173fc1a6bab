"""Decisions that are asked for again, and visitors who come back: through other workers and restarts, too."""

from __future__ import annotations

import itertools
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from slotwise.service.storage import open_store
from tests.service.serving import Client, serving
from tests.waiting import FOR_EVER

MANY = [f"item {number}" for number in range(40)]
names = map("once {}".format, itertools.count())


@pytest.fixture(scope="module")
def other(store: str, client: Client) -> Iterator[Client]:
    """Another worker on the same store, by the same clock."""
    with serving(store, clock=client.clock) as serving_client:
        yield serving_client


@pytest.fixture
def name(client: Client) -> str:
    fresh = next(names)
    client.define(fresh, items=MANY, slots=3)
    return fresh


def ask(client: Client, name: str, key: str | None = None, **wish: Any) -> httpx.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    return client.post(f"/v1/placements/{name}/decisions", json=wish, headers=headers)


def test_the_same_key_is_the_same_decision_byte_by_byte(client: Client, name: str) -> None:
    first = ask(client, name, "k", exclude=["item 1"])
    again = [ask(client, name, "k", exclude=["item 1"]) for _ in range(3)]
    assert first.status_code == 201
    assert [(answer.status_code, answer.content) for answer in again] == [(200, first.content)] * 3
    assert ask(client, name, "l", exclude=["item 1"]).json()["id"] != first.json()["id"]
    assert client.estimates(name)["decisions"]["issued"] == 2
    assert client.report(first.json(), clicked=first.json()["items"][0]).json() == {"duplicate": False}
    # also when its outcome is known
    assert ask(client, name, "k", exclude=["item 1"]).content == first.content


def test_a_key_belongs_to_one_placement(client: Client, name: str) -> None:
    second = next(names)
    client.define(second)
    assert ask(client, name, "k").status_code == ask(client, second, "k").status_code == 201


@pytest.mark.parametrize("wish", [{}, {"exclude": ["item 2"]}, {"pin": {"item 1": 1}}, {"visitor": "Ada"}])
def test_a_key_that_was_used_for_another_request_is_refused(client: Client, name: str, wish: dict[str, Any]) -> None:
    first = ask(client, name, "k", exclude=["item 1"])
    refused = ask(client, name, "k", **wish)
    assert refused.status_code == 422
    assert "Idempotency-Key" in refused.json()["detail"]
    assert ask(client, name, "k", exclude=["item 1"]).content == first.content
    assert client.estimates(name)["decisions"]["issued"] == 1


def test_equivalent_bodies_are_the_same_request(client: Client, name: str) -> None:
    headers = {"Idempotency-Key": "k"}
    path = f"/v1/placements/{name}/decisions"
    first = client.post(path, headers=headers)
    for body in (b"{}", b'{"pin": {}, "exclude": []}', b' {"exclude" : [] }'):
        assert client.post(path, content=body, headers=headers).content == first.content


def test_a_key_is_free_again_after_the_deadline(client: Client, name: str) -> None:
    first = ask(client, name, "k")
    client.clock.now += 59.9
    assert ask(client, name, "k").content == first.content
    client.clock.now += 0.1
    second = ask(client, name, "k", exclude=["item 1"])
    assert (second.status_code, second.json()["id"] != first.json()["id"]) == (201, True)


@pytest.mark.parametrize("key", ["", "x" * 201, "ä", "a\tb"])
def test_invalid_idempotency_keys_are_rejected(client: Client, name: str, key: str) -> None:
    headers = {b"Idempotency-Key": key.encode("latin-1")}
    answer = client.post(f"/v1/placements/{name}/decisions", headers=headers)
    assert answer.status_code == 422
    assert "Idempotency-Key" in answer.json()["detail"]
    assert ask(client, name, "x" * 200).status_code == ask(client, name, "a key, {with} 'all' \"of\" it ~").status_code


def test_many_at_once_through_two_workers_make_one_decision(client: Client, other: Client, name: str) -> None:
    assert ask(other, name, "before").status_code == 201
    answers: list[httpx.Response] = []

    def repeat(url: httpx.URL) -> None:
        with Client(base_url=url, timeout=FOR_EVER) as mine:
            answers.append(ask(mine, name, "k"))

    threads = [threading.Thread(target=repeat, args=(asked.base_url,)) for asked in (client, other) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer.status_code for answer in answers) == [200] * 11 + [201]
    assert len({answer.content for answer in answers}) == 1
    assert client.estimates(name)["decisions"]["issued"] == 2


def test_a_key_is_known_after_a_restart(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    with serving(url) as before:
        before.define(items=MANY, slots=3)
        first = ask(before, "home", "k")
    with serving(url) as after:
        again = ask(after, "home", "k")
    assert (again.status_code, again.content) == (200, first.content)


def test_a_visitor_sees_the_same_list_each_time_in_a_decision_of_its_own(
    client: Client, other: Client, name: str
) -> None:
    client.define(name, items=MANY, slots=3, sticky_seconds=100.0, holdout=0.5)
    other.get(f"/v1/placements/{name}")
    first = client.decide(name, visitor="Ada")
    # forty items, three slots: by chance alone ten times the same with a probability below 10⁻³⁰
    again = [asked.decide(name, visitor="Ada") for asked in (client, other) for _ in range(5)]
    assert {(tuple(found["items"]), found["arm"]) for found in again} == {(tuple(first["items"]), first["arm"])}
    assert len({first["id"], *(found["id"] for found in again)}) == 11
    assert len({tuple(client.decide(name, visitor=f"visitor {number}")["items"]) for number in range(20)}) > 1
    client.clock.now += 99.9
    assert client.decide(name, visitor="Ada")["items"] == first["items"]
    client.clock.now += 0.1
    after = [client.decide(name, visitor="Ada") for _ in range(2)]
    assert after[0]["items"] == after[1]["items"]
    assert client.settle(name)["decisions"]["issued"] == 11 + 20 + 3


def test_without_sticky_seconds_visitors_are_not_recognised(client: Client, name: str) -> None:
    assert len({tuple(client.decide(name, visitor="Ada")["items"]) for _ in range(20)}) > 1


def test_a_list_that_is_no_longer_allowed_is_replaced(client: Client, name: str) -> None:
    client.define(name, items=MANY, slots=3, sticky_seconds=1000.0)

    def seen(**wish: Any) -> list[str]:
        items: list[str] = client.decide(name, visitor="Ada", **wish)["items"]
        return items

    first = seen()
    # what the wishes do not forbid stays, also when another item comes or the holdout changes
    unseen = next(item for item in MANY if item not in first)
    assert seen(exclude=[unseen]) == first
    assert seen(pin={first[1]: 2}) == first
    client.put(f"/v1/placements/{name}/items/new")
    assert seen() == first
    second = seen(exclude=[first[0]])
    assert first[0] not in second
    assert seen() == second
    third = seen(pin={second[0]: 3})
    assert third[2] == second[0]
    client.delete(f"/v1/placements/{name}/items/{third[0]}")
    fourth = seen()
    assert third[0] not in fourth
    assert seen() == fourth
    client.patch(f"/v1/placements/{name}", json={"slots": 2})
    assert len(seen()) == 2


@pytest.mark.parametrize("visitor", ["", "x" * 201, 7, ["Ada"]])
def test_visitors_that_cannot_be_are_refused(client: Client, name: str, visitor: Any) -> None:
    answer = ask(client, name, visitor=visitor)
    assert answer.status_code == 422
    assert "visitor" in answer.json()["detail"]


def test_a_visitor_comes_back_after_a_restart_and_is_nowhere_in_the_store(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    with serving(url) as before:
        before.define(items=MANY, slots=3, sticky_seconds=1000.0)
        first = before.decide(visitor="Ada Lovelace")
        ask(before, "home", "k", visitor="Ada Lovelace")
    with serving(url) as after:
        assert [after.decide(visitor="Ada Lovelace")["items"] for _ in range(5)] == [first["items"]] * 5
    with closing(sqlite3.connect(tmp_path / "store.db")) as file:
        assert "Lovelace" not in "".join(file.iterdump())
        ((digest,),) = file.execute("SELECT visitor FROM visitors").fetchall()
    # the same visitor is another one to another store
    with serving(f"sqlite:///{tmp_path}/other.db") as elsewhere:
        elsewhere.define(items=MANY, slots=3, sticky_seconds=1000.0)
        elsewhere.decide(visitor="Ada Lovelace")
    with closing(sqlite3.connect(tmp_path / "other.db")) as file:
        assert file.execute("SELECT visitor FROM visitors").fetchall() != [(digest,)]


def test_remembered_visitors_and_keys_expire(client: Client, store: str, name: str) -> None:
    client.define(name, items=MANY, slots=3, sticky_seconds=30.0)
    ask(client, name, "k", visitor="Ada")
    client.settle(name)
    # looked for whenever something is final
    client.decide(name)
    client.settle(name)
    opened: Any = open_store(store)
    for table in ("keys", "visitors"):
        assert opened.all(f"SELECT * FROM {table} WHERE placement = ?", (name,)) == []
    opened.close()


def test_many_decisions_are_made_at_once_and_by_one_key(client: Client, name: str) -> None:
    first = ask(client, name, "many", count=20, exclude=["item 1"])
    assert first.status_code == 201
    decisions = first.json()["decisions"]
    assert len({decision["id"] for decision in decisions}) == 20
    assert all(len(decision["items"]) == 3 and "item 1" not in decision["items"] for decision in decisions)
    again = ask(client, name, "many", count=20, exclude=["item 1"])
    assert (again.status_code, again.content) == (200, first.content)
    # another request under the same key is refused whole
    assert ask(client, name, "many", count=20, exclude=["item 2"]).status_code == 422
    assert client.estimates(name)["decisions"]["issued"] == 20
    assert [ask(client, name, count=count).status_code for count in (0, 101, 1.5, True)] == [422] * 4
    assert len(ask(client, name, count=1).json()["decisions"]) == 1


def test_many_outcomes_get_a_verdict_each(client: Client, name: str) -> None:
    one, other, third = ask(client, name, count=3).json()["decisions"]
    unknown = "0" * 32
    outcomes = [
        {"id": one["id"], "clicked": one["items"][0]},
        {"id": one["id"], "clicked": one["items"][0]},
        {"id": one["id"], "clicked": one["items"][1]},
        {"id": other["id"], "clicked": "nobody"},
        {"id": other["id"], "shown": False},
        {"id": unknown, "clicked": None},
        {"id": "no id", "clicked": None},
    ]
    answer = client.post("/v1/decisions/outcomes", json={"outcomes": outcomes})
    assert answer.status_code == 200
    verdicts = ["recorded", "duplicate", "conflict", "unknown_item", "recorded", "unknown_decision", "unknown_decision"]
    assert answer.json()["outcomes"] == [
        {"id": outcome["id"], "verdict": verdict} for outcome, verdict in zip(outcomes, verdicts, strict=True)
    ]
    client.settle(name)
    late = client.post("/v1/decisions/outcomes", json={"outcomes": [{"id": third["id"], "clicked": None}]})
    assert late.json()["outcomes"] == [{"id": third["id"], "verdict": "late"}]
    counted = client.estimates(name)["decisions"]
    assert (counted["clicked"], counted["not_shown"], counted["no_click"]) == (1, 1, 1)
    refused: list[Any] = [
        {},
        {"outcomes": []},
        {"outcomes": [{"id": unknown}]},
        {"outcomes": [outcomes[0]] * 1_001},
        [],
    ]
    for body in refused:
        assert client.post("/v1/decisions/outcomes", json=body).status_code == 422


def test_a_visitor_beyond_the_cap_teaches_nothing_and_is_reported(client: Client, name: str) -> None:
    """Each visitor clicks on the same item: ten of the many views of one count, and of the others all."""
    client.define(name, items=["a", "b"], slots=1, per_visitor_hour=10)
    shown = [client.decide(name, visitor="bot", pin={"b": 1}) for _ in range(120)]
    shown += [client.decide(name, visitor=f"visitor {number}", pin={"a": 1}) for number in range(3)]
    for decision in shown:
        client.report(decision, clicked=decision["items"][0])
    estimates = client.settle(name)
    assert estimates["tally"]["clicks"] == [[3, 10]]
    assert estimates["decisions"]["capped"] == 110
    assert estimates["decisions"]["final"] == 123
    assert client.get(f"/v1/decisions/{shown[119]['id']}").json()["capped"]
    checks = client.get(f"/v1/placements/{name}/overview").json()["checks"]
    (check,) = [check for check in checks if check["id"] == "capped"]
    assert check["level"] == "look"
    assert "110 decisions" in check["sentence"]
    client.wait_for_snapshot()
    assert f'slotwise_capped_total{{placement="{name}"}} 110.0' in client.get("/metrics").text
    for cap, field in itertools.product((0, -1, 1.5, "10"), ("per_visitor_hour", "per_network_hour")):
        definition = {"slots": 1, "items": ["a", "b"], field: cap}
        assert client.put(f"/v1/placements/{name}", json=definition).status_code == 422


def test_a_network_beyond_the_cap_teaches_nothing(client: Client, name: str) -> None:
    """Each view has another visitor; addresses of one network count together, and views without one count always."""
    client.define(name, items=["a", "b"], slots=1, per_network_hour=2)
    addresses = ["2001:db8::1", "2001:db8::2", "2001:db8::ffff:3", "2001:db8:0:1::1", "203.0.113.7", None]
    for number, address in enumerate(addresses):
        wish = {"visitor": str(number)} if address is None else {"visitor": str(number), "address": address}
        client.report(client.decide(name, pin={"b": 1}, **wish), clicked="b")
    estimates = client.settle(name)
    assert estimates["decisions"]["capped"] == 1
    assert estimates["tally"]["clicks"] == [[0, 5]]
    for wrong in ("", "here", "203.0.113.7/24", "203.0.113", 7):
        answer = client.post(f"/v1/placements/{name}/decisions", json={"address": wrong})
        assert answer.status_code == 422
        assert "address" in answer.text
