from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from slotwise.core.tables import write_csv


def test_a_line_of_heads_and_a_line_per_row(tmp_path: Path) -> None:
    write_csv(tmp_path / "x.csv", ["item", "clicks"], [("tea, green", 3), ("“milk”", None)])
    assert (tmp_path / "x.csv").read_bytes() == 'item,clicks\n"tea, green",3\n“milk”,\n'.encode()


def test_rows_that_fail_leave_the_file_as_it_was(tmp_path: Path) -> None:
    def rows() -> Iterator[tuple[int]]:
        yield (1,)
        raise ValueError("no more")

    write_csv(tmp_path / "x.csv", ["a"], [(0,)])
    with pytest.raises(ValueError, match="no more"):
        write_csv(tmp_path / "x.csv", ["a"], rows())
    assert (tmp_path / "x.csv").read_text() == "a\n0\n"
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]
