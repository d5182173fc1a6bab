"""A cache of computed numbers on disk: one file an entry, written atomically, valid for one set of inputs."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from slotwise.core.io import replacing
from slotwise.jit.kernel_cache import PACKAGE, hash_of, kernel_files

FORMAT = "slotwise numbers 1"
#: the exceptions that numpy and zipfile raise for damaged or foreign files
UNREADABLE = (OSError, ValueError, KeyError, EOFError, TypeError, AttributeError, zipfile.BadZipFile, zlib.error)

Numbers = dict[str, np.ndarray]


@dataclass(frozen=True)
class ResultCache:
    """Computed numbers in a folder, by name.

    `made_for` lists all inputs, including a hash of the program. A file with other inputs is foreign, and an unreadable
    file is damaged: `load` returns None with the reason.
    """

    folder: Path
    made_for: dict[str, Any]

    def path(self, name: str) -> Path:
        """Return the file of an entry."""
        return self.folder / f"{name}.npz"

    def save(self, name: str, numbers: Mapping[str, Any]) -> None:
        """Write an entry; a failure leaves the old entry intact."""
        with replacing(self.path(name)) as file:
            np.savez_compressed(file, format=np.array(FORMAT), made_for=np.array(self._fingerprint(name)), **numbers)

    def load(self, name: str) -> tuple[Numbers | None, str]:
        """Return the numbers, or None and the reason why the file cannot be used; no reason if there is no file."""
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


def program_hash(package: Path = PACKAGE) -> str:
    """Return a hash of the sources that determine a replication: kernels, policies, random streams."""
    starting = (file for folder in ("policies", "posterior") for file in (package / folder).rglob("*.py"))
    running = (package / "simulation" / name for name in ("runner.py", "environment_kinds.py"))
    return hash_of({*kernel_files(package), *starting, *running}, package)


def writable_folder(folder: Path) -> Path:
    """Create `folder` and its parents, or raise an OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(13, "Permission denied", str(folder))
    return folder
