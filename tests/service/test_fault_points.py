"""A history survives a fault at every operation on SQLite's files, and a cut after every message to PostgreSQL.

`make test` takes a part of the points, spread evenly; `make fault-points` and `make test-all` take all of them.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest

from slotwise.core.errors import StoreUnavailable
from slotwise.service.storage import sqlite
from slotwise.service.storage.batch_writer import Writer
from slotwise.service.storage.postgresql import PostgresqlStore
from slotwise.service.storage.sqlite import SqliteStore
from tests.mutation.code_swap import swapped
from tests.postgres import Postgres
from tests.service.fault_points.cutting_proxy import cutting
from tests.service.fault_points.failing_files import FAULTS, Disk, Fault, failing
from tests.service.fault_points.postgresql_points import survive_cut
from tests.service.fault_points.sqlite_points import Lost, survive
from tests.service.fault_points.store_histories import FIRST, HISTORIES, SECOND, State, states
from tests.waiting import FOR_EVER

#: one point of so many is in `make test`
STEP = 23


def run_sqlite(name: str, fault: Fault, folder: Path, step: int = 1, first: int = 1) -> int:
    """The number of points, all of which were survived."""
    for number in count(first, step):
        here = folder / f"{number}"
        here.mkdir()
        if not survive(name, fault, number, here).has_failed:
            return (number - first) // step
    raise AssertionError


@pytest.mark.parametrize("fault", FAULTS)
def test_some_faults_of_the_disk(fault: Fault, tmp_path: Path) -> None:
    assert run_sqlite("life", fault, tmp_path, STEP, 1 + FAULTS.index(fault)) > 10


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", HISTORIES)
def test_all_faults_of_the_disk(name: str, fault: Fault, tmp_path: Path) -> None:
    points = run_sqlite(name, fault, tmp_path)
    print(f"SQLite, {name}, {fault}: {points} points, all survived")
    assert points > 300


@contextmanager
def changed(sound: str, broken: str) -> Iterator[None]:
    source = inspect.getsource(sqlite)
    assert source.count(sound) == 1
    with swapped(sqlite, source.replace(sound, broken)):
        yield


def test_a_store_that_does_not_sync_loses_what_it_acknowledged(tmp_path: Path) -> None:
    with changed("synchronous = FULL", "synchronous = OFF"), pytest.raises(Lost):
        run_sqlite("life", "power", tmp_path, 5)


def test_a_store_that_ignores_a_failed_commit_is_found_out(tmp_path: Path) -> None:
    commit = '            self._connection.execute("COMMIT")\n'
    ignored = f"            with suppress(sqlite3.Error):\n    {commit}"
    # from 150 on, when there are tables: that none are made is an error of its own
    with changed(commit, ignored), pytest.raises(Lost):
        run_sqlite("life", "error", tmp_path, 2, 150)


def hang_at(number: int, folder: Path) -> bool:
    """A decision is written while the disk hangs at an operation; another one waits in vain behind it.

    Whether it hung: a write has only so many operations.
    """
    disk, hangs, goes_on = Disk("hang", number), threading.Event(), threading.Event()

    def hang() -> None:
        hangs.set()
        assert goes_on.wait(FOR_EVER)

    async def test() -> None:
        store = SqliteStore(folder / "store.db")
        store.put_placement("home", "{}")
        # the operations of the first write are counted
        disk.operations = 0
        disk.hang = hang
        writer = Writer(store, seconds=FOR_EVER)
        writer.start()
        first = writer.issue(FIRST[0])
        while not first.done() and not hangs.is_set():
            await asyncio.sleep(0.001)
        if hangs.is_set():
            writer._seconds = 0.0
            with pytest.raises(StoreUnavailable):
                await writer.issue(SECOND[0])
            assert not first.done()
            writer._seconds = FOR_EVER
        disk.hang = lambda: None
        goes_on.set()
        assert (await first).id == FIRST[0].id
        assert store.all("SELECT id FROM decisions") == [(FIRST[0].id,)]
        await writer.close()

    with failing(disk):
        asyncio.run(test())
    return hangs.is_set()


def run_hanging(folder: Path, step: int) -> int:
    for number in count(1, step):
        here = folder / f"{number}"
        here.mkdir()
        if not hang_at(number, here):
            return (number - 1) // step
    raise AssertionError


def test_a_disk_that_hangs_somewhere(tmp_path: Path) -> None:
    assert run_hanging(tmp_path, 6) > 1


@pytest.mark.long
def test_a_disk_that_hangs_anywhere(tmp_path: Path) -> None:
    points = run_hanging(tmp_path, 1)
    print(f"SQLite, hang: {points} points of one write, all survived")
    assert points > 10


def run_postgresql(name: str, postgres: Postgres, step: int) -> int:
    wanted: list[State] = []
    for number in count(1, step):
        with psycopg.connect(postgres.url if wanted else postgres.fresh(), autocommit=True) as connection:
            if not wanted:
                store = PostgresqlStore(postgres.url)
                wanted = states(store, HISTORIES[name])
                store.close()
            every = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'slotwise'").fetchall()
            names = ", ".join(f"slotwise.{table}" for (table,) in every if table != "meta")
            connection.execute(f"TRUNCATE {names}".encode())
        with cutting(postgres.folder) as (proxy, url):
            if not survive_cut(name, wanted, url, proxy, number):
                return (number - 1) // step
    raise AssertionError


def test_some_cuts_of_the_connection(postgres: Postgres) -> None:
    assert run_postgresql("life", postgres, 97) > 5


@pytest.mark.long
@pytest.mark.parametrize("name", HISTORIES)
def test_all_cuts_of_the_connection(name: str, postgres: Postgres) -> None:
    points = run_postgresql(name, postgres, 1)
    print(f"PostgreSQL, {name}: cut after each of {points} messages, all survived")
    assert points > 100
