"""Files of SQLite that fail, tear or lose writes, or hang, at the n-th operation: a VFS of APSW over the real one."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Literal
from unittest.mock import patch

import apsw

Fault = Literal["error", "full", "sync lost", "torn", "kill", "power", "hang"]
FAULTS: Final[tuple[Fault, ...]] = ("error", "full", "sync lost", "torn", "kill", "power")
SECTOR: Final = 512
_CODES: Final = {
    "write": apsw.SQLITE_IOERR_WRITE,
    "sync": apsw.SQLITE_IOERR_FSYNC,
    "truncate": apsw.SQLITE_IOERR_TRUNCATE,
    "read": apsw.SQLITE_IOERR_READ,
    "delete": apsw.SQLITE_IOERR_DELETE,
    "open": apsw.SQLITE_CANTOPEN,
    "lock": apsw.SQLITE_BUSY,
}
#: pages in the write-ahead log after which it is copied into the database, so that a short history does so
CHECKPOINT_PAGES: Final = 12


#: where, and what was written there; None if the file was cut off
_Change = tuple[int, bytes | None]


class Ended(Exception):
    """The process has been killed, or the power has failed."""


class Disk:
    """What is on the disk, what is only in the memory of the operating system, and the fault to come."""

    def __init__(self, fault: Fault = "error", number: int = 0, seed: int = 0) -> None:
        self._fault, self._number = fault, number
        self._rng = random.Random(seed)
        self.operations = 0
        self.kinds: Counter[str] = Counter()
        self.has_failed = self.has_ended = False
        #: whether every further write and sync fails, until the fault is mended
        self.is_full = False
        #: by file: its content when it was last synced, and changes since
        self._synced: dict[str, bytes] = {}
        self._since: dict[str, list[_Change]] = {}
        #: by file: its content after the end
        self._after: dict[Path, bytes] = {}
        #: steps of the history that are done
        self.steps = 0
        self.hang: Callable[[], None] = lambda: None

    def mend(self) -> None:
        self.is_full = False

    def at(self, kind: str, file: str, change: _Change | None = None) -> None:
        """One operation, before it is done: raises if it fails."""
        if self.has_ended:
            # SQLite cleans up in files that nobody opens again
            return
        self.operations += 1
        self.kinds[kind] += 1
        if self.operations == self._number:
            self.has_failed = True
            self._fail(kind, file, change)
        elif self.is_full and kind in ("write", "sync"):
            raise _error(apsw.SQLITE_FULL)
        if change is not None:
            self._since.setdefault(file, []).append(change)
        elif kind == "sync":
            self.sync(file)

    def forget(self, file: str) -> None:
        self._synced.pop(file, None)
        self._since.pop(file, None)

    def sync(self, file: str) -> None:
        self._synced[file] = Path(file).read_bytes()
        self._since.pop(file, None)

    def _fail(self, kind: str, file: str, change: _Change | None) -> None:
        match self._fault:
            case "hang":
                self.hang()
                return
            case "error":
                raise _error(_CODES[kind])
            case "full":
                self.is_full = True
                raise _error(apsw.SQLITE_FULL if kind in ("write", "sync") else _CODES[kind])
            case "sync lost":
                if kind == "sync":
                    # the operating system gives up the pages that it could not write
                    self._since.pop(file, None)
                    self._end(file, lambda _: [])
                    raise Ended
                raise _error(_CODES[kind])
            case "torn" if change is not None and change[1] is not None:
                start = change[0]
                self._end(file, lambda changes: changes)
                before = self._after.get(Path(file), b"")
                self._after[Path(file)] = _written(before, start, change[1][: len(change[1]) // 2])
            case "power":
                self._end(file, self._some)
            case _:
                self._end(file, lambda changes: changes)
        raise Ended

    def _some(self, changes: list[_Change]) -> list[_Change]:
        """Sectors that happened to be written, in any order: none, all, or some."""
        share = self._rng.choice([0.0, 0.5, 0.9, 1.0])
        sectors: list[_Change] = []
        for start, data in changes:
            if data is None:
                sectors.append((start, None))
                continue
            sectors += [(start + part, data[part : part + SECTOR]) for part in range(0, len(data), SECTOR)]
        return [sector for sector in sectors if self._rng.random() < share]

    def _end(self, file: str, kept: Callable[[list[_Change]], list[_Change]]) -> None:
        self.has_ended = True
        for path in sorted(Path(file).parent.iterdir()):
            if path.name.endswith("-shm"):
                continue
            content = self._synced.get(str(path), b"")
            for start, data in kept(self._since.get(str(path), [])):
                content = content[:start] if data is None else _written(content, start, data)
            self._after[path] = content

    def restart(self, folder: Path) -> None:
        """Put the files into another folder as they are after the end."""
        folder.mkdir()
        for path, content in self._after.items():
            (folder / path.name).write_bytes(content)


def _written(content: bytes, start: int, data: bytes) -> bytes:
    return content[:start].ljust(start, b"\0") + data + content[start + len(data) :]


def _error(code: int) -> Exception:
    error: Exception = apsw.exception_for(code)
    return error


class _Files(apsw.VFS):  # type: ignore[misc]
    def __init__(self, name: str, disk: Disk) -> None:
        self._disk = disk
        super().__init__(name, base="unix")

    def xOpen(self, name: Any, flags: list[int]) -> _File:  # noqa: N802
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._disk.at("open", path)
        return _File(self._disk, path, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:  # noqa: N802
        self._disk.at("delete", name)
        super().xDelete(name, sync)
        self._disk.forget(name)


class _File(apsw.VFSFile):  # type: ignore[misc]
    def __init__(self, disk: Disk, path: str, name: Any, flags: list[int]) -> None:
        self._disk, self._path = disk, path
        super().__init__("unix", name, flags)
        if Path(path).exists() and path not in disk._synced:
            disk.sync(path)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        self._disk.at("read", self._path)
        content: bytes = super().xRead(amount, offset)
        return content

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._disk.at("write", self._path, (offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self._disk.at("truncate", self._path, (size, None))
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.at("sync", self._path)
        super().xSync(flags)

    def xLock(self, level: int) -> None:  # noqa: N802
        self._disk.at("lock", self._path)
        super().xLock(level)


class _Rows:
    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        self._rows = rows

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self._rows

    def fetchone(self) -> tuple[Any, ...] | None:
        return self._rows[0] if self._rows else None


class _Connection:
    """In the place of `sqlite3.Connection`."""

    def __init__(self, path: Path, vfs: str, disk: Disk, timeout: float) -> None:
        self._disk = disk
        with self._our_words():
            self._connection = apsw.Connection(str(path), vfs=vfs)
            self._connection.set_busy_timeout(int(timeout * 1000))
            self._connection.set_wal_hook(_checkpoint)

    @contextmanager
    def _our_words(self) -> Iterator[None]:
        try:
            yield
        except (apsw.Error, Ended) as problem:
            if self._disk.has_ended:
                raise Ended from None
            error = sqlite3.OperationalError(str(problem))
            error.sqlite_errorcode = getattr(problem, "extendedresult", sqlite3.SQLITE_IOERR)
            raise error from problem

    def execute(self, statement: str, values: Sequence[Any] = ()) -> _Rows:
        if self._disk.has_ended:
            raise Ended
        with self._our_words():
            rows = self._connection.execute(statement, tuple(values)).fetchall()
            if self._disk.has_ended:
                raise Ended
        return _Rows(rows)

    def close(self) -> None:
        # SQLite ignores errors of the checkpoint that a close makes
        with suppress(apsw.Error, Ended):
            self._connection.close()
        if self._disk.has_ended:
            raise Ended


def _checkpoint(connection: Any, _database: str, pages: int) -> int:
    """What SQLite does after a commit: APSW would raise errors of the checkpoint, which SQLite ignores."""
    if pages >= CHECKPOINT_PAGES:
        with suppress(apsw.Error, Ended):
            connection.wal_checkpoint()
    return int(apsw.SQLITE_OK)


@contextmanager
def failing(disk: Disk) -> Iterator[None]:
    """Within the block, SQLite's files are on this disk."""
    name = f"disk-{id(disk)}"
    files = _Files(name, disk)

    def connect(path: Path, timeout: float = 5.0, **_: object) -> _Connection:
        return _Connection(path, name, disk, timeout)

    try:
        with patch.object(sqlite3, "connect", connect):
            yield
    finally:
        files.unregister()
