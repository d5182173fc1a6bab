from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.table import Table

from slotwise.cli.shared import console as console_module


def shown_by(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> str:
    written = io.StringIO()
    console = Console(file=written, force_terminal=terminal, width=80)
    monkeypatch.setattr(console_module, "screen", lambda stderr=False: console)
    with console_module.progress_bar() as tell:
        tell("looking the log over")
        for share in (0.0, 0.5, 1.0):
            tell("reading [the] log", share)
            console.print(f"at {share}")
    return written.getvalue()


def test_a_terminal_shows_a_progress_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "reading [the] log …" in shown_by(True, monkeypatch)


def test_no_progress_bar_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown_by(False, monkeypatch) == "at 0.0\nat 0.5\nat 1.0\n"


@pytest.mark.parametrize(("width", "wanted"), [(80, 1), (22, 2), (12, 3)])
def test_no_piece_is_broken_where_there_is_room(width: int, wanted: int) -> None:
    written = io.StringIO()
    console = Console(file=written, width=width)
    pieces = ["1. 85248", "2. 30909", "3. 日本茶"]
    table = Table(box=None, padding=0, show_header=False)
    table.add_row(console_module.Unbroken(pieces))
    console.print(table)
    lines = written.getvalue().rstrip("\n").split("\n")
    assert len(lines) == wanted
    assert all(any(piece in line for line in lines) for piece in pieces)


def test_a_piece_longer_than_the_line_is_folded() -> None:
    written = io.StringIO()
    Console(file=written, width=5).print(console_module.Unbroken(["abcdefgh", "i"]))
    assert written.getvalue().split() == ["abcde", "fgh", "i"]


@pytest.mark.parametrize("width", [20, 24, 26, 40])
def test_no_number_is_torn_from_its_sign_or_its_item(width: int) -> None:
    written = io.StringIO()
    said = "What to show? 1. tea   2. black coffee   10. milk, clicked in 15.1 % (4 % to 7.5 %) of 1,000."
    console_module.say(Console(file=written, width=width), said)
    lines = written.getvalue().split("\n")
    assert all(len(line) <= width and line == line.rstrip() for line in lines)
    for whole in ("1. tea", "2. black", "10. milk,", "15.1 %", "(4 %", "7.5 %)"):
        assert any(whole in line for line in lines)
    assert " ".join(" ".join(lines).split()) == " ".join(said.split())


def test_a_question_is_in_bold() -> None:
    written = io.StringIO()
    console = Console(file=written, force_terminal=True, width=80, color_system="standard")
    console_module.say(console, "What to show? 1. tea")
    console_module.say(console, "Tea leads. Is it good? No")
    asked, told = written.getvalue().splitlines()
    assert "\x1b[1mshow?" in asked
    assert "\x1b[1m1. tea" not in asked
    assert "\x1b" not in told
