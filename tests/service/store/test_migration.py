"""A store that the first version of the schema wrote is brought up to date, and nothing in it is lost.

`first_version.db.gz` was made by the program whose schema ended at version 1, from its own calls: two definitions of
`home` and one of `shop`, whose policy works in epochs; four decisions finalised as a click, a no-click, not shown and
silent, one of them reported twice, one contradicted and one late; three decisions pending, one with a click and one
that shows the list that `shop` holds. Then its secret was set to 64 fives, and `SqliteStore.backup` made one file.
PostgreSQL gets the same rows after the first migration's statements.
"""

from __future__ import annotations

import gzip
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from slotwise.service.store import open_store
from slotwise.service.store.decisions import Decision, Outcome, Report, new_id
from slotwise.service.store.postgresql import MIGRATION_LOCK, PostgresqlStore
from slotwise.service.store.rows import Counters
from slotwise.service.store.schema import MIGRATIONS
from slotwise.service.store.sql import SqlStore
from slotwise.service.worker.definition import Definition
from tests.postgres import Postgres
from tests.waiting import FOR_EVER

NOW = 1_700_000_000.0
TABLES = {
    "placements": "name, version, revision, epoch, held",
    "definitions": "placement, definition",
    "decisions": "id, placement, items, arm, issued, deadline, epoch, outcome, clicked, late, final",
    "tally": "placement, slot, item, clicks, passes, shows, revision",
    "counters": "placement, arm, issued, clicked, no_click, silent, not_shown, late, duplicates, conflicts",
}
OPEN = (
    "import sys; from slotwise.service.store import open_store; print('opening', flush=True); open_store(sys.argv[1])"
)

Rows = dict[str, list[tuple[Any, ...]]]


@pytest.fixture
def first_version(tmp_path: Path) -> Path:
    path = tmp_path / "first.db"
    path.write_bytes(gzip.decompress(Path(__file__).with_name("first_version.db.gz").read_bytes()))
    return path


@pytest.fixture
def rows(first_version: Path) -> Rows:
    """What the file held before anybody opened it as a store."""
    return _rows(first_version)


def _rows(path: Path) -> Rows:
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("SELECT value FROM meta WHERE key = 'schema'").fetchall() == [("1",)]
        return {table: file.execute(f"SELECT {columns} FROM {table}").fetchall() for table, columns in TABLES.items()}


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, first_version: Path, rows: Rows) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{first_version}"
    postgres: Postgres = request.getfixturevalue("postgres")
    store = PostgresqlStore(postgres.fresh(), migrations=MIGRATIONS[:1])
    with store.transaction():
        store.all("UPDATE meta SET value = ? WHERE key = 'secret'", ("5" * 64,))
        for table, columns in TABLES.items():
            store.many(f"INSERT INTO {table} ({columns}) VALUES ROWS", rows[table])
    store.close()
    return postgres.url


def _opened(url: str) -> SqlStore:
    store = open_store(url)
    assert isinstance(store, SqlStore)
    return store


def test_every_row_is_there_after_the_migration(url: str, rows: Rows) -> None:
    store = _opened(url)
    assert store.all("SELECT value FROM meta WHERE key = 'schema'") == [(str(len(MIGRATIONS)),)]
    assert store.secret() == bytes.fromhex("5" * 64)
    for table, columns in TABLES.items():
        assert sorted(map(repr, store.all(f"SELECT {columns} FROM {table}"))) == sorted(map(repr, rows[table])), table
    store.close()
    # and again, when there is nothing left to do
    again = _opened(url)
    assert len(again.all("SELECT id FROM decisions")) == len(rows["decisions"]) == 7
    again.close()


def test_what_was_pending_goes_on_as_if_nothing_had_happened(url: str, rows: Rows) -> None:
    store = _opened(url)
    clicked, silent, holding = (row[0] for row in sorted(rows["decisions"])[-3:])
    receipts = store.write(
        [],
        [
            Report(clicked, Outcome("clicked", "a"), NOW + 100.0),
            Report(silent, Outcome("clicked", "nobody"), NOW + 100.0),
            Report(sorted(rows["decisions"])[0][0], Outcome("no_click"), NOW + 100.0),
        ],
    )[1]
    assert [receipt.verdict for receipt in receipts] == ["duplicate", "unknown_item", "late"]
    proposed = Decision(new_id(NOW), "shop", ("x",), "learned", NOW + 100.0, NOW + 1900.0, holds=True)
    (shown,), _ = store.write([proposed], [])
    assert shown.items == ("y",), "the list that was held is held no more"
    assert store.finalise(NOW + 150.0, 100) == 2
    assert store.counters()["home"] == {
        "holdout": Counters(issued=1, no_click=1, conflicts=1),
        "learned": Counters(issued=5, clicked=2, no_click=2, silent=2, not_shown=1, late=2, duplicates=2),
    }
    _, (receipt,) = store.write([], [Report(holding, Outcome("no_click"), NOW + 160.0)])
    assert receipt.verdict == "recorded"
    assert store.finalise(NOW + 1890.0, 100) == 1
    (after,), _ = store.write([proposed_again(proposed)], [])
    assert after.items == ("x",), "the epoch has not ended with its no-click"
    store.close()


def proposed_again(decision: Decision) -> Decision:
    return Decision(new_id(NOW), decision.placement, decision.items, "learned", NOW, NOW + 10_000.0, holds=True)


def test_definitions_of_the_first_version_are_read(rows: Rows) -> None:
    read = {name: Definition.model_validate_json(definition) for name, definition in rows["definitions"]}
    assert (read["home"].holdout, read["home"].items[2].value, read["shop"].policy) == (0.5, 2.5, "epoch-ucb")


def _process(url: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", OPEN, url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _ended_well(process: subprocess.Popen[str]) -> None:
    _, said = process.communicate(timeout=FOR_EVER)
    assert process.returncode == 0, said


def test_two_processes_at_once_migrate_once(url: str, rows: Rows) -> None:
    both = [_process(url) for _ in range(2)]
    for process in both:
        _ended_well(process)
    test_every_row_is_there_after_the_migration(url, rows)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_who_comes_during_a_migration_waits_for_its_end(
    kind: str, first_version: Path, request: pytest.FixtureRequest
) -> None:
    """The migration is made by hand here, so that it takes long enough for the other to come."""
    migrate: Callable[[], None]
    if kind == "sqlite":
        url = f"sqlite:///{first_version}"
        file = sqlite3.connect(first_version, isolation_level=None)
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("BEGIN IMMEDIATE")

        def migrate() -> None:
            file.execute("CREATE TABLE waited (x)")
            file.execute("COMMIT")
            file.close()

    else:
        postgres: Postgres = request.getfixturevalue("postgres")
        url = postgres.fresh()
        PostgresqlStore(url, migrations=MIGRATIONS[:1]).close()
        connection = psycopg.connect(url)
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))

        def migrate() -> None:
            connection.execute("CREATE TABLE slotwise.waited (x int)")
            connection.commit()
            connection.close()

    process = _process(url)
    assert process.stdout is not None
    assert process.stdout.readline() == "opening\n"
    time.sleep(0.3)
    assert process.poll() is None, "it did not wait"
    migrate()
    _ended_well(process)
    store = _opened(url)
    assert store.all("SELECT * FROM waited") == []
    assert store.all("SELECT value FROM meta WHERE key = 'schema'") == [(str(len(MIGRATIONS)),)]
    store.close()
