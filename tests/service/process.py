"""`slotwise serve` as a process of its own, to be killed."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from tests.waiting import FOR_EVER

COMMAND = [sys.executable, "-c", "from slotwise.cli import main; main()"]


#: below those that systems give to whoever wants any, so that nobody is given one before it is used; other processes of
#: the tests begin elsewhere
PORTS = (10_000 + (61 * os.getpid() + number) % 20_000 for number in itertools.count())
#: a store is given as long as it takes, so that nothing is refused because the machine is busy
PATIENT = {"SLOTWISE_WRITE_SECONDS": "60", "SLOTWISE_READ_SECONDS": "600"}


def free_port() -> int:
    """One that nobody listens on, and that is told only once."""
    for port in PORTS:
        with socket.socket() as listening, contextlib.suppress(OSError):
            # what was closed a moment ago is free for a server
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(("127.0.0.1", port))
            return port
    raise AssertionError("there is always another")


class Started(Protocol):
    """What can be done to a process, in the words of `subprocess`."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, number: int, /) -> None: ...


#: from the arguments of `slotwise`, what the environment says of the service, its folder and its log
Start = Callable[[Sequence[str], Mapping[str, str], Path, Path], Started]


def start(arguments: Sequence[str], environment: Mapping[str, str], folder: Path, log: Path) -> Started:
    """As anybody would: by its command; a few decisions are not worth loading kernels for in each process."""
    told = {**os.environ, "SLOTWISE_COMPILE": "never", **environment}
    with open(log, "wb") as written:
        return subprocess.Popen([*COMMAND, *arguments], env=told, stderr=written, stdout=written, cwd=folder)


class Process:
    def __init__(
        self,
        folder: Path,
        store: str | None,
        port: int,
        workers: int = 1,
        arguments: Sequence[str] = (),
        start: Start = start,
        **settings: str,
    ) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.log = folder / f"log-{time.monotonic_ns()}"
        self._port = port
        environment = {"SLOTWISE_WORKERS": str(workers), **PATIENT, **settings}
        if store is not None:
            environment["SLOTWISE_STORE"] = store
        self.popen = start(["serve", *arguments, "--port", str(port)], environment, folder, self.log)

    def wait_until_ready(self) -> None:
        give_up = time.monotonic() + FOR_EVER
        while time.monotonic() < give_up:
            assert self.popen.poll() is None, self.log.read_text()
            with contextlib.suppress(OSError, http.client.HTTPException):
                if self._is_ready():
                    return
            time.sleep(0.05)
        raise AssertionError(self.log.read_text())

    def _is_ready(self) -> bool:
        # with next to nothing of a client, so that the service has the processor for itself
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=FOR_EVER)) as connection:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200

    def kill(self) -> None:
        self.popen.send_signal(signal.SIGKILL)
        self.popen.wait()

    def stop(self) -> int:
        self.popen.send_signal(signal.SIGTERM)
        return self.popen.wait(FOR_EVER)


@contextlib.contextmanager
def running(
    folder: Path, store: str, port: int, workers: int = 1, start: Start = start, **settings: str
) -> Iterator[Process]:
    process = Process(folder, store, port, workers, (), start, **settings)
    try:
        process.wait_until_ready()
        yield process
    finally:
        if process.popen.poll() is None:
            process.stop()
