"""The client against a real service in a process of its own, and against servers that behave badly."""

from __future__ import annotations

import contextlib
import pickle
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from slotwise.client import Client, Decision, InvalidRequest, ServiceProblem, ServiceUnreachable
from tests.service.process import Process, free_port, running
from tests.service.serving import serving
from tests.waiting import FOR_EVER


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    folder = tmp_path_factory.mktemp("client")
    with running(folder, f"sqlite:///{folder}/store.db", free_port()) as process:
        yield process


@pytest.fixture
def client(service: Process) -> Iterator[Client]:
    with Client(service.url, timeout=FOR_EVER) as made:
        yield made


def test_a_placement_is_put_read_and_listed(client: Client) -> None:
    made = client.put_placement("shelf 1?", slots=2, items=["ä", {"id": "b", "value": 2.5}], holdout=0.5)
    assert made == client.placement("shelf 1?")
    assert made["items"] == ["ä", {"id": "b", "value": 2.5}]
    assert "shelf 1?" in [placement["name"] for placement in client.placements()]


def test_the_life_of_a_decision(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/store.db") as asked, Client(str(asked.base_url), timeout=FOR_EVER) as client:
        client.put_placement("life", slots=2, items=["a", "b", "c"], window_seconds=60.0)
        decision = client.decide("life", exclude=["a"], pin={"c": 1})
        assert isinstance(decision, Decision)
        assert decision.items == ("c", "b")
        assert (decision.placement, decision.arm) == ("life", "learned")
        assert decision.expires == datetime.fromtimestamp(asked.clock.now + 60.0, UTC)
        unseen, silent = client.decide("life"), client.decide("life")
        assert client.outcome(decision, clicked=None) is False
        assert client.outcome(decision, clicked="b") is False
        assert client.outcome(decision.id, clicked="b") is True
        assert client.outcome(unseen, shown=False) is False
        with pytest.raises(ServiceProblem) as conflict:
            client.outcome(decision, clicked="c")
        assert conflict.value.status == 409
        asked.settle("life")
        with pytest.raises(ServiceProblem) as late:
            client.outcome(silent, clicked=silent.items[0])
        assert late.value.status == 410
        found = client.decision(decision.id)
        assert (found["items"], found["outcome"], found["clicked"]) == (["c", "b"], "clicked", ["b"])
        with pytest.raises(ServiceProblem) as unknown:
            client.decision("0" * 32)
        assert unknown.value.status == 404
        counted = client.estimates("life")["decisions"]
        assert [counted[kind] for kind in ("clicked", "no_click", "not_shown", "late")] == [1, 1, 1, 1]


def test_events_are_added_once(client: Client) -> None:
    client.put_placement(
        "shop",
        slots=1,
        items=["a", "b"],
        reward={"cart": 2.0, "purchase": "value"},
        reward_days=3.0,
        holdout=0.5,
        guardrails=[{"metric": "cart_rate", "event": "cart", "worse_by": 0.1}],
    )
    decision = client.decide("shop")
    assert client.outcome(decision, clicked=decision.items[0], events=[{"name": "cart"}]) is False
    bought = {"event_id": "order-7", "name": "purchase", "value": 39.0}
    assert client.add_events(decision, [bought]) is False
    assert client.add_events(decision.id, [bought]) is True
    with pytest.raises(ServiceProblem) as conflict:
        client.add_events(decision, [{**bought, "value": 40.0}])
    assert conflict.value.status == 409
    assert client.decision(decision.id)["value"] == 41.0


def test_refusals_carry_the_problem_document(client: Client) -> None:
    with pytest.raises(ServiceProblem) as refused:
        client.put_placement("bad", slots=0, items=["a"])
    problem = refused.value
    assert (problem.status, problem.field) == (422, "slots")
    assert "slots" in problem.detail
    assert problem.document["status"] == 422
    assert str(pickle.loads(pickle.dumps(problem))) == str(problem)
    with pytest.raises(ServiceProblem) as unknown:
        client.decide("nobody")
    assert (unknown.value.status, unknown.value.field) == (404, None)


def test_placements_are_changed_in_part_and_deleted(client: Client) -> None:
    assert client.version("parts") == 0
    client.put_placement("parts", slots=1, items=["a", "b"], version=0, sticky_seconds=60.0, new_items_at_most=0.2)
    first = client.version("parts")
    client.put_placement("fades", slots=1, items=["a", "b"], half_life=72.0, exploring=False, pin={"b": 1})
    fades = client.placement("fades")
    assert (fades["half_life"], fades["exploring"], fades["pin"]) == (72.0, False, {"b": 1})
    assert client.patch_placement("parts", {"holdout": 0.5}, version=first)["holdout"] == 0.5
    for change in (
        lambda: client.patch_placement("parts", {"holdout": 0.1}, version=first),
        lambda: client.put_placement("parts", slots=1, items=["a"], version=0),
        lambda: client.put_item("parts", "c", version=first),
        lambda: client.delete_placement("parts", version=first),
    ):
        with pytest.raises(ServiceProblem) as stale:
            change()
        assert stale.value.status == 412
    assert client.put_item("parts", "c/d", value=2.5, features={"price": 1.5})["value"] == 2.5
    assert client.retire_item("parts", "a")["id"] == "a"
    found = client.placement("parts")
    assert found["items"] == ["b", {"id": "c/d", "value": 2.5, "features": {"price": 1.5}}]
    assert (found["sticky_seconds"], found["new_items_at_most"], found["mode"]) == (60.0, 0.2, "live")
    assert [change["version"] for change in client.changes("parts")] == [4, 3, 2, 1]
    client.delete_placement("parts", version=4)
    assert client.version("parts") == 0


def test_a_key_is_one_decision_and_a_visitor_sees_one_list(client: Client) -> None:
    client.put_placement("once", slots=1, items=["a", "b", "c"], sticky_seconds=60.0, mode="shadow")
    first = client.decide("once", visitor="Ada", key="k")
    assert client.decide("once", visitor="Ada", key="k") == first
    assert client.decide("once", visitor="Ada").items == first.items
    assert client.decide("once", visitor="Ada").arm == "shadow"
    for key in ("", "x" * 201, "ä", "a\r\nX: 1"):
        with pytest.raises(InvalidRequest, match="key"):
            client.decide("once", key=key)


def test_outcomes_are_one_of_three(client: Client) -> None:
    for wrong in ({}, {"clicked": "a", "shown": False}, {"shown": True}):
        with pytest.raises(InvalidRequest):
            client.outcome("0" * 32, **wrong)


def test_many_threads_share_a_client(client: Client) -> None:
    client.put_placement("threads", slots=1, items=["a", "b"], window_seconds=FOR_EVER)

    def view(_: int) -> str:
        decision = client.decide("threads")
        assert client.outcome(decision, clicked=decision.items[0]) is False
        return decision.id

    with ThreadPoolExecutor(16) as pool:
        ids = list(pool.map(view, range(200)))
    assert len(set(ids)) == 200
    assert client.estimates("threads")["decisions"]["issued"] == 200


def test_keys(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/store.db", server_key=SecretStr("s3cret")) as asked:
        url = str(asked.base_url)
        with Client(url, timeout=FOR_EVER) as without, pytest.raises(ServiceProblem) as refused:
            without.placements()
        assert refused.value.status == 401
        with Client(url, "s3cret", timeout=FOR_EVER) as client:
            assert client.placements() == []


def test_a_restart_is_waited_for_and_nothing_is_counted_twice(tmp_path: Path) -> None:
    store, port = f"sqlite:///{tmp_path}/store.db", free_port()
    first = Process(tmp_path, store, port)
    with contextlib.ExitStack() as stack:
        stack.callback(first.kill)
        first.wait_until_ready()
        client = stack.enter_context(Client(first.url, timeout=FOR_EVER, retries=1_000))
        client.put_placement("home", slots=1, items=["a", "b"], window_seconds=FOR_EVER)
        decisions = [client.decide("home") for _ in range(3)]
        assert client.outcome(decisions[0], clicked=decisions[0].items[0]) is False
        first.kill()
        second: list[Process] = []
        restart = threading.Timer(0.3, lambda: second.append(Process(tmp_path, store, port)))
        restart.start()
        stack.callback(lambda: second[0].stop())
        stack.callback(restart.join)
        # each of them meets nobody at first; the connection from before is closed, and known to be
        assert client.outcome(decisions[0], clicked=decisions[0].items[0]) is True
        assert client.outcome(decisions[1], clicked=None) is False
        client.decide("home")
        assert client.estimates("home")["decisions"]["issued"] == 4


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("127.0.0.1:8000", None),
        ("ftp://host", None),
        ("http://", None),
        ("http://host:port", None),
        ("http://host?x", None),
        ("http://host", "a b"),
        ("http://host", "ä"),
        ("http://host", "a\r\nX-Evil: 1"),
    ],
)
def test_addresses_and_keys_that_cannot_be_are_refused(url: str, key: str | None) -> None:
    with pytest.raises(InvalidRequest):
        Client(url, key)


@contextlib.contextmanager
def answering(answer: Callable[[int], bytes]) -> Iterator[tuple[str, list[bytes]]]:
    """A server that answers its n-th request with `answer(n)` and closes the connection; and what was asked of it."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    with connection:
                        asked.append(connection.recv(65536))
                        connection.sendall(answer(len(asked)))

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", asked
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


def _http(status: int, body: bytes = b"{}", more: str = "") -> bytes:
    return f"HTTP/1.1 {status} x\r\nContent-Length: {len(body)}\r\nConnection: close\r\n{more}\r\n".encode() + body


DECISION = (
    b'{"id": "1", "placement": "p", "items": ["a"], "arm": "learned", "expires": "2026-01-01T00:00:00Z", "token": "t"}'
)


def _outcome(client: Client) -> Any:
    return client.outcome("1", clicked=None)


def _decide(client: Client) -> Any:
    return client.decide("p")


def _decide_once(client: Client) -> Any:
    return client.decide("p", key="k")


@pytest.mark.parametrize(
    ("first", "of_outcome", "of_decide"),
    [
        (_http(503), 2, 2),
        (_http(429), 2, 2),
        (_http(502), 2, 1),
        (_http(504), 2, 1),
        (_http(500), 1, 1),
        (b"", 2, 1),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", 2, 1),
    ],
)
def test_a_decision_is_asked_again_only_if_none_can_have_been_issued(
    first: bytes, of_outcome: int, of_decide: int
) -> None:
    for ask, wanted in ((_outcome, of_outcome), (_decide, of_decide), (_decide_once, of_outcome)):
        refusal = contextlib.nullcontext() if wanted == 2 else pytest.raises((ServiceProblem, ServiceUnreachable))
        with (
            answering(lambda n: first if n == 1 else _http(200, DECISION)) as (url, asked),
            Client(url, timeout=FOR_EVER) as client,
            refusal,
        ):
            ask(client)
        assert len(asked) == wanted


def test_waits_for_the_time_in_retry_after() -> None:
    busy = _http(503, more="Retry-After: 1\r\n")
    with answering(lambda n: busy if n == 1 else _http(200)) as (url, _), Client(url, timeout=FOR_EVER) as client:
        began = time.monotonic()
        client.placement("p")
        assert time.monotonic() - began >= 1.0


def test_gives_up_after_the_last_try() -> None:
    page = _http(502, b"<html>Bad Gateway</html>")
    with answering(lambda _: page) as (url, asked), Client(url, timeout=FOR_EVER, retries=2) as client:
        with pytest.raises(ServiceProblem, match="Bad Gateway"):
            client.placement("p")
        assert len(asked) == 3
    with Client(f"http://127.0.0.1:{free_port()}", retries=1) as nobody, pytest.raises(ServiceUnreachable):
        nobody.decide("p")


def test_a_server_other_than_slotwise_is_reported() -> None:
    with (
        answering(lambda _: _http(200, b"<html>hello</html>")) as (url, _),
        Client(url, timeout=FOR_EVER) as client,
        pytest.raises(ServiceUnreachable, match="does not respond as slotwise does"),
    ):
        client.decide("p")
