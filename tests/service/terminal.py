"""A command at a terminal of its own, as a person has it."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.service.process import PATIENT
from tests.waiting import FOR_EVER, wait_for


class Terminal:
    """A process whose input and output are a terminal; `text` is what has been on it so far."""

    def __init__(self, arguments: list[str], folder: Path, environment: Mapping[str, str]) -> None:
        self._master, slave = pty.openpty()
        self.popen = subprocess.Popen(
            [sys.executable, "-c", "from slotwise.cli import main; main()", *arguments],
            cwd=folder,
            env={**os.environ, **PATIENT, **environment},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self._read = b""
        self._reader = threading.Thread(target=self._keep_reading)
        self._reader.start()

    @property
    def text(self) -> str:
        return self._read.decode(errors="replace").replace("\r\n", "\n")

    def wait_for(self, said: str) -> str:
        """All that was said by the time that this was."""
        wait_for(lambda: said in self.text or self.popen.poll() is not None, said)
        assert said in self.text, self.text
        return self.text

    def interrupt(self) -> int:
        """Press Ctrl-C, and wait; the exit code."""
        self.popen.send_signal(signal.SIGINT)
        return self.end()

    def end(self) -> int:
        """Wait until it has ended, and all that it said is read; the exit code."""
        code = self.popen.wait(FOR_EVER)
        self._reader.join(FOR_EVER)
        return code

    def _keep_reading(self) -> None:
        # where nobody has the terminal open any more, reading is an error
        with contextlib.suppress(OSError):
            while part := os.read(self._master, 1 << 16):
                self._read += part
        os.close(self._master)


@contextlib.contextmanager
def at_a_terminal(arguments: list[str], folder: Path, **environment: str) -> Iterator[Terminal]:
    """`slotwise` with these arguments, killed at the end of the block if it has not ended."""
    terminal = Terminal(arguments, folder, environment)
    try:
        yield terminal
    finally:
        if terminal.popen.poll() is None:
            terminal.popen.kill()
        terminal.end()
