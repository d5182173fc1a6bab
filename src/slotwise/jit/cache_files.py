"""Machine code on disk: one file for each kernel and the types that it was compiled for, and nothing besides.

numba numbers the files of a kernel and keeps a list of which is for which types. Two processes that compile the same
kernel for different types at the same time may both take the next number: what one wrote is then listed under the types
of the other, and whoever loads it runs code that was made for something else, until it crashes. Here a file is named by
what it is for, and says so itself.
"""

from __future__ import annotations

import hashlib
import pickle
import uuid
from pathlib import Path
from typing import Any

from numba.core.serialize import dumps


class KeptKernels:
    """The files of one kernel; processes that read and write at the same time do not disturb each other."""

    def __init__(self, folder: str, name: str) -> None:
        self.folder, self.name = Path(folder), name

    def _file(self, key: Any) -> Path:
        return self.folder / f"{self.name}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.kernel"

    def save(self, key: Any, code: Any) -> None:
        """Keep `code` as what belongs to `key`: the types and the processor."""
        unfinished = self.folder / f"{self.name}.{uuid.uuid4().hex}"
        try:
            unfinished.write_bytes(dumps(key) + dumps(code))
            unfinished.replace(self._file(key))
        finally:
            unfinished.unlink(missing_ok=True)

    def load(self, key: Any) -> Any:
        """What was kept for `key`; None if that is nothing, or cannot be read."""
        try:
            with open(self._file(key), "rb") as file:
                return pickle.load(file) if pickle.load(file) == key else None
        except (OSError, EOFError, pickle.UnpicklingError):
            return None
