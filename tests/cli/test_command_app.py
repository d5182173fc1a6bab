from __future__ import annotations

import subprocess
import sys

import pytest

from slotwise.cli import main
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


@pytest.mark.parametrize(
    ("former", "instead"), [("loadtest", "python -m benchmarks.loadtest URL"), ("study", "python -m research NAME")]
)
def test_a_former_command_names_its_replacement(
    former: str, instead: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["slotwise", former, "http://127.0.0.1:8000"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"error: slotwise has no command {former}: ")
    assert f"`{instead}" in printed
