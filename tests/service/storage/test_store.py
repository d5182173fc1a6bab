from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from slotwise.core.errors import InvalidInput, SlotwiseError, StoreRefused, StoreUnavailable, UnwritableFile
from slotwise.service.storage import Store, open_existing, open_store, sql_base
from slotwise.service.storage.count_rows import Counters, TallyRow
from slotwise.service.storage.decision_types import IssuedDecision, Outcome, Report, new_id
from slotwise.service.storage.placement_transfer import PlacementExport
from slotwise.service.storage.postgresql import CREATION_LOCK
from slotwise.service.storage.schema import SCHEMA_VERSION
from slotwise.service.storage.sqlite import APPLICATION_ID, SqliteStore
from tests.postgres import Postgres
from tests.waiting import FOR_EVER

NOW = 1_700_000_000.0


@pytest.fixture
def store(url: str) -> Store:
    opened = open_store(url)
    opened.put_placement("home", "{}")
    return opened


def decision(items: tuple[str, ...] = ("a", "b"), *, window: float = 10.0) -> IssuedDecision:
    return IssuedDecision(new_id(NOW), "home", items, "learned", NOW, NOW + window)


def test_changes_are_found_by_revision(store: Store) -> None:
    store.write([decision(), decision(("a", "c"))], [])
    store.finalise(NOW + 10.0, 1)
    before = store.version("home")
    assert before is not None
    assert before.revision == 1
    store.finalise(NOW + 10.0, 1)
    changed = {(row.slot, row.item): row.passes for row in store.tally("home", since=before.revision)}
    assert changed in ({(0, "a"): 2, (1, "b"): 1}, {(0, "a"): 2, (1, "c"): 1})
    assert len(store.tally("home")) == 3
    store.close()


def test_a_snapshot_is_of_one_moment(url: str, store: Store) -> None:
    store.write([decision()], [])
    other = open_store(url)
    with store.snapshot():
        before = store.version("home")
        assert other.finalise(NOW + 10.0, 10) == 1
        assert store.version("home") == before
        assert store.counters()["home"]["learned"].pending == 1
        assert store.tally("home") == []
    assert store.counters()["home"]["learned"].pending == 0
    assert len(store.tally("home")) == 2
    other.close()
    store.close()


def test_two_workers_finalise_at_once_and_count_once(url: str, store: Store) -> None:
    store.write([decision() for _ in range(400)], [])
    counted = []

    def finalise() -> None:
        mine = open_store(url)
        while count := mine.finalise(NOW + 10.0, 7):
            counted.append(count)
        mine.close()

    threads = [threading.Thread(target=finalise) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # a worker may find all that is left locked by the others, and stop early; nothing is left in the end
    counted.append(store.finalise(NOW + 10.0, 1000))
    assert sum(counted) == 400
    assert {row.passes for row in store.tally("home")} == {400}
    store.close()


def test_workers_that_create_a_store_at_once_share_it(url: str) -> None:
    secrets = []

    def create() -> None:
        mine = open_store(url)
        secrets.append(mine.secret())
        mine.close()

    threads = [threading.Thread(target=create) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(secrets) == 6
    assert len(set(secrets)) == 1


@pytest.mark.parametrize("version", [1, SCHEMA_VERSION - 1, SCHEMA_VERSION + 1])
def test_a_store_of_another_schema_version_is_refused_and_left_as_it_is(url: str, store: Store, version: int) -> None:
    with store.transaction():
        store.all("UPDATE meta SET value = ? WHERE key = 'schema'", (str(version),))
    with pytest.raises(StoreRefused, match=rf"schema version {version}, .* version {SCHEMA_VERSION} only"):
        open_store(url)
    assert store.all("SELECT value FROM meta WHERE key = 'schema'") == [(str(version),)]
    store.close()


def test_a_store_whose_tables_could_not_be_created_is_empty(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sql_base, "statements", lambda: ["CREATE TABLE placements (x BIGINT)", "CREATE NONSENSE"])
        with pytest.raises(SlotwiseError):
            open_store(url)
    store = open_store(url)
    assert store.put_placement("home", "{}").verdict == "created"
    store.close()


OPEN = (
    "import sys; from slotwise.service.storage import open_store; print('opening', flush=True); open_store(sys.argv[1])"
)


def test_a_process_waits_while_another_one_creates_the_store(url: str) -> None:
    """The tables are created by hand here, so that it takes long enough for the other process to come."""
    create: Callable[[], None]
    if url.startswith("sqlite"):
        file = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
        file.execute("PRAGMA journal_mode = WAL")
        file.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        file.execute("BEGIN IMMEDIATE")

        def create() -> None:
            file.execute("CREATE TABLE waited (x)")
            file.execute("COMMIT")
            file.close()

    else:
        connection = psycopg.connect(url)
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (CREATION_LOCK,))

        def create() -> None:
            connection.execute("CREATE SCHEMA slotwise")
            connection.execute("CREATE TABLE slotwise.meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
            connection.execute("CREATE TABLE slotwise.waited (x int)")
            connection.commit()
            connection.close()

    process = subprocess.Popen(
        [sys.executable, "-c", OPEN, url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "opening\n"
    time.sleep(0.3)
    assert process.poll() is None, "it did not wait"
    create()
    _, errors = process.communicate(timeout=FOR_EVER)
    assert process.returncode == 0, errors
    store = open_store(url)
    assert store.all("SELECT * FROM waited") == []
    assert store.all("SELECT value FROM meta WHERE key = 'schema'") == [(str(SCHEMA_VERSION),)]
    store.close()


def test_a_placement_is_carried_to_another_store(store: Store, tmp_path: Path) -> None:
    kept, lost = decision(), decision()
    store.write([kept, lost, decision(window=99.0)], [Report(kept.id, Outcome("no_click"), NOW)])
    store.write([], [Report(kept.id, Outcome("clicked", "b"), NOW)])
    store.finalise(NOW + 10.0, 10)
    carried = store.carry_out("home")
    with SqliteOpened(tmp_path / "other.db") as other:
        other.carry_in(carried)
        assert sorted(map(repr, other.tally("home"))) == sorted(map(repr, store.tally("home")))
        assert other.counters() == store.counters()
        assert other.period_tally("home") == store.period_tally("home")
        assert other.period_counters("home") == store.period_counters("home")
        with pytest.raises(InvalidInput, match="already"):
            other.carry_in(carried)
        with pytest.raises(InvalidInput, match="no placement 'nobody'"):
            other.carry_out("nobody")
        other.carry_in(
            PlacementExport("else", "{}", [TallyRow(0, "a", 1, 2, 3)], {("", "learned"): Counters(clicked=1)})
        )
        assert other.tally("else") == [TallyRow(0, "a", 1, 2, 3)]
    store.close()


class SqliteOpened:
    def __init__(self, path: Path) -> None:
        self.store = SqliteStore(path)

    def __enter__(self) -> SqliteStore:
        return self.store

    def __exit__(self, *_: object) -> None:
        self.store.close()


def test_no_other_programs_file_is_touched(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.db"
    with sqlite3.connect(theirs) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    before = theirs.read_bytes()
    with pytest.raises(StoreRefused, match="another program"):
        SqliteStore(theirs)
    assert theirs.read_bytes() == before
    text = tmp_path / "text.db"
    text.write_text("no database at all, but a rather long text " * 20)
    with pytest.raises(StoreRefused, match="not an SQLite database"):
        SqliteStore(text)
    with pytest.raises(StoreRefused, match="no folder"):
        SqliteStore(tmp_path / "nowhere" / "x.db")
    with pytest.raises(StoreRefused, match="no store"):
        open_existing(f"sqlite:///{tmp_path}/absent.db")
    with pytest.raises(SlotwiseError):
        SqliteStore(tmp_path)


def test_no_other_programs_schema_is_touched(postgres: Postgres) -> None:
    url = postgres.fresh()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA slotwise")
        connection.execute("CREATE TABLE slotwise.theirs (x int)")
    with pytest.raises(StoreRefused, match="another program"):
        open_store(url)
    postgres.fresh()


def test_a_locked_file_is_named_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = SqliteStore(path, busy_seconds=0.1)
    store.put_placement("home", "{}")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="locked"):
        store.write([decision()], [])
    other.execute("ROLLBACK")
    other.close()
    store.write([decision()], [])
    assert store.finalise(NOW + 10.0, 10) == 1
    store.close()


def test_a_full_disk_is_named_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = SqliteStore(path)
    store.put_placement("home", "{}")
    pages = store.all("PRAGMA page_count")[0][0]
    store.all(f"PRAGMA max_page_count = {pages + 5}")
    written = 0

    def fill() -> None:
        nonlocal written
        while True:
            store.write([decision(("x" * 200, "y" * 200))], [])
            written += 1

    with pytest.raises(StoreUnavailable, match="full"):
        fill()
    assert written > 5
    store.all("PRAGMA max_page_count = 100000")
    assert store.finalise(NOW + 10.0, 10_000) == written
    assert {row.passes for row in store.tally("home")} == {written}
    store.close()


@pytest.mark.parametrize("ending", ["", "-wal", "-shm"])
@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_is_deleted_is_gone(tmp_path: Path, ending: str, replaced: bool) -> None:
    path = tmp_path / "store.db"
    store = SqliteStore(path)
    store.put_placement("home", "{}")
    lost = tmp_path / f"store.db{ending}"
    lost.rename(tmp_path / "elsewhere")
    if replaced:
        shutil.copy(tmp_path / "elsewhere", lost)
    for act in (store.probe, store.versions, lambda: store.write([decision()], [])):
        with pytest.raises(StoreUnavailable, match="gone"):
            act()
    store.close()


def test_the_content_of_a_deleted_log_is_kept_by_a_stop(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    store.put_placement("home", "{}")
    store.write([decision()], [])
    (tmp_path / "store.db-wal").unlink()
    with pytest.raises(StoreUnavailable, match="gone"):
        store.write([decision()], [])
    store.close()
    again = SqliteStore(tmp_path / "store.db")
    assert again.counters()["home"]["learned"].issued == 1
    again.close()


def test_a_log_that_is_deleted_during_a_transaction_takes_nothing(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")

    def write() -> None:
        with store.transaction():
            store.all("UPDATE meta SET value = 'x' WHERE key = 'probe'")
            (tmp_path / "store.db-wal").unlink()

    with pytest.raises(StoreUnavailable, match="gone"):
        write()
    store.close()


@pytest.fixture
def unprivileged(tmp_path: Path) -> Iterator[None]:
    """As somebody else than root, for whom nothing is read-only."""
    root = os.geteuid() == 0
    for folder in tmp_path.parents[:3]:
        folder.chmod(0o755)
    if root:
        os.seteuid(65534)
    yield
    if root:
        os.seteuid(0)
    tmp_path.chmod(0o755)


def test_a_read_only_file_is_named(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    path = tmp_path / "store.db"
    SqliteStore(path).close()
    path.chmod(0o444)
    tmp_path.chmod(0o555)
    request.getfixturevalue("unprivileged")
    with pytest.raises(StoreUnavailable, match="is read-only"):
        SqliteStore(path)


def test_a_database_that_comes_back_is_used_again(postgres: Postgres) -> None:
    store = open_store(postgres.fresh())
    store.put_placement("home", "{}")
    kept = decision()
    store.write([kept], [])
    postgres.stop()
    acts: list[Callable[[], object]] = [store.probe, store.versions, lambda: store.write([decision()], [])]
    for act in acts:
        with pytest.raises(StoreUnavailable, match="out of reach"):
            act()
    postgres.start()
    _, (receipt,) = store.write([], [Report(kept.id, Outcome("no_click"), NOW)])
    assert receipt.verdict == "recorded"
    assert store.finalise(NOW + 10.0, 10) == 1
    store.close()


@pytest.mark.parametrize("url", ["mysql://me:secret@host/x", "sqlite://", "sqlite:///", "", "postgresql://[:secret/x"])
def test_addresses_that_are_none_are_refused_without_their_secrets(url: str) -> None:
    with pytest.raises(SlotwiseError) as refused:
        open_store(url)
    assert "secret" not in str(refused.value)


def test_a_backup_is_whole_while_others_write(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    store.put_placement("home", "{}")
    stop = threading.Event()
    written = 0

    def keep_writing() -> None:
        nonlocal written
        mine = SqliteStore(tmp_path / "store.db")
        while not stop.is_set():
            mine.write([decision() for _ in range(20)], [])
            written += 20
        mine.close()

    writing = threading.Thread(target=keep_writing)
    writing.start()
    while written < 100:
        pass
    before = written
    store.backup(tmp_path / "copy.db")
    stop.set()
    writing.join()
    with SqliteOpened(tmp_path / "copy.db") as copy:
        copied = copy.counters()["home"]["learned"].issued
        assert before <= copied <= written
        assert copy.finalise(NOW + 10.0, 1_000_000) == copied
    with pytest.raises(UnwritableFile, match="already"):
        store.backup(tmp_path / "copy.db")
    with pytest.raises(UnwritableFile, match="no folder"):
        store.backup(tmp_path / "nowhere" / "copy.db")
    store.close()
