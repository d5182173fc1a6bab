"""Alerts against a real receiver: what is sent, when it is sent again, and that a receiver that hangs does no harm."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import socket
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from slotwise.service.placements.definition_edits import patched
from slotwise.service.runtime import Worker, alerting, webhook
from slotwise.service.schemas.definition import PlacementDefinition
from tests.service.serving import THREE, Client, serving
from tests.waiting import FOR_EVER, wait_for

SECRET = "an-alert-secret"
GUARDED: dict[str, Any] = {
    "slots": 1,
    "items": ["a", "b"],
    "window_seconds": 60.0,
    "holdout": 0.5,
    "reward": {"cart": 1.0},
    "guardrails": [{"metric": "cart_rate", "event": "cart", "worse_by": 0.1, "then": "control"}],
}


class Receiver:
    """A webhook on this machine, which answers as a test says."""

    def __init__(self) -> None:
        self.received: list[tuple[dict[str, str], bytes]] = []
        self.status = 200
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.received.append((dict(self.headers.items()), body))
                self.send_response(receiver.status)
                self.send_header("Location", "http://127.0.0.1:9/")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook?a=1"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def messages(self, topic: str) -> list[dict[str, Any]]:
        return [message for _, body in self.received if (message := json.loads(body))["topic"] == topic]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loops do not pause for long; attempts are spaced by the test's clock."""
    for name in ("GUARD_SECONDS", "WATCH_SECONDS", "DELIVER_SECONDS"):
        monkeypatch.setattr(alerting, name, 0.05)


@contextmanager
def alerting_service(store: str, **settings: Any) -> Iterator[Client]:
    with serving(store, alert_secret=SecretStr(SECRET), **settings) as client:
        yield client


def break_the_guardrail(client: Client) -> None:
    """Views with few carts in the learned arm, and many in the holdout."""
    # of an hour that begins after the last change
    client.clock.now += 3600.0
    decisions: list[dict[str, Any]] = []
    for _ in range(6):
        answer = client.post("/v1/placements/home/decisions", json={"count": 100})
        decisions += answer.json()["decisions"]
    by_arm = {arm: [each["id"] for each in decisions if each["arm"] == arm] for arm in ("learned", "holdout")}
    assert all(len(ids) > 200 for ids in by_arm.values())
    bought = [*by_arm["learned"][::20], *by_arm["holdout"][::2]]
    outcomes = [{"id": id, "clicked": None, "events": [{"name": "cart"}]} for id in bought]
    client.post("/v1/decisions/outcomes", json={"outcomes": outcomes})
    client.settle()


def test_a_broken_guardrail_is_reported_and_holds_the_placement_until_it_is_put_back(
    url: str, receiver: Receiver
) -> None:
    with alerting_service(url) as client:
        client.define(**GUARDED, alert_url=receiver.url)
        break_the_guardrail(client)
        wait_for(lambda: client.get("/v1/placements/home").json()["mode"] == "held", "the guardrail to hold it")
        wait_for(lambda: receiver.messages("guardrail cart_rate"), "the message of the guardrail")
        (message,) = receiver.messages("guardrail cart_rate")
        assert (message["placement"], message["state"]) == ("home", "broken")
        assert "cart_rate is broken" in message["sentence"]
        headers, body = next(each for each in receiver.received if b"cart_rate" in each[1])
        signed = dict(part.split("=") for part in headers["Slotwise-Signature"].split(","))
        wanted = hmac.new(SECRET.encode(), f"{signed['t']}.".encode() + body, hashlib.sha256).hexdigest()
        assert signed["v1"] == wanted
        (change, *_) = client.get("/v1/placements/home/changes").json()["changes"]
        assert change["fields"] == {"mode": {"before": "live", "after": "held"}}
        assert change["reason"] == message["sentence"]
        state = client.get("/v1/placements/home/state").json()
        assert (state["kind"], state["sentence"]) == ("guardrail", "Held: everybody sees the control order.")
        client.wait_for_snapshot()
        held = client.decide()
        assert (held["arm"], held["items"]) == ("shadow", ["a"])
        assert client.patch("/v1/placements/home", json={"mode": "live"}).status_code == 200
        client.wait_for_snapshot()
        assert client.decide()["arm"] in ("learned", "holdout")
        # the old counts say nothing about the time from now on
        overview = client.get("/v1/placements/home/overview").json()
        assert [each["state"] for each in overview["guardrails"]] == ["unclear"]
        assert client.get("/v1/placements/home").json()["mode"] == "live"


def test_a_placement_that_was_put_back_is_not_held_by_what_was_read_before(tmp_path: Path) -> None:
    async def mode() -> str:
        definition = PlacementDefinition(slots=1, items=["a"])  # type: ignore[list-item]
        async with Worker(f"sqlite:///{tmp_path}/store.db", placements={"home": definition}) as worker:
            evaluated = await worker.placement("home")
            for change in ("held", "live"):
                await worker.changing.change("home", patched({"mode": change}))
            await worker.alerts._hold(evaluated, "carts is broken")
            return (await worker.newest("home")).definition.mode

    assert asyncio.run(mode()) == "live"


def test_a_guardrail_that_only_alerts_changes_nothing(tmp_path: Path, receiver: Receiver) -> None:
    with alerting_service(f"sqlite:///{tmp_path}/store.db") as client:
        guardrails = [{**GUARDED["guardrails"][0], "then": "alert"}]
        client.define(**{**GUARDED, "guardrails": guardrails}, alert_url=receiver.url)
        break_the_guardrail(client)
        wait_for(lambda: receiver.messages("guardrail cart_rate"), "the message of the guardrail")
        assert client.get("/v1/placements/home").json()["mode"] == "live"
        # the document is cached for seconds
        wait_for(
            lambda: client.get("/v1/placements/home/state").json()["kind"] == "guardrail", "the state of the guardrail"
        )


def test_a_message_is_sent_again_until_it_is_taken_and_not_after_a_restart(url: str, receiver: Receiver) -> None:
    receiver.status = 302
    with alerting_service(url) as client:
        guardrails = [{**GUARDED["guardrails"][0], "then": "alert"}]
        client.define(**{**GUARDED, "guardrails": guardrails}, alert_url=receiver.url)
        break_the_guardrail(client)
        wait_for(lambda: len(receiver.messages("guardrail cart_rate")) == 1, "the message of the guardrail")
        client.clock.now += 5.0
        wait_for(lambda: len(receiver.messages("guardrail cart_rate")) == 2, "the second message")
        receiver.status = 204
        client.clock.now += 10.0
        wait_for(lambda: len(receiver.messages("guardrail cart_rate")) == 3, "the third message")
        assert len({message["id"] for message in receiver.messages("guardrail cart_rate")}) == 1
        clock = client.clock
    # a marker that is sent after the restart shows that the loops ran
    with alerting_service(url, clock=clock) as client:
        client.clock.now += 1000.0
        client.define("other", alert_url=receiver.url, per_visitor_hour=1)
        for _ in range(200):
            client.decide("other", visitor="v")
        client.settle("other")
        wait_for(lambda: receiver.messages("capped"), "the message of the cap")
        assert len(receiver.messages("guardrail cart_rate")) == 3


def test_a_message_is_given_up_after_an_hour(tmp_path: Path, receiver: Receiver) -> None:
    receiver.status = 500
    with alerting_service(f"sqlite:///{tmp_path}/store.db") as client:
        guardrails = [{**GUARDED["guardrails"][0], "then": "alert"}]
        client.define(**{**GUARDED, "guardrails": guardrails}, alert_url=receiver.url)
        break_the_guardrail(client)
        wait_for(lambda: receiver.messages("guardrail cart_rate"), "the message of the guardrail")
        client.clock.now += 4000.0
        wait_for(lambda: len(receiver.messages("guardrail cart_rate")) == 2, "the second message")
        client.clock.now += 100_000.0
        client.define("other", alert_url=receiver.url, per_visitor_hour=1)
        for _ in range(200):
            client.decide("other", visitor="v")
        client.settle("other")
        wait_for(lambda: receiver.messages("capped"), "the message of the cap")
        assert len(receiver.messages("guardrail cart_rate")) == 2


def test_a_receiver_that_hangs_is_in_nobodys_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "SEND_SECONDS", FOR_EVER)
    with socket.create_server(("127.0.0.1", 0)) as silent, alerting_service(f"sqlite:///{tmp_path}/store.db") as client:
        client.define(alert_url=f"http://127.0.0.1:{silent.getsockname()[1]}/", per_visitor_hour=1)
        for _ in range(200):
            client.decide(visitor="v")
        client.settle()
        connection, _ = silent.accept()
        # the message is on its way, and nobody answers
        assert b"POST / HTTP/1.1" in connection.recv(4096)
        decision = client.decide()
        assert client.report(decision, clicked=decision["items"][0]).status_code == 200
        client.wait_until_ready()
        connection.close()


def test_a_store_that_cannot_be_written_is_reported(tmp_path: Path, receiver: Receiver) -> None:
    file = tmp_path / "store.db"
    with alerting_service(f"sqlite:///{file}", write_seconds=0.2) as client:
        home = {**THREE, "alert_url": receiver.url}
        # a busy machine may need several tries within its limit
        wait_for(lambda: client.put("/v1/placements/home", json=home).is_success, "a placement")
        client.wait_for_snapshot()
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        wait_for(lambda: receiver.messages("store"), "the message of the store")
        other.execute("ROLLBACK")
        other.close()
        message = receiver.messages("store")[0]
        assert (message["placement"], message["state"]) == ("", "unavailable")
        assert "locked" in message["sentence"] or "in time" in message["sentence"]


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("http://example.org/hook", "SLOTWISE_ALERT_HTTP"),
        ("http://169.254.169.254/latest/meta-data", "SLOTWISE_ALERT_HTTP"),
        ("ftp://127.0.0.1/", "https address"),
        ("https://user:secret@example.org/", "https address"),
        ("https:///path", "https address"),
        ("https://example.org/a\r\nX: y", "https address"),
        ("https://example.org:port/", "https address"),
    ],
)
def test_a_url_that_cannot_be_is_refused(tmp_path: Path, url: str, word: str) -> None:
    with alerting_service(f"sqlite:///{tmp_path}/store.db") as client:
        refused = client.put("/v1/placements/home", json={"slots": 1, "items": ["a", "b"], "alert_url": url})
        assert refused.status_code == 422, refused.text
        assert word in refused.json()["detail"]


def test_http_elsewhere_is_allowed_by_the_operator_and_a_secret_is_needed(tmp_path: Path) -> None:
    body = {"slots": 1, "items": ["a", "b"], "alert_url": "http://hooks.example/"}
    with alerting_service(f"sqlite:///{tmp_path}/store.db", alert_http=True) as client:
        assert client.put("/v1/placements/home", json=body).status_code == 201
    with serving(f"sqlite:///{tmp_path}/store.db", alert_http=True) as client:
        refused = client.put("/v1/placements/more", json=body)
        assert refused.status_code == 422
        assert "SLOTWISE_ALERT_SECRET" in refused.json()["detail"]
