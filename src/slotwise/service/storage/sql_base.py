"""What SQL needs of a database: transactions, statements, and many rows at once."""

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
#: seconds that a transaction may take unless somebody is in a hurry: a large placement is read or deleted in one
PATIENCE: Final = 30.0
#: ids named in one statement
MAX_IDS: Final = 500
#: rows of values in one statement; as many as there are where these are few, otherwise one of some sizes
MAX_ROWS: Final = 64
FEW_ROWS: Final = 16


class Database(ABC):
    """One connection; values are marked with ? in statements."""

    #: seconds after which a transaction is given up
    patience = PATIENCE
    #: how a SELECT asks to keep its rows for itself, waiting for them or passing over those that others keep
    for_update = ""
    skip_locked = ""
    #: how it asks that its rows be not deleted meanwhile, which others may ask as well
    for_existence = ""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing, and on disk when it ends."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[None]:
        """What is read within it is of one moment."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[None]:
        """Errors in our words, and one connection."""

    @abstractmethod
    def all(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """Run one statement; its rows."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""

    def create_tables(self, store: str) -> None:
        """Create the tables of a new store, within a transaction that keeps others out; `store` names it in errors."""
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
        """Write something, or raise."""
        with self.transaction():
            self.all("UPDATE meta SET value = ? WHERE key = 'probe'", (secrets.token_hex(8),))

    def many(self, statement: str, rows: Sequence[Sequence[Any]]) -> list[Row]:
        """Run a statement with `VALUES ROWS` in it for many rows at once; what it returns.

        In few pieces, of sizes that come again and again: every statement is a round trip to the database or a wait for
        the interpreter, and the database remembers what it has parsed.
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
    """What adds rows of counts to those of the same key; the revision, where there is one, is the newest."""
    columns = [*key, *counts, *(["revision"] if revised else [])]
    changes = [f"{count} = {table}.{count} + excluded.{count}" for count in counts]
    changes += ["revision = excluded.revision"] if revised else []
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ROWS ON CONFLICT ({', '.join(key)}) "
        f"DO UPDATE SET {', '.join(changes)}"
    )


#: sums of whole numbers would be of another type than what is summed
_FRACTIONS: Final = frozenset({"value", "squares"})


def sums(counts: Sequence[str]) -> str:
    """Each of the counts added up, as a number of its own type."""
    return ", ".join(f"SUM({name})" if name in _FRACTIONS else f"CAST(SUM({name}) AS BIGINT)" for name in counts)


def marks(values: Sequence[Any]) -> str:
    """A mark for each value."""
    return ", ".join("?" * len(values))


def written(values: Sequence[Any]) -> str:
    """A list as it stands in a column."""
    return to_json(values).decode()


def read(text: str) -> list[Any]:
    """The list that stands in a column."""
    values: list[Any] = from_json(text)
    return values


@lru_cache(maxsize=256)
def _of_many(statement: str, columns: int, rows: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return statement.replace("ROWS", ", ".join([row] * rows))


def chunks(values: Sequence[str]) -> Iterator[Sequence[str]]:
    """A few hundred at a time."""
    for start in range(0, len(values), MAX_IDS):
        yield values[start : start + MAX_IDS]
