"""One history on SQLite with one fault, from which it must recover."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

from slotwise.core.errors import StoreRefused, StoreUnavailable
from slotwise.service.storage.sqlite import SqliteStore
from tests.service.fault_points.failing_files import Disk, Ended, Fault, failing
from tests.service.fault_points.store_histories import HISTORIES, State, Step, state, states


class Lost(AssertionError):
    """Something that was acknowledged is not there, or something that was refused is."""


@cache
def expected(name: str) -> list[State]:
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "store.db")
        found = states(store, HISTORIES[name])
        store.close()
    return found


def survive(name: str, fault: Fault, number: int, folder: Path) -> Disk:
    """Run a history with a fault at an operation, the first of which opens a new file."""
    history, wanted, disk = HISTORIES[name], expected(name), Disk(fault, number, seed=number)
    old = folder / "old"
    old.mkdir()
    done = 0
    try:
        with failing(disk):
            done = _go_on(history, wanted, disk, old)
    except Ended:
        done = disk.steps
    if disk.has_ended:
        disk.restart(folder / "new")
        # the step in which it ended is there as a whole, or not at all; what was acknowledged is there
        try:
            store = SqliteStore(folder / "new" / "store.db")
        except StoreRefused as problem:
            raise Lost(f"{name}: {fault} at operation {number}: {problem}") from problem
        with closing(store):
            found = state(store)
            if found not in wanted[done : done + 2]:
                raise Lost(f"{name}: {fault} at operation {number}, after {done} steps")
            for step, after in zip(history[wanted.index(found) :], wanted[wanted.index(found) + 1 :], strict=True):
                step(store)
                if state(store) != after:
                    raise Lost(f"{name}: {fault} at operation {number}, afterwards")
            if store.all("PRAGMA integrity_check") != [("ok",)]:
                raise Lost(f"{name}: {fault} at operation {number}: a damaged file")
    return disk


def _go_on(history: Sequence[Step], wanted: list[State], disk: Disk, folder: Path) -> int:
    """All steps; one that is refused changes nothing, and is done again."""
    store = _opened(folder, disk)
    try:
        _do(history, wanted, disk, store)
    finally:
        # now, and not when it is no longer used and its files are gone
        with suppress(Ended):
            store.close()
    return len(history)


def _do(history: Sequence[Step], wanted: list[State], disk: Disk, store: SqliteStore) -> None:
    for done, step in enumerate(history):
        disk.steps = done
        try:
            step(store)
        except StoreUnavailable:
            disk.mend()
            if state(store) != wanted[done]:
                raise Lost(f"a refused step {done} left something") from None
            step(store)
        if state(store) != wanted[done + 1]:
            raise Lost(f"an acknowledged step {done} is not there")
    disk.steps = len(history)


def _opened(folder: Path, disk: Disk) -> SqliteStore:
    try:
        return SqliteStore(folder / "store.db")
    except StoreUnavailable:
        disk.mend()
        return SqliteStore(folder / "store.db")
