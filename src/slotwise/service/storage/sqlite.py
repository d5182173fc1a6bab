"""The store in an SQLite file: write-ahead log, one fsync per transaction, processes take turns at writing."""

from __future__ import annotations

import os
import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from slotwise.core.errors import InvalidInput, StoreRefused, StoreUnavailable, UnwritableFile
from slotwise.service.storage.sql_base import Row
from slotwise.service.storage.sql_store import Store

PREFIX: Final = "sqlite:///"
#: "slot" in ASCII, in the header of the file
APPLICATION_ID: Final = 0x736C6F74
#: timeout of waiting for another process that writes; and at the start, for one that creates the tables
BUSY_SECONDS: Final = 1.5
START_SECONDS: Final = 5.0

_WHY = {
    sqlite3.SQLITE_BUSY: "is locked by another process",
    sqlite3.SQLITE_LOCKED: "is locked",
    sqlite3.SQLITE_READONLY: "is read-only",
    sqlite3.SQLITE_FULL: "is full: no space is left for it",
    sqlite3.SQLITE_IOERR: "cannot be read or written",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened",
    sqlite3.SQLITE_PERM: "may not be opened",
}
_NEVER = {
    sqlite3.SQLITE_NOTADB: "is not an SQLite database",
    sqlite3.SQLITE_CORRUPT: "is damaged",
}


def path_of(url: str) -> Path:
    """The file that `sqlite:///FILE` names.

    >>> path_of("sqlite:///clicks.db"), path_of("sqlite:////var/lib/clicks.db")
    (PosixPath('clicks.db'), PosixPath('/var/lib/clicks.db'))
    """
    if not url.startswith(PREFIX) or not url.removeprefix(PREFIX):
        raise InvalidInput(f"store must be sqlite:///FILE, got {url!r}")
    return Path(url.removeprefix(PREFIX))


class SqliteStore(Store):
    """A store in a file, which is created if its folder exists."""

    def __init__(self, path: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self._path = path.absolute()
        if not self._path.parent.is_dir():
            raise StoreRefused(f"there is no folder {self._path.parent} for the store {path.name}")
        _touch_for_owner(self._path)
        with self._our_words():
            self._connection = sqlite3.connect(
                self._path, timeout=START_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=512
            )
        try:
            self._prepare()
            self._pragma(f"busy_timeout = {int(busy_seconds * 1000)}")
            #: the database, its write-ahead log, and the shared memory of the log
            self._inodes = {name: _inode(name) for name in (f"{self._path}{end}" for end in ("", "-wal", "-shm"))}
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        with self._our_words():
            # before anything is written, and in one transaction: another process may be creating the tables
            with self._transaction("DEFERRED"):
                self._refuse_foreign()
            self._pragma("auto_vacuum = INCREMENTAL")
            self._pragma("synchronous = FULL")
            self._to_write_ahead_log()
            with self._transaction("IMMEDIATE"):
                self._refuse_foreign()
                self._pragma(f"application_id = {APPLICATION_ID}")
                self.create_tables(f"the store {self._path}")

    def _pragma(self, text: str) -> object:
        row = self._connection.execute(f"PRAGMA {text}").fetchone()
        return row[0] if row else None

    def _refuse_foreign(self) -> None:
        if self._pragma("application_id") != APPLICATION_ID and self.all("SELECT 1 FROM sqlite_master LIMIT 1"):
            raise StoreRefused(f"the store {self._path} belongs to another program")

    def _to_write_ahead_log(self) -> None:
        # changing the journal mode needs the file exclusively, and does not wait for it
        give_up = time.monotonic() + START_SECONDS
        while True:
            try:
                if self._pragma("journal_mode = WAL") == "wal":
                    return
            except sqlite3.OperationalError as problem:
                if _code(problem) != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                    raise
            if time.monotonic() > give_up:
                raise StoreUnavailable(f"the store {self._path} cannot keep a write-ahead log")
            time.sleep(0.02)

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[None]:
        self._connection.execute(f"BEGIN {kind}")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            # after a full disk, the transaction may be rolled back already
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _our_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as problem:
            code = _code(problem)
            if code in _NEVER:
                raise StoreRefused(f"the store {self._path} {_NEVER[code]}") from problem
            raise StoreUnavailable(f"the store {self._path} {_WHY.get(code, f'failed: {problem}')}") from problem

    def _must_be_there(self) -> None:
        # a deleted or replaced file would accept writes that are lost
        for name, inode in self._inodes.items():
            if _inode(name) != inode:
                raise StoreUnavailable(f"the store's file {name} is gone")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._must_be_there()
        with self._our_words(), self._transaction("IMMEDIATE"):
            yield
        # the commit is in the write-ahead log, which may have been deleted meanwhile
        self._must_be_there()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        self._must_be_there()
        with self._our_words(), self._transaction("DEFERRED"):
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        self._must_be_there()
        with self._our_words():
            yield

    def all(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        return self._connection.execute(statement, values).fetchall()

    def compact(self, before: float, at_most: int) -> int:
        dropped = super().compact(before, at_most)
        with self.reading():
            # return the free pages to the file system
            self.all("PRAGMA incremental_vacuum")
        return dropped

    def backup(self, target: Path) -> None:
        """Copy the store into a file, as of one moment, while others write."""
        if target.exists():
            raise UnwritableFile(f"there is a file {target} already")
        if not target.absolute().parent.is_dir():
            raise UnwritableFile(f"there is no folder {target.absolute().parent} to write {target.name} into")
        unfinished = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
        _touch_for_owner(unfinished)
        try:
            with self.reading(), closing(sqlite3.connect(unfinished)) as copy:
                self._connection.backup(copy)
                # a single file without a write-ahead log
                copy.execute("PRAGMA journal_mode = DELETE")
            with open(unfinished, "rb") as file:
                os.fsync(file.fileno())
            os.replace(unfinished, target)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise

    def close(self) -> None:
        self._connection.close()


def _touch_for_owner(path: Path) -> None:
    """Create a file that only its owner can read: it holds the secret that tokens are signed with."""
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _inode(path: str) -> int | None:
    try:
        return os.stat(path).st_ino
    except OSError:
        return None


def _code(problem: sqlite3.Error) -> int:
    # the low byte is the primary code
    return getattr(problem, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
