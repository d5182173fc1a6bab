"""A server in this process, on a store of its own, with a clock that tests move."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import uvicorn
from pydantic import SecretStr

from slotwise.service.http.app import application
from slotwise.service.http.server import options
from slotwise.service.service_settings import Settings
from tests.waiting import FOR_EVER

NOON = 1_800_000_000.0
#: a store is given as long as it takes, so that nothing is refused because the machine is busy
PATIENT: dict[str, Any] = {"write_seconds": 60.0, "read_seconds": FOR_EVER}
THREE: dict[str, Any] = {"slots": 2, "items": ["a", "b", "c"], "window_seconds": 60.0}


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


class Client(httpx.Client):
    """Asks, in the words of the contract."""

    clock: Clock
    server: uvicorn.Server

    def define(self, name: str = "home", **changes: Any) -> httpx.Response:
        answer = self.put(f"/v1/placements/{name}", json={**THREE, **changes})
        assert answer.status_code in (200, 201), answer.text
        return answer

    def decide(self, name: str = "home", **wish: Any) -> dict[str, Any]:
        answer = self.post(f"/v1/placements/{name}/decisions", json=wish)
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def report(self, decision: dict[str, Any], **outcome: Any) -> httpx.Response:
        return self.put(f"/v1/decisions/{decision['id']}/outcome", json=outcome)

    def beacon(self, decision: dict[str, Any], **outcome: Any) -> httpx.Response:
        return self.post("/v1/outcomes", json={"token": decision["token"], **outcome})

    def estimates(self, name: str = "home") -> dict[str, Any]:
        answer = self.get(f"/v1/placements/{name}/estimates")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def wait_until_ready(self) -> None:
        """A busy machine may take its time."""
        give_up = time.monotonic() + FOR_EVER
        while (answer := self.get("/readyz")).status_code != 200:
            assert time.monotonic() < give_up, answer.text
            time.sleep(0.05)

    def wait_for_snapshot(self) -> None:
        """Until the worker has taken in all that the store holds by now."""
        began = time.monotonic()
        while True:
            asked = time.monotonic()
            age = re.search(r"^slotwise_snapshot_staleness_seconds (\S+)$", self.get("/metrics").text, re.MULTILINE)
            assert age is not None
            if float(age[1]) < asked - began:
                return
            assert asked < began + FOR_EVER
            time.sleep(0.05)

    def settle(self, name: str = "home", seconds: float = 61.0) -> dict[str, Any]:
        """Let the deadlines pass, and what is known once nothing is pending."""
        self.clock.now += seconds
        give_up = time.monotonic() + FOR_EVER
        while (found := self.estimates(name))["decisions"]["pending"]:
            assert time.monotonic() < give_up, found["decisions"]
            time.sleep(0.05)
        return found


@contextmanager
def serving(
    store: str,
    *,
    headers: dict[str, str] | None = None,
    wait: bool = True,
    clock: Clock | None = None,
    on_port: int = 0,
    **settings: Any,
) -> Iterator[Client]:
    clock = clock or Clock()
    told = Settings(store=SecretStr(store), **{**PATIENT, **settings})
    server = uvicorn.Server(uvicorn.Config(application(told, clock), port=on_port, lifespan="on", **options(told)))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        # the first decision under a policy may wait for the compiler
        with Client(base_url=f"http://127.0.0.1:{port}", timeout=FOR_EVER, headers=headers) as client:
            client.clock, client.server = clock, server
            if wait:
                client.wait_until_ready()
            yield client
    finally:
        server.should_exit = True
        thread.join()
