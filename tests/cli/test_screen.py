from __future__ import annotations

import io

import pytest
from rich.console import Console

from slotwise.cli import screen


def shown_by(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> str:
    written = io.StringIO()
    console = Console(file=written, force_terminal=terminal, width=80)
    monkeypatch.setattr(screen, "screen", lambda stderr=False: console)
    with screen.telling() as tell:
        tell("looking the log over")
        for share in (0.0, 0.5, 1.0):
            tell("reading [the] log", share)
            console.print(f"at {share}")
    return written.getvalue()


def test_a_bar_says_what_is_being_done_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "reading [the] log …" in shown_by(True, monkeypatch)


def test_nothing_is_said_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown_by(False, monkeypatch) == "at 0.0\nat 0.5\nat 1.0\n"
