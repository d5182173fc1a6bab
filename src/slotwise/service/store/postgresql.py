"""The store in PostgreSQL, for several workers or machines; its tables are in a schema of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, Final

import psycopg

from slotwise.errors import StoreRefused, StoreUnavailable
from slotwise.service.store.database import Row
from slotwise.service.store.schema import MIGRATIONS
from slotwise.service.store.sql import SqlStore

#: any number that no other program is likely to lock
MIGRATION_LOCK: Final = 0x736C6F74
CONNECT_SECONDS: Final = 5
#: how long one statement may take, and how long it may wait for a lock
STATEMENT_SECONDS: Final = 30
LOCK_SECONDS: Final = 10


class PostgresqlStore(SqlStore):
    """A connection, made again after it was lost."""

    # no key is ever updated, so whoever only needs a row to stay there need not wait
    for_update = " FOR NO KEY UPDATE"
    skip_locked = " FOR NO KEY UPDATE SKIP LOCKED"
    for_existence = " FOR KEY SHARE"

    def __init__(self, url: str, *, migrations: Sequence[str] = MIGRATIONS) -> None:
        self._url = url
        with self._our_words():
            self._connection = self._connect()
        try:
            with self._our_words(), self._connection.transaction():
                self._prepare(migrations)
        except BaseException:
            self._connection.close()
            raise

    def _connect(self) -> psycopg.Connection[Row]:
        connection = psycopg.connect(self._url, autocommit=True, connect_timeout=CONNECT_SECONDS)
        for setting, value in {
            "search_path": "slotwise",
            "synchronous_commit": "on",
            "default_transaction_isolation": "read committed",
            "statement_timeout": f"{STATEMENT_SECONDS}s",
            "lock_timeout": f"{LOCK_SECONDS}s",
            "idle_in_transaction_session_timeout": f"{STATEMENT_SECONDS}s",
        }.items():
            connection.execute("SELECT set_config(%s, %s, false)", (setting, value))
        return connection

    def _prepare(self, migrations: Sequence[str]) -> None:
        self.all("SELECT pg_advisory_xact_lock(?)", (MIGRATION_LOCK,))
        tables = {row[0] for row in self.all("SELECT tablename FROM pg_tables WHERE schemaname = 'slotwise'")}
        if tables and "meta" not in tables:
            raise StoreRefused("the schema slotwise in this database belongs to another program")
        self.all("CREATE SCHEMA IF NOT EXISTS slotwise")
        self.migrate([migration.replace(" WITHOUT ROWID", "") for migration in migrations], "the database")

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
            # a malformed address among others; it may hold a password, so it is not repeated
            raise StoreRefused(f"the database refuses: {type(problem).__name__}") from problem
        except psycopg.Error as problem:
            raise StoreUnavailable(f"the database is out of reach: {type(problem).__name__}") from problem

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._our_words():
            if self._connection.broken or self._connection.closed:
                self._connection = self._connect()
            yield

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self.reading(), self._connection.transaction():
            yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self.transaction():
            self.all("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield

    def all(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        cursor = self._connection.execute(_translated(statement), values)
        return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        with suppress(psycopg.Error):
            self._connection.close()


@lru_cache(maxsize=1024)
def _translated(statement: str) -> Any:
    return statement.replace("?", "%s")
