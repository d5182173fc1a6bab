"""pytest on another copy of the sources, without the compiler, in a fork of a Python that has imported all but them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

#: what takes a second or two to import, and is the same whatever the copy
IMPORTED = (
    "hypothesis", "ibis", "joblib", "numba", "numpy", "prometheus_client", "psycopg", "pydantic", "pytest",
    "scipy.optimize", "scipy.stats",
)  # fmt: skip

#: reads a folder and pytest's arguments from each line, runs them in a fork, and answers with the exit code
SERVE = """
import importlib, json, os, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
import pytest
for line in sys.stdin:
    folder, said, arguments = json.loads(line)
    fork = os.fork()
    if fork == 0:
        code = 3
        try:
            written = os.open(said, os.O_WRONLY | os.O_CREAT)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(written, 1)
            os.dup2(written, 2)
            os.chdir(folder)
            sys.path.insert(0, folder)
            os.environ["PYTHONPATH"] = folder
            code = pytest.main(arguments)
            sys.stdout.flush()
        finally:
            os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1]), flush=True)
"""


class Forking:
    """A Python that is ready to be forked."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def pytest(self, folder: Path, *arguments: str) -> tuple[int, str]:
        """The exit code of pytest, with the sources and tests in `folder`, and what it said."""
        said = folder / "said.txt"
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(folder), str(said), arguments]) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        return code, said.read_text()


@contextlib.contextmanager
def forking() -> Iterator[Forking]:
    """Start it, and end it."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", SERVE, *IMPORTED],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Forking(process)
