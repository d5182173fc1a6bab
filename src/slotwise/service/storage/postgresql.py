"""The store in PostgreSQL, for several workers or machines; its tables are in a schema of their own."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from slotwise.core.errors import CommitInDoubt, StoreRefused, StoreUnavailable
from slotwise.service.storage.sql_base import Row
from slotwise.service.storage.sql_store import Store

Result = TypeVar("Result")
#: an arbitrary number that no other program is likely to lock
CREATION_LOCK: Final = 0x736C6F74
CONNECT_SECONDS: Final = 5
#: timeouts of the server: of a statement, of a lock, and of an idle transaction, which is then rolled back, so that a
#: later commit fails
STATEMENT_SECONDS: Final = 30
LOCK_SECONDS: Final = 10
#: other hosts wait for the locks of a host that is cut off: twice the time after which a writer gives up
SILENT_SECONDS: Final = 3
#: the same for a snapshot, which locks nothing, and whose reader works between two statements
SILENT_READER_SECONDS: Final = 30
#: TCP settings, in libpq's names, that detect a dead connection
_WATCH: Final = {
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}


class _Connection(psycopg.Connection[Row]):
    """A connection with a timeout on this side: a stopped server does not enforce its own.

    The connection is closed after a timeout.
    """

    #: the deadline, in the time of `time.monotonic`
    give_up = math.inf

    def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
        return super().wait(self._in_time(gen), *arguments, **options)

    def _in_time(self, generator: Any) -> Any:
        """The same steps with a check of the deadline after each; there is at least one every tenth of a second."""
        try:
            wanted = next(generator)
            while True:
                ready = yield wanted
                if time.monotonic() > self.give_up:
                    generator.close()
                    self.pgconn.finish()
                    raise psycopg.OperationalError("no answer in time")
                wanted = generator.send(ready)
        except StopIteration as end:
            return end.value


class _Session(NamedTuple):
    """The identity of a connection on the server."""

    process: int
    started: Any


class PostgresqlStore(Store):
    """A store in PostgreSQL; a lost connection is opened again."""

    # keys are never updated, so these locks do not block FOR KEY SHARE
    for_update = " FOR NO KEY UPDATE"
    skip_locked = " FOR NO KEY UPDATE SKIP LOCKED"
    for_existence = " FOR KEY SHARE"

    def __init__(self, url: str) -> None:
        self._url = url
        #: a connection that is being opened, in a thread of its own: resolving a name cannot be interrupted
        self._connecting: Future[tuple[_Connection, _Session]] | None = None
        #: the last session, if its commit was not answered
        self._in_doubt: _Session | None = None
        with self._our_words():
            self._connection, self._session = self._connect()
            try:
                self._connection.give_up = time.monotonic() + STATEMENT_SECONDS
                with self._connection.transaction():
                    self._prepare()
                self._connection.give_up = math.inf
            except BaseException:
                self._connection.close()
                raise

    def _connect(self) -> tuple[_Connection, _Session]:
        options = {**_WATCH, "connect_timeout": CONNECT_SECONDS, **conninfo_to_dict(self._url)}
        address = make_conninfo("", **options)
        connection = _Connection.connect(address, autocommit=True)
        connection.give_up = time.monotonic() + CONNECT_SECONDS
        settings = {
            "search_path": "slotwise",
            "synchronous_commit": "on",
            "default_transaction_isolation": "read committed",
            "statement_timeout": f"{STATEMENT_SECONDS}s",
            "lock_timeout": f"{LOCK_SECONDS}s",
            "idle_in_transaction_session_timeout": f"{SILENT_SECONDS}s",
        }
        for setting in settings.items():
            connection.execute("SELECT set_config(%s, %s, false)", setting)
        ((process, started),) = connection.execute(
            "SELECT pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()"
        )
        connection.give_up = math.inf
        return connection, _Session(process, started)

    def _connect_again(self, give_up: float) -> None:
        if self._connecting is None:
            self._connecting = Future()
            threading.Thread(target=_fill, args=(self._connecting, self._connect), daemon=True).start()
        try:
            self._connection, self._session = self._connecting.result(give_up - time.monotonic())
        except TimeoutError:
            raise StoreUnavailable("the database is out of reach: no answer in time") from None
        except BaseException:
            self._connecting = None
            raise
        self._connecting = None

    def _end(self, session: _Session) -> None:
        """Terminate a session and wait for its end: its commit is visible then, if there was one."""
        while self.all(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ? AND backend_start = ?", session
        ):
            if time.monotonic() > self._connection.give_up:
                raise StoreUnavailable("the database is still busy with what it was asked before")
            time.sleep(0.02)

    def _prepare(self) -> None:
        self.all("SELECT pg_advisory_xact_lock(?)", (CREATION_LOCK,))
        tables = {row[0] for row in self.all("SELECT tablename FROM pg_tables WHERE schemaname = 'slotwise'")}
        if tables and "meta" not in tables:
            raise StoreRefused("the schema slotwise in this database belongs to another program")
        self.all("CREATE SCHEMA IF NOT EXISTS slotwise")
        self.create_tables("the database")

    @contextmanager
    def _our_words(self) -> Iterator[None]:
        try:
            yield
        except psycopg.errors.ReadOnlySqlTransaction as problem:
            raise StoreUnavailable("the database is read-only") from problem
        except psycopg.errors.DiskFull as problem:
            raise StoreUnavailable("the database is full: no space is left for it") from problem
        except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected) as problem:
            raise StoreUnavailable("the database is locked by another process") from problem
        except (psycopg.errors.InvalidPassword, psycopg.errors.InsufficientPrivilege) as problem:
            raise StoreRefused("the database refuses this user") from problem
        except psycopg.errors.InvalidCatalogName as problem:
            raise StoreRefused("there is no such database") from problem
        except psycopg.ProgrammingError as problem:
            # for example a malformed address, which may hold a password, so it is not repeated
            raise StoreRefused(f"the database refuses: {type(problem).__name__}") from problem
        except psycopg.Error as problem:
            raise StoreUnavailable(f"the database is out of reach: {type(problem).__name__}") from problem

    @contextmanager
    def reading(self) -> Iterator[None]:
        if self._connection.give_up < math.inf:
            # within a transaction, which has its own deadline
            yield
            return
        give_up = time.monotonic() + self.patience
        with self._our_words():
            if self._connection.broken or self._connection.closed:
                self._connect_again(give_up)
            self._connection.give_up = give_up
            try:
                if self._in_doubt is not None:
                    self._end(self._in_doubt)
                    self._in_doubt = None
                yield
            finally:
                self._connection.give_up = math.inf

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self.reading():
            is_committing = False
            try:
                with self._connection.transaction():
                    yield
                    is_committing = True
            except psycopg.OperationalError as problem:
                if is_committing and self._connection.closed:
                    self._in_doubt = self._session
                    raise CommitInDoubt("the database did not confirm a commit") from problem
                raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self.transaction():
            self.all("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            self.all(f"SET LOCAL idle_in_transaction_session_timeout = '{SILENT_READER_SECONDS}s'")
            yield

    def all(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        cursor = self._connection.execute(_translated(statement), values)
        return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        with suppress(psycopg.Error):
            self._connection.close()
        if self._connecting is not None:
            self._connecting.add_done_callback(_close_late)


def _fill(future: Future[Result], work: Callable[[], Result]) -> None:
    try:
        future.set_result(work())
    except BaseException as problem:
        future.set_exception(problem)


def _close_late(connecting: Future[tuple[_Connection, _Session]]) -> None:
    if connecting.exception() is None:
        connecting.result()[0].close()


@lru_cache(maxsize=1024)
def _translated(statement: str) -> Any:
    return statement.replace("?", "%s").replace(" WITHOUT ROWID", "")
