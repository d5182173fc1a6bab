"""`slotwise serve` as a process of its own, to be killed."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx

from tests.waiting import FOR_EVER

COMMAND = [sys.executable, "-c", "from slotwise.cli import main; main()", "serve"]


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


class Process:
    def __init__(
        self,
        folder: Path,
        store: str | None,
        port: int,
        workers: int = 1,
        arguments: Sequence[str] = (),
        **settings: str,
    ) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.log = folder / f"log-{time.monotonic_ns()}"
        environment = {**os.environ, "SLOTWISE_WORKERS": str(workers), **settings}
        if store is not None:
            environment["SLOTWISE_STORE"] = store
        with open(self.log, "wb") as log:
            self.popen = subprocess.Popen(
                [*COMMAND, *arguments, "--port", str(port)], env=environment, stderr=log, stdout=log, cwd=folder
            )

    def wait_until_ready(self) -> None:
        give_up = time.monotonic() + FOR_EVER
        while time.monotonic() < give_up:
            assert self.popen.poll() is None, self.log.read_text()
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{self.url}/readyz", timeout=FOR_EVER).status_code == 200:
                    return
            time.sleep(0.05)
        raise AssertionError(self.log.read_text())

    def kill(self) -> None:
        self.popen.kill()
        self.popen.wait()

    def stop(self) -> int:
        self.popen.send_signal(signal.SIGTERM)
        return self.popen.wait(FOR_EVER)


@contextlib.contextmanager
def running(folder: Path, store: str, port: int, workers: int = 1) -> Iterator[Process]:
    process = Process(folder, store, port, workers)
    try:
        process.wait_until_ready()
        yield process
    finally:
        if process.popen.poll() is None:
            process.stop()
