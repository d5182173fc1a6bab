from __future__ import annotations

import subprocess
import sys

from tests.commands import COMMAND


def _slotwise(*arguments: str) -> str:
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=True).stdout


def test_version_and_help() -> None:
    assert _slotwise("--version").strip() == "0.1.0"
    assert "simulate" in _slotwise("--help")


def test_the_package_is_the_command() -> None:
    """For users without the scripts folder on the path."""
    wrong = subprocess.run([sys.executable, "-m", "slotwise", "nonsense"], capture_output=True, text=True)
    assert wrong.returncode == 2
    assert "python -m slotwise --help" in wrong.stderr
