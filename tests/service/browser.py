"""A real Chromium, driven over a pair of pipes in its own protocol: nothing to install beside the browser."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import FOR_EVER

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]

#: the browser reads commands from 3 and writes answers to 4
LAUNCH = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)

#: skipped only where there is none, and never in continuous integration
needs_a_browser = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="there is no Chromium: apt install chromium, or any Chrome"
)


class Tab:
    """A page that tests look at, act on, and read the requests of."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = os.fdopen(commands, "wb"), os.fdopen(answers, "rb")
        self._numbers = itertools.count(1)
        self._session: str | None = None
        self._unread = b""
        #: the addresses that were asked for, in order
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Network.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Have the browser do something; what it says of it."""
        number = next(self._numbers)
        session = {} if self._session is None else {"sessionId": self._session}
        message = {"id": number, "method": method, "params": parameters, **session}
        self._commands.write(json.dumps(message).encode() + b"\0")
        self._commands.flush()
        while (answer := self._next()).get("id") != number:
            pass
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            part = os.read(self._answers.fileno(), 1 << 16)
            assert part, "the browser is gone"
            self._unread += part
        message, _, self._unread = self._unread.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        if found.get("method") == "Network.requestWillBeSent":
            self.requests.append(found["params"]["request"]["url"])
        return found

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait_for(self, script: str) -> Any:
        """The value of an expression, once there is one."""
        give_up = time.monotonic() + FOR_EVER
        while not (found := self.run(script)):
            assert time.monotonic() < give_up, script
            time.sleep(0.05)
        return found

    def open(self, url: str) -> None:
        """Go there, and wait until it is all there."""
        self.call("Page.navigate", url=url)
        self.wait_for(f"location.href.startsWith({json.dumps(url)}) && document.readyState === 'complete'")


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[Tab]:
    """An empty tab of a browser that has a folder of its own."""
    assert CHROMIUM is not None
    (reads, commands), (answers, writes) = os.pipe(), os.pipe()
    launch = [sys.executable, "-c", LAUNCH, str(reads), str(writes)]
    browser = subprocess.Popen(
        [*launch, CHROMIUM, *OPTIONS, "--remote-debugging-pipe", f"--user-data-dir={folder}"],
        pass_fds=(reads, writes),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(reads)
    os.close(writes)
    tab = Tab(commands, answers)
    try:
        yield tab
    finally:
        browser.terminate()
        browser.wait(FOR_EVER)
        tab._commands.close()
        tab._answers.close()
