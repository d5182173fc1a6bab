"""The interface to a database: transactions, statements, and many rows at once."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from itertools import chain
from typing import Any, Final

from pydantic_core import from_json, to_json

from slotwise.core.errors import StoreRefused
from slotwise.service.storage.schema import SCHEMA_VERSION, statements

Row = tuple[Any, ...]
#: default timeout of a transaction in seconds: a large placement is read or deleted in one
PATIENCE: Final = 30.0
#: ids named in one statement
MAX_IDS: Final = 500
#: rows of values in one statement; few rows go into one statement, otherwise sizes are powers of two
MAX_ROWS: Final = 64
FEW_ROWS: Final = 16


class Database(ABC):
    """One connection; statements mark values with ?."""

    #: timeout of a transaction in seconds
    patience = PATIENCE
    #: clauses of a SELECT that lock its rows, waiting for locked rows or skipping them
    for_update = ""
    skip_locked = ""
    #: clause of a shared lock that keeps rows from being deleted
    for_existence = ""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """A transaction, which is on disk when it ends."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[None]:
        """A read transaction: all reads within it are of one moment."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[None]:
        """A context for reads, which translates the errors of the database."""

    @abstractmethod
    def all(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """Run one statement and return its rows."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""

    def create_tables(self, store: str) -> None:
        """Create the tables of a new store, within an exclusive transaction; `store` names it in errors."""
        self.all("CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
        for key, value in (("schema", "0"), ("secret", secrets.token_hex(32)), ("probe", "")):
            self.all("INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO NOTHING", (key, value))
        version = int(self.all("SELECT value FROM meta WHERE key = 'schema'")[0][0])
        if version not in (0, SCHEMA_VERSION):
            raise StoreRefused(
                f"{store} has schema version {version}, and this slotwise works with version {SCHEMA_VERSION} only: "
                f"use {'a newer' if version > SCHEMA_VERSION else 'an older'} slotwise for it"
            )
        if version == 0:
            for statement in statements():
                self.all(statement)
            self.all("UPDATE meta SET value = ? WHERE key = 'schema'", (str(SCHEMA_VERSION),))

    def secret(self) -> bytes:
        """The secret that tokens are signed with; created with the store."""
        with self.reading():
            return bytes.fromhex(self.all("SELECT value FROM meta WHERE key = 'secret'")[0][0])

    def probe(self) -> None:
        """Write something; raises if the store is not writable."""
        with self.transaction():
            self.all("UPDATE meta SET value = ? WHERE key = 'probe'", (secrets.token_hex(8),))

    def many(self, statement: str, rows: Sequence[Sequence[Any]]) -> list[Row]:
        """Run a statement with `VALUES ROWS` in it for many rows at once; returns its rows.

        It runs few statements of recurring sizes: each is a round trip to the database or a wait for the interpreter,
        and the database caches parsed statements.
        """
        start, count = 0, len(rows)
        returned: list[Row] = []
        while start < count:
            left = count - start
            size = left if left <= FEW_ROWS else min(MAX_ROWS, 1 << (left.bit_length() - 1))
            values = [*chain.from_iterable(rows if size == count else rows[start : start + size])]
            returned += self.all(_of_many(statement, len(rows[0]), size), values)
            start += size
        return returned


def adding(table: str, key: Sequence[str], counts: Sequence[str], *, revised: bool = False) -> str:
    """The statement that adds counts to the rows of the same key; a revision is replaced."""
    columns = [*key, *counts, *(["revision"] if revised else [])]
    changes = [f"{count} = {table}.{count} + excluded.{count}" for count in counts]
    changes += ["revision = excluded.revision"] if revised else []
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ROWS ON CONFLICT ({', '.join(key)}) "
        f"DO UPDATE SET {', '.join(changes)}"
    )


#: columns of fractions; sums of other columns are cast back to integers
_FRACTIONS: Final = frozenset({"value", "squares"})


def sums(counts: Sequence[str]) -> str:
    """The sums of columns, each of its column's type."""
    return ", ".join(f"SUM({name})" if name in _FRACTIONS else f"CAST(SUM({name}) AS BIGINT)" for name in counts)


def marks(values: Sequence[object]) -> str:
    """A ? for each value."""
    return ", ".join("?" * len(values))


def written(values: Sequence[object]) -> str:
    """A list as the text of a column."""
    return to_json(values).decode()


def read(text: str) -> list[Any]:
    """A list from the text of a column."""
    values: list[Any] = from_json(text)
    return values


@lru_cache(maxsize=256)
def _of_many(statement: str, columns: int, rows: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return statement.replace("ROWS", ", ".join([row] * rows))


def chunks(values: Sequence[str]) -> Iterator[Sequence[str]]:
    """Chunks of at most `MAX_IDS` values."""
    for start in range(0, len(values), MAX_IDS):
        yield values[start : start + MAX_IDS]
