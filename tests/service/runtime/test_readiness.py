"""Ready means that neither the next decision nor the next look compiles anything; who asks for life need not wait."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from slotwise.service.learning.learner_factory import try_out
from slotwise.service.placements import placement_updates
from slotwise.service.storage import open_store
from tests.service.runtime.test_worker import definition
from tests.service.serving import serving
from tests.waiting import FOR_EVER

#: numba takes a lock for whatever it compiles, or loads from its cache
SCRIPT = """
import asyncio, sys
from numba.core import event
from slotwise.service.storage.decision_types import Outcome
from slotwise.service.runtime import Worker
from slotwise.service.schemas.decision_request import DecisionRequest

taken = []

class Listener(event.Listener):
    def on_start(self, it): taken.append(it)
    def on_end(self, it): pass

async def main():
    async with Worker(sys.argv[1], write_seconds=600.0) as worker:
        await worker.probe()
        event.register("numba:compiler_lock", Listener())
        for constraints in ({}, {}, {"exclude": ["a"]}, {"pin": {"b": 1}}):
            decision = await worker.decide("home", DecisionRequest(**constraints))
            await worker.report(decision.id, Outcome("clicked", decision.items[0]))
        await asyncio.sleep(0.2)
        await worker.background.finalise()
        await worker.refresh()
        await worker.decide("home")
        print(len(taken))
        await worker.estimates("home")
        await worker.dashboard.overview("home")
        print(len(taken))

asyncio.run(main())
"""


def test_once_ready_nothing_is_compiled_for_decisions_or_reports(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    store = open_store(url)
    store.put_placement("home", definition(window_seconds=0.1).text())
    store.close()
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, url],
        env={**os.environ, "SLOTWISE_COMPILE": "first"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0", "0"]


def test_it_is_alive_before_it_is_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    def slow(*arguments: Any) -> None:
        assert go_on.wait(FOR_EVER)
        try_out(*arguments)

    monkeypatch.setattr(placement_updates, "try_out", slow)
    placements = {"home": definition()}
    with serving(f"sqlite:///{tmp_path}/store.db", wait=False, placements=placements) as client:
        try:
            assert client.get("/healthz").status_code == 200
            starting = client.get("/readyz")
            assert starting.status_code == 503
            assert "still starting" in starting.json()["detail"]
            assert client.post("/v1/placements/home/decisions").status_code in (404, 503)
        finally:
            go_on.set()
        client.wait_until_ready()
        client.decide("home")


def test_it_can_be_stopped_before_it_is_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    monkeypatch.setattr(placement_updates, "try_out", lambda *_: go_on.wait(FOR_EVER))
    with serving(f"sqlite:///{tmp_path}/store.db", wait=False, placements={"home": definition()}) as client:
        assert client.get("/healthz").status_code == 200
        threading.Timer(0.5, go_on.set).start()
