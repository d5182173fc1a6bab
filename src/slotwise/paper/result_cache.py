"""What was computed before: one file each, whole or absent, and only ever used for what it was made for."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from slotwise.core.io import replacing
from slotwise.jit.kernel_cache import PACKAGE, hash_of, kernel_files

FORMAT = "slotwise numbers 1"
#: all that reading a damaged or foreign file has been seen to raise
UNREADABLE = (OSError, ValueError, KeyError, EOFError, TypeError, AttributeError, zipfile.BadZipFile, zlib.error)

Numbers = dict[str, np.ndarray]
Cell = TypeVar("Cell", bound="Kept")


@dataclass(frozen=True)
class Store:
    """Numbers that took long to compute, in a folder, by name.

    `made_for` is all that they depend on, the program's own sources included: a file made for anything else is
    foreign, and a file that cannot be read whole is damaged. `load` says so, and answers None.
    """

    folder: Path
    made_for: dict[str, Any]

    def path(self, name: str) -> Path:
        """Where the numbers of this name are kept."""
        return self.folder / f"{name}.npz"

    def save(self, name: str, numbers: Mapping[str, Any]) -> None:
        """Keep numbers; a failure leaves what was there before."""
        with replacing(self.path(name)) as file:
            np.savez_compressed(file, format=np.array(FORMAT), made_for=np.array(self._fingerprint(name)), **numbers)

    def load(self, name: str) -> tuple[Numbers | None, str]:
        """The numbers, or None and what is wrong with their file; an absent file is not wrong."""
        path = self.path(name)
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
                if str(stored["format"]) != FORMAT or str(stored["made_for"]) != self._fingerprint(name):
                    return None, f"{path} was made for another run: computed again"
                return {key: stored[key] for key in stored.files}, ""
        except FileNotFoundError:
            return None, ""
        except UNREADABLE as problem:
            return None, f"{path} is damaged ({problem}): computed again"

    def _fingerprint(self, name: str) -> str:
        return json.dumps({**self.made_for, "name": name}, sort_keys=True)


class Kept(Protocol):
    """A part of a study that is kept in a file of its own."""

    @property
    def name(self) -> str: ...

    @property
    def made_for(self) -> dict[str, Any]: ...


def load_all(cells: Iterable[Cell], folder: Path, say: Callable[[str], None]) -> tuple[dict[Cell, Numbers], list[Cell]]:
    """The numbers of those that are in `folder`, and those that are missing; what is wrong with a file is said."""
    found: dict[Cell, Numbers] = {}
    missing = []
    for cell in cells:
        numbers, complaint = Store(folder, cell.made_for).load(cell.name)
        if complaint:
            say(complaint)
        if numbers is None:
            missing.append(cell)
        else:
            found[cell] = numbers
    return found, missing


def program_hash(package: Path = PACKAGE) -> str:
    """A fingerprint of all of the program that a replication's numbers depend on.

    That is kernels, how policies start, and which random numbers a replication is given.
    """
    starting = (file for folder in ("policies", "posterior") for file in (package / folder).rglob("*.py"))
    running = (package / "simulation" / name for name in ("runner.py", "environment_kinds.py"))
    return hash_of({*kernel_files(package), *starting, *running}, package)


def writable_folder(folder: Path) -> Path:
    """Make `folder` and its parents, or raise what stands in the way."""
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(13, "Permission denied", str(folder))
    return folder
