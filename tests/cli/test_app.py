from __future__ import annotations

import subprocess

from tests.commands import COMMAND


def _slotwise(*arguments: str) -> str:
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=True).stdout


def test_version_and_help() -> None:
    assert _slotwise("--version").strip() == "0.1.0"
    assert "simulate" in _slotwise("--help")
