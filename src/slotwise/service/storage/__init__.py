"""Durable storage of placements, decisions and tallies, in SQLite or PostgreSQL."""

from __future__ import annotations

from slotwise.core.errors import InvalidInput, MissingExtra, StoreRefused
from slotwise.service.storage.sql_store import Store
from slotwise.service.storage.sqlite import PREFIX as SQLITE
from slotwise.service.storage.sqlite import SqliteStore, path_of

__all__ = ["Store", "open_existing", "open_store"]

POSTGRESQL = ("postgresql://", "postgres://")


def open_existing(url: str) -> Store:
    """Open an existing store; a mistyped name is an error."""
    if url.startswith(SQLITE) and not path_of(url).exists():
        raise StoreRefused(f"there is no store {path_of(url)}")
    return open_store(url)


def open_store(url: str) -> Store:
    """Open or create the store at `sqlite:///FILE` or `postgresql://…`."""
    if url.startswith(POSTGRESQL):
        try:
            from slotwise.service.storage.postgresql import PostgresqlStore
        except ImportError:
            raise MissingExtra("PostgreSQL", "serve") from None
        return PostgresqlStore(url)
    if url.startswith(SQLITE):
        return SqliteStore(path_of(url))
    raise InvalidInput(f"store must be sqlite:///FILE or postgresql://…, got {url.partition(':')[0]}:…")
