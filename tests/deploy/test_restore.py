"""A drill: the store is copied while it is written to, and the copy is served in its place."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg

from slotwise.client import Client
from tests.postgres import Postgres
from tests.service.serving import serving
from tests.waiting import FOR_EVER, wait_for

SLOTWISE = [sys.executable, "-c", "from slotwise.cli import main; main()"]
ITEMS = ["a", "b", "c"]
#: longer than the drill, so that nothing becomes final in between
WINDOW = 3600.0


class Visitors:
    """Somebody who asks and clicks for as long as it lasts, and remembers what was acknowledged."""

    def __init__(self, url: str) -> None:
        self.clicked: dict[str, str] = {}
        self._client = Client(url, timeout=FOR_EVER)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._visit)

    def _visit(self) -> None:
        while not self._stop.is_set():
            decision = self._client.decide("home")
            self._client.outcome(decision, clicked=decision.items[0])
            self.clicked[decision.id] = decision.items[0]

    @contextlib.contextmanager
    def visiting(self) -> Iterator[None]:
        self._thread.start()
        try:
            wait_for(lambda: len(self.clicked) >= 20, "twenty visits")
            yield
        finally:
            self._stop.set()
            self._thread.join()
            self._client.close()


@contextlib.contextmanager
def serving_at(store: str) -> Iterator[str]:
    with serving(store) as client:
        yield str(client.base_url).rstrip("/")


def known(url: str) -> dict[str, Any]:
    """Everything that is counted, or on its way to be."""
    with Client(url, timeout=FOR_EVER) as client:
        found = client.estimates("home")
        return {"definition": client.placement("home"), **{name: found[name] for name in ("decisions", "tally")}}


def drill(store: str, copies: Iterator[str], copy: Callable[[str], None]) -> None:
    with serving_at(store) as url:
        with Client(url, timeout=FOR_EVER) as client:
            client.put_placement("home", slots=2, items=ITEMS, window_seconds=WINDOW, holdout=0.25)
            open_page = client.decide("home")
        visitors = Visitors(url)
        with visitors.visiting():
            before = dict(visitors.clicked)
            amid = next(copies)
            copy(amid)
        quiet = next(copies)
        copy(quiet)
        expected = known(url)
    with serving_at(quiet) as url:
        assert known(url) == expected
    with serving_at(amid) as url, Client(url, timeout=FOR_EVER) as client:
        # whatever was acknowledged before the copy was begun is in it
        for id, item in before.items():
            assert client.decision(id)["clicked"] == [item]
        counted = client.estimates("home")["decisions"]
        assert len(before) <= counted["reported"] <= len(visitors.clicked) + 1
        # the page that is still open, and perhaps one that was being shown
        assert counted["issued"] - counted["reported"] in (1, 2)
        # and it goes on from there, with the same secret: a browser's token from before is still good
        report = {"token": open_page.token, "clicked": open_page.items[1]}
        assert httpx.post(f"{url}/v1/outcomes", json=report, timeout=FOR_EVER).json() == {"duplicate": False}
        assert client.outcome(client.decide("home"), clicked=None) is False


def test_a_store_in_sqlite_is_copied_while_it_is_served_and_restored(tmp_path: Path) -> None:
    def copy(url: str) -> None:
        file = url.removeprefix("sqlite:///")
        subprocess.run([*SLOTWISE, "backup", file, "--store", store], check=True, capture_output=True)

    store = f"sqlite:///{tmp_path}/slotwise.db"
    drill(store, iter([f"sqlite:///{tmp_path}/amid.db", f"sqlite:///{tmp_path}/quiet.db"]), copy)


def test_a_store_in_postgresql_is_dumped_while_it_is_served_and_restored(postgres: Postgres) -> None:
    def address(database: str) -> str:
        return f"postgresql://postgres@/{database}?host={postgres.folder}"

    def copy(url: str) -> None:
        dump = postgres.folder / "slotwise.dump"
        postgres.run("pg_dump", "--format=custom", "--schema=slotwise", f"--file={dump}", store)
        postgres.run("pg_restore", "--exit-on-error", "--single-transaction", f"--dbname={url}", str(dump))

    store = postgres.fresh()
    copies = ("amid", "quiet")
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        for database in copies:
            connection.execute(f"CREATE DATABASE {database}".encode())
        try:
            drill(store, map(address, copies), copy)
        finally:
            for database in copies:
                connection.execute(f"DROP DATABASE {database} WITH (FORCE)".encode())
