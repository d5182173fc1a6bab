"""Today's code reads the files of every released version, and finds the same numbers in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slotwise import __version__
from slotwise.core.errors import SlotwiseError
from tests.plain_python import nothing_is_compiled
from tests.released import FOLDER, NUMBERS, STORE, read_files, released_versions, write_files

__all__ = ["nothing_is_compiled"]


def test_the_files_of_this_version_are_here() -> None:
    assert __version__ in released_versions(), "python -m tests.released writes them"


@pytest.mark.parametrize("version", released_versions())
def test_the_files_of_a_version_are_read(version: str, tmp_path: Path) -> None:
    expected = json.loads((FOLDER / version / NUMBERS).read_text())
    assert expected.pop("version") == version
    del expected["pending"]
    assert read_files(FOLDER / version, tmp_path) == expected


def test_the_files_hold_something_to_lose(tmp_path: Path) -> None:
    """A store whose counts were dropped by an upgrade would be noticed."""
    version = released_versions()[-1]
    numbers = json.loads((FOLDER / version / NUMBERS).read_text())
    before, after = numbers["store"]["before"]["decisions"], numbers["store"]["after"]["decisions"]
    assert before["pending"] == 1
    assert after["final"] == before["final"] + 1
    for counted in (numbers["store"]["before"]["tally"], numbers["placement"]["tally"], numbers["ranker"]):
        assert sum(map(sum, counted["clicks"])) > 0
        assert sum(map(sum, counted["passes"])) > 0


def test_the_files_are_written_by_the_command(tmp_path: Path) -> None:
    write_files(tmp_path / "files", tmp_path)
    numbers = json.loads((tmp_path / "files" / NUMBERS).read_text())
    assert numbers["version"] == __version__
    store = (tmp_path / "files" / STORE).read_text()
    broken = store.replace('INSERT INTO "tally"', '-- INSERT INTO "tally"')
    assert broken != store
    (tmp_path / "files" / STORE).write_text(broken)
    with pytest.raises((AssertionError, SlotwiseError)):
        assert read_files(tmp_path / "files", tmp_path / "again")["store"] == numbers["store"]
