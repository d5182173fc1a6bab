"""Clicks in a table of their own that does not name the placement."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from slotwise.core.errors import InvalidInput
from slotwise.logs import tallies
from tests.commands import slotwise


def shown(views: list[int], items: str) -> pa.Table:
    return pa.table({"view": views, "page": ["x", "x", "y", "y"], "slot": [1, 2, 1, 2], "item": list(items)})


def clicks_on(log: pa.Table, view: int, item: str) -> dict[str, list[list[int]]]:
    clicks = pa.table({"view": [view], "item": [item]})
    counted = tallies(log, impression="view", placement="page", clicks=clicks)
    return {page: tally.clicks.tolist() for page, tally in counted.items()}


def test_the_placement_is_that_of_the_impression() -> None:
    assert clicks_on(shown([1, 1, 2, 2], "abab"), 2, "b") == {"x": [[0, 0], [0, 0]], "y": [[0, 0], [0, 1]]}


def test_ids_that_begin_anew_in_each_placement() -> None:
    assert clicks_on(shown([1, 1, 1, 1], "abcd"), 1, "c") == {"x": [[0, 0], [0, 0]], "y": [[1, 0], [0, 0]]}
    with pytest.raises(InvalidInput, match="the table of clicks must name the placement, as several show 'a'"):
        clicks_on(shown([1, 1, 1, 1], "abac"), 1, "a")


def test_a_click_on_something_else() -> None:
    clicks = pa.table({"view": [1, 2, 9], "item": ["z", "a", "a"]})
    counted = tallies(shown([1, 1, 2, 2], "abab"), impression="view", placement="page", clicks=clicks)
    assert list(counted) == ["y"]
    assert (counted["y"].cleaning["click_not_shown"], counted["y"].cleaning["clicks_of_nothing"]) == (1, 1)


def test_on_the_command_line(tmp_path: Path) -> None:
    rows = [f"{view},p{view % 2},{slot},{'ab'[(view + slot) % 2]}" for view in range(20) for slot in (1, 2)]
    (tmp_path / "shown.csv").write_text("\n".join(["impression,page,slot,item", *rows]))
    (tmp_path / "clicks.csv").write_text("impression,item\n1,a\n2,b\n")
    ended = slotwise("fit", "shown.csv", "--clicks", "clicks.csv", "--placement", "page", "--json", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert '"joined_clicks": 2' in ended.stdout
