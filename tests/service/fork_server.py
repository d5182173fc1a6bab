"""A process that has imported and compiled what a service needs, and forks one whenever it is told to.

Whoever kills a service a thousand times would otherwise spend most of the time on importing the same modules again.
What is forked runs the whole command in a process of its own, and nothing of it is left when that is killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from slotwise import cli
from slotwise.service.http import app, server
from slotwise.service.learning.learner_factory import learner_of
from slotwise.service.schemas.definition import PlacementDefinition

ROOT = Path(__file__).parents[2]


class Nursery:
    """The other side of it: `start` is as `tests.service.process.start`, for one service at a time."""

    def __init__(self, *definitions: Mapping[str, Any]) -> None:
        self._popen = subprocess.Popen(
            [sys.executable, "-m", __name__, json.dumps(definitions)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            cwd=ROOT,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._popen.__exit__(kind, problem, trace)

    def start(self, arguments: Sequence[str], environment: Mapping[str, str], folder: Path, log: Path) -> Forked:
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        order = [*arguments], {**environment}, str(folder), str(log)
        self._popen.stdin.write(json.dumps(order).encode() + b"\n")
        return Forked(int(self._popen.stdout.readline()), self._popen.stdout)


class Forked:
    """A service that was forked; its nursery says how it ended."""

    def __init__(self, pid: int, said: Any) -> None:
        self.pid, self._said = pid, said
        self._code: int | None = None

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(0.0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        if self._code is None:
            if not select.select([self._said], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("the service", timeout or 0.0)
            self._code = int(self._said.readline())
        return self._code

    def send_signal(self, number: int, /) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def main(definitions: str) -> None:
    """Fork at each line that is read, and say which process it is, and then how it ended."""
    for definition in json.loads(definitions):
        learner_of(PlacementDefinition.model_validate(definition)).kernels.load()
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            serve(*json.loads(line))
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def serve(arguments: Sequence[str], environment: Mapping[str, str], folder: str, log: str) -> NoReturn:
    """What the command does, and the end of the process."""
    written = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    for number in (1, 2):
        os.dup2(written, number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["slotwise", *arguments]
    code = 1
    try:
        cli.main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        os._exit(code)


#: what `slotwise serve` imports by itself, later than at its start
IMPORTED = (app, server)

if __name__ == "__main__":
    main(sys.argv[1])
