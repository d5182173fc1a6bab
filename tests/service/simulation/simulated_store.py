"""The real store on real SQLite, with a pause, and perhaps a fault, at every statement."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from slotwise.core.errors import CommitInDoubt
from slotwise.service.storage.sqlite import SqliteStore, path_of

if TYPE_CHECKING:
    from tests.service.simulation.worker_process import WorkerProcess

_connect: Final = sqlite3.connect
#: errors of the disk that a statement may raise
ERRORS: Final = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY)
#: between two tries to get the lock
BUSY_STEP: Final = 0.01
#: statements that write nothing: what may happen before them may happen after the one before
_NO_POINTS: Final = ("BEGIN", "PRAGMA", "ROLLBACK")
_WRITES: Final = re.compile(r"(?:^|\) )(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)")


class Connection:
    """In the place of `sqlite3.Connection`: belongs to a process, and ends with it."""

    def __init__(self, process: WorkerProcess, path: Path) -> None:
        self._process = process
        self._connection: sqlite3.Connection | None = _connect(
            path, timeout=0.0, isolation_level=None, check_same_thread=False, cached_statements=512
        )
        self._busy_seconds = 5.0
        #: tables that the transaction writes to
        self._written: set[str] = set()
        process.connections.append(self)

    def execute(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor | _Nothing:
        if statement.startswith("PRAGMA busy_timeout"):
            self._busy_seconds = int(statement.rpartition("=")[2]) / 1000.0
            return _Nothing()
        if self._connection is not None and not statement.startswith(_NO_POINTS):
            self._process.at_statement(statement)
        if self._connection is None:
            # its process has ended: nothing that it still does has an effect
            return _Nothing()
        if statement == "BEGIN IMMEDIATE":
            return self._lock(statement)
        cursor = self._connection.execute(statement, values)
        if (table := _written_by(statement)) is not None:
            self._written.add(table)
        elif statement == "ROLLBACK":
            self._written.clear()
        elif statement == "COMMIT":
            written, self._written = self._written, set()
            if written:
                self._process.has_committed(written)
            self._process.scheduler.pause()
        return cursor

    def _lock(self, statement: str) -> sqlite3.Cursor | _Nothing:
        give_up = self._process.scheduler.now + self._busy_seconds
        while self._connection is not None:
            try:
                return self._connection.execute(statement)
            except sqlite3.OperationalError:
                if self._process.scheduler.now >= give_up:
                    raise
            self._process.scheduler.sleep(BUSY_STEP)
        return _Nothing()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@cache
def _written_by(statement: str) -> str | None:
    found = _WRITES.search(statement)
    return None if found is None else found[1]


class _Nothing:
    """The rows of a statement that did not run."""

    def fetchall(self) -> list[Any]:
        return []

    def fetchone(self) -> None:
        return None


def disk_error(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("a fault of the simulation")
    error.sqlite_errorcode = code
    return error


class SimulatedStore(SqliteStore):
    """Its commits may go unanswered, as those of a database behind a network."""

    process: WorkerProcess

    @contextmanager
    def transaction(self) -> Iterator[None]:
        is_doubtful = was_kept = False
        with super().transaction():
            yield
            if is_doubtful := self.process.loses_answer_of_commit():
                was_kept = self.process.scheduler.chance(0.5)
                if not was_kept:
                    raise CommitInDoubt("the commit was lost")
        if is_doubtful:
            raise CommitInDoubt("the answer of a commit was lost")


def opener(process: Callable[[], WorkerProcess]) -> Callable[[str], SimulatedStore]:
    """In the place of `open_store`."""

    def open_store(url: str) -> SimulatedStore:
        store = SimulatedStore.__new__(SimulatedStore)
        store.process = process()
        store.__init__(path_of(url))  # type: ignore[misc]
        return store

    return open_store
