"""What was acknowledged is there, and counted once, whatever happens to the processes."""

from __future__ import annotations

import os
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from slotwise.service.storage import open_store
from tests import waiting
from tests.postgres import Postgres
from tests.service.fork_server import Nursery
from tests.service.process import Process, free_port, running
from tests.waiting import FOR_EVER

ITEMS = ["a", "b", "c", "d"]
WINDOW = 1.5
DEFINITION: dict[str, Any] = {
    "slots": 2,
    "items": ITEMS,
    "window_seconds": WINDOW,
    "segments": {"device": ["mobile", "desktop"]},
}
#: of the service, on each store: a few, or as many as `make soak` says
KILLS = int(os.environ.get("SLOTWISE_KILLS", "3"))


@dataclass
class PendingPropensities:
    """What clients were told."""

    #: by decision: what it showed, and the outcome that was acknowledged
    shown: dict[str, list[str]] = field(default_factory=dict)
    clicked: dict[str, str | None] = field(default_factory=dict)
    #: sent, but never answered: it may or may not be there
    unsure: set[str] = field(default_factory=set)
    unanswered: int = 0
    refused: Counter[int] = field(default_factory=Counter)
    #: what a client found wrong
    wrong: list[BaseException] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def visit(self, url: str, seed: int) -> None:
        """Decide and report until told to stop."""
        rng = random.Random(seed)
        with httpx.Client(base_url=url, timeout=FOR_EVER) as client:
            while not self.stop.is_set():
                try:
                    self._view(client, rng)
                except httpx.TransportError:
                    self.unanswered += 1
                    time.sleep(0.05)
                except AssertionError as problem:
                    self.wrong.append(problem)

    def _view(self, client: httpx.Client, rng: random.Random) -> None:
        asked: dict[str, Any] = {"json": {"context": {"device": rng.choice(["mobile", "desktop", "fridge"])}}}
        if keyed := rng.random() < 0.5:
            asked["headers"] = {"Idempotency-Key": f"{rng.getrandbits(64):x}"}
        answer = client.post("/v1/placements/home/decisions", **asked)
        if answer.status_code != 201:
            self.refused[answer.status_code] += 1
            return
        decision = answer.json()
        if keyed:
            again = client.post("/v1/placements/home/decisions", **asked)
            # 201 where so much time went by that the first was counted meanwhile
            if again.status_code == 201:
                self.shown[again.json()["id"]] = again.json()["items"]
                assert time.time() > datetime.fromisoformat(decision["expires"]).timestamp()
            elif again.status_code == 200:
                assert again.json() == decision
            else:
                self.refused[again.status_code] += 1
        id = decision["id"]
        self.shown[id] = decision["items"]
        if rng.random() < 0.3:
            return
        clicked = rng.choice([None, *decision["items"]])
        # some of them twice
        for _ in range(rng.choice([1, 1, 2])):
            self.unsure.add(id)
            reply = client.put(f"/v1/decisions/{id}/outcome", json={"clicked": clicked})
            self.unsure.discard(id)
            if reply.status_code == 200:
                self.clicked[id] = clicked
            else:
                self.refused[reply.status_code] += 1

    def told(self, kills: int, began: float) -> str:
        """How far it has come."""
        minutes = (time.monotonic() - began) / 60.0
        return (
            f"{kills} kills in {minutes:.1f} minutes, {len(self.shown)} decisions and {len(self.clicked)} outcomes "
            "acknowledged"
        )

    def check(self, store: str) -> None:
        """Against the store's own rows, once all deadlines have passed and nobody is serving."""
        assert not self.wrong, self.wrong
        opened = open_store(store)
        far = time.time() + 1000.0
        while opened.finalise(far, 1000):
            pass
        rows = {
            id: (outcome, clicked) for id, outcome, clicked in opened.all("SELECT id, outcome, clicked FROM decisions")
        }
        counted = opened.counters()["home"]["learned"]
        tally = opened.tally("home")
        opened.close()
        assert self.shown.keys() <= rows.keys(), "a decision that was acknowledged is lost"
        for id, clicked in self.clicked.items():
            if id not in self.unsure:
                wanted = ("no_click", None) if clicked is None else ("clicked", clicked)
                assert rows[id] == wanted, "an outcome that was acknowledged is lost"
        # the tally is the sum over the rows, each once
        assert counted.issued == counted.final == len(rows)
        clicks = sum(outcome == "clicked" for outcome, _ in rows.values())
        assert counted.clicked == sum(row.clicks for row in tally) == clicks
        assert sum(row.passes for row in tally) == 2 * (len(rows) - clicks)
        assert sum(row.shows for row in tally) == 2 * len(rows)
        # nobody was told of what is not there, and few were not told of what is
        assert len(rows) - len(self.shown) <= self.unanswered


def define(url: str) -> None:
    httpx.put(f"{url}/v1/placements/home", json=DEFINITION, timeout=FOR_EVER).raise_for_status()


def wait_for(ledger: PendingPropensities, shown: int) -> None:
    """Until visitors have been shown so many lists, however busy the machine is."""
    give_up = time.monotonic() + FOR_EVER
    while len(ledger.shown) < shown:
        assert time.monotonic() < give_up, len(ledger.shown)
        time.sleep(0.05)


def visitors(ledger: PendingPropensities, url: str, count: int) -> list[threading.Thread]:
    threads = [threading.Thread(target=ledger.visit, args=(url, seed)) for seed in range(count)]
    for thread in threads:
        thread.start()
    return threads


@pytest.fixture(scope="module")
def fork_server() -> Iterator[Nursery]:
    with Nursery(DEFINITION) as started:
        yield started


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_kill_and_kill_again(kind: str, fork_server: Nursery, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if kind == "sqlite":
        store = f"sqlite:///{tmp_path}/store.db"
    else:
        postgres: Postgres = request.getfixturevalue("postgres")
        store = postgres.fresh()
    port, ledger, rng, began = free_port(), PendingPropensities(), random.Random(1), time.monotonic()
    with running(tmp_path, store, port, start=fork_server.start) as process:
        define(process.url)
        threads = visitors(ledger, process.url, 4)
        wait_for(ledger, 30)
        process.kill()
    try:
        for number in range(2, KILLS + 1):
            start_and_kill(Process(tmp_path, store, port, start=fork_server.start), rng)
            if number % 10 == 0:
                print(f"{kind}: {ledger.told(number, began)}", flush=True)
        with running(tmp_path, store, port, start=fork_server.start) as process:
            wait_for(ledger, 60)
            time.sleep(0.3)
            # told to stop in the middle of it all: who was let in is answered
            process.stop()
            assert '"event": "stopped"' in process.log.read_text()
    finally:
        ledger.stop.set()
        for thread in threads:
            thread.join()
    assert len(ledger.shown) > 50
    assert set(ledger.refused) <= {410, 503}
    ledger.check(store)
    print(f"{kind}: {ledger.told(KILLS, began)}; none of them lost, none counted twice")


def start_and_kill(process: Process, rng: random.Random) -> None:
    """At any moment: most of them while it serves, some while it starts."""
    try:
        if rng.random() < 0.2:
            time.sleep(rng.uniform(0.0, 0.5))
        else:
            process.wait_until_ready()
            time.sleep(rng.uniform(0.1, 0.9))
    finally:
        process.kill()


def test_two_workers_on_one_postgresql_share_one_tally(postgres: Postgres, tmp_path: Path) -> None:
    store, ledger = postgres.fresh(), PendingPropensities()
    with running(tmp_path, store, free_port(), workers=2) as process:
        define(process.url)
        waiting.wait_for(lambda: len(workers_of(process)) == 2, "both workers")
        threads = visitors(ledger, process.url, 6)
        time.sleep(WINDOW + 1.0)
        wait_for(ledger, 60)
        ledger.stop.set()
        for thread in threads:
            thread.join()
        give_up = time.monotonic() + FOR_EVER
        while True:
            found = httpx.get(f"{process.url}/v1/placements/home/estimates", timeout=FOR_EVER).json()
            if found["decisions"]["pending"] == 0:
                break
            assert time.monotonic() < give_up
            time.sleep(0.1)
    # on a busy machine an outcome may come after its deadline, and the second worker may still be starting
    assert set(ledger.refused) <= {410, 503}
    assert not ledger.unanswered
    assert found["decisions"]["issued"] == found["decisions"]["final"] == len(ledger.shown) > 50
    clicked = sum(item is not None for item in ledger.clicked.values())
    assert found["decisions"]["clicked"] == clicked
    assert sum(map(sum, found["tally"]["clicks"])) == clicked
    assert [sum(slot) for slot in found["tally"]["passes"]] == [len(ledger.shown) - clicked] * 2
    ledger.check(store)


def test_two_processes_on_one_file_share_one_tally(tmp_path: Path) -> None:
    store, ledger = f"sqlite:///{tmp_path}/store.db", PendingPropensities()
    with running(tmp_path, store, free_port(), workers=2) as process:
        define(process.url)
        waiting.wait_for(lambda: len(workers_of(process)) == 2, "both workers")
        threads = visitors(ledger, process.url, 4)
        time.sleep(1.5)
        wait_for(ledger, 20)
        ledger.stop.set()
        for thread in threads:
            thread.join()
    assert not ledger.unanswered
    assert set(ledger.refused) <= {410, 503}
    ledger.check(store)


def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    store, port = f"sqlite:///{tmp_path}/store.db", free_port()
    with running(tmp_path, store, port, workers=2) as first:
        define(first.url)
        waiting.wait_for(lambda: len(workers_of(first)) == 2, "both workers")
        orphans = workers_of(first)
        first.kill()
    # at once, and on the same port
    with running(tmp_path, store, port, workers=2) as second:
        waiting.wait_for(lambda: not any(map(is_running, orphans)), "the workers to end")
        waiting.wait_for(lambda: len(workers_of(second)) == 2, "both workers")
        assert second.popen.poll() is None

        def decides() -> bool:
            # a worker that is still starting, or waits for its turn at the store, says so
            return httpx.post(f"{second.url}/v1/placements/home/decisions", timeout=FOR_EVER).status_code == 201

        waiting.wait_for(decides, "a decision")
        assert not workers_of(second) & orphans
        kept = workers_of(second)
        assert second.stop() == 0
    assert not any(map(is_running, kept))


def workers_of(process: Process) -> set[int]:
    return {int(pid) for pid in re.findall(r"Started server process \[(\d+)\]", process.log.read_text())}


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_invalid_settings_are_reported_in_one_line(fork_server: Nursery, tmp_path: Path) -> None:
    (tmp_path / "other.db").write_text("not a database" * 100)
    for store in (f"sqlite:///{tmp_path}/other.db", f"sqlite:///{tmp_path}/no/where.db", "mysql://x"):
        process = Process(tmp_path, store, free_port(), start=fork_server.start)
        assert process.popen.wait(FOR_EVER) == 2
        said = process.log.read_text().splitlines()
        assert len(said) == 1
        assert said[0].startswith("error: ")
