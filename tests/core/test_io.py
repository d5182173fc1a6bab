"""CSV tables and data frames."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from slotwise.core.errors import MissingExtra
from slotwise.core.io import frame, write_csv


def test_a_table_has_a_line_of_heads_and_a_line_per_row(tmp_path: Path) -> None:
    write_csv(tmp_path / "x.csv", ["item", "clicks"], [("tea, green", 3), ("“milk”", None)])
    assert (tmp_path / "x.csv").read_bytes() == 'item,clicks\n"tea, green",3\n“milk”,\n'.encode()


def test_rows_that_fail_leave_the_file_unchanged(tmp_path: Path) -> None:
    def rows() -> Iterator[tuple[int]]:
        yield (1,)
        raise ValueError("no more")

    write_csv(tmp_path / "x.csv", ["a"], [(0,)])
    with pytest.raises(ValueError, match="no more"):
        write_csv(tmp_path / "x.csv", ["a"], rows())
    assert (tmp_path / "x.csv").read_text() == "a\n0\n"
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_columns_become_a_frame() -> None:
    table = frame({"id": ["a", "b"], "clicks": np.array([3, 4])})
    assert list(table.columns) == ["id", "clicks"]
    assert table["clicks"].tolist() == [3, 4]


def test_without_pandas_the_error_names_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"a data frame.*pip install 'slotwise\[frames\]'"):
        frame({"id": ["a"]})
