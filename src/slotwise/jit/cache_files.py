"""The files of the kernel cache: one for each kernel and the types that it was compiled for.

numba numbers the files of a kernel and keeps an index of their types. Two processes that compile the same kernel for
different types at the same time may both take the next number. The index then has the code of one process under the
types of the other, and a process that loads it crashes. Here the name of a file is a hash of kernel and types, and the
file holds the types too.
"""

from __future__ import annotations

import hashlib
import pickle
import uuid
from pathlib import Path
from typing import Any

from numba.core.serialize import dumps


class KernelFiles:
    """The files of one kernel; several processes may read and write them at the same time."""

    def __init__(self, folder: str, name: str) -> None:
        self.folder, self.name = Path(folder), name

    def _file(self, key: object) -> Path:
        return self.folder / f"{self.name}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.kernel"

    def save(self, key: object, code: object) -> None:
        """Write `code` under `key`: the types and the processor."""
        unfinished = self.folder / f"{self.name}.{uuid.uuid4().hex}"
        try:
            unfinished.write_bytes(dumps(key) + dumps(code))
            unfinished.replace(self._file(key))
        finally:
            unfinished.unlink(missing_ok=True)

    def load(self, key: object) -> Any:
        """Return the code under `key`, or None if it is missing or unreadable."""
        try:
            with open(self._file(key), "rb") as file:
                return pickle.load(file) if pickle.load(file) == key else None
        except (OSError, EOFError, pickle.UnpicklingError):
            return None
