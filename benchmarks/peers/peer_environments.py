"""An environment for each peer, from pinned packages, and its drivers run in it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
ENVIRONMENTS = Path("results/peers")
#: without bytecode, which Python writes when a module is first imported
QUICKLY = ("--quiet", "--disable-pip-version-check", "--no-compile")
#: longest run of a driver
MAX_SECONDS = 1800.0


class PeerUnavailable(Exception):
    """A peer cannot be installed or run here; the message has the reason."""


def pinned_version(name: str) -> str:
    """The version of a peer in its file of pins.

    >>> pinned_version("choix")
    '0.4.1'
    """
    for line in (FOLDER / "pins" / f"{name}.txt").read_text().splitlines():
        package, _, version = line.partition("==")
        if package.lower().replace("_", "-") == name:
            return version
    raise PeerUnavailable(f"{name} is not in its own file of pins")


def install(name: str) -> Path:
    """The Python of a peer's environment, which is created if it is not there."""
    folder, pins = ENVIRONMENTS / name, FOLDER / "pins" / f"{name}.txt"
    done = folder / "installed.txt"
    if not done.exists() or done.read_text() != pins.read_text():
        _call([sys.executable, "-m", "venv", "--clear", str(folder)])
        python = str(folder / "bin" / "python")
        _call([python, "-m", "pip", "install", *QUICKLY, "-r", str(pins)])
        done.write_text(pins.read_text())
    return folder / "bin" / "python"


def drive(name: str, *arguments: str, task: object = None) -> dict[str, Any]:
    """Run the driver of a peer on a task, and return its answer."""
    driver = FOLDER / "drivers" / f"{name.replace('-', '_')}_driver.py"
    answer: dict[str, Any] = json.loads(_call([str(install(name)), str(driver), *arguments], json.dumps(task)))
    return answer


def _call(command: list[str], given: str = "") -> str:
    try:
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=False, timeout=MAX_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise PeerUnavailable(str(problem)) from None
    if done.returncode:
        raise PeerUnavailable(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no message")
    return done.stdout
