from __future__ import annotations

import datetime
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

from slotwise.core.errors import InvalidInput
from slotwise.logs import Columns, LogTally, tally

LONG = pa.table(
    {
        "impression": [1, 1, 2, 2, 3, 3, 3],
        "slot": [1, 2, 1, 2, 1, 2, 3],
        "item": ["a", "b", "b", "a", "c", "b", "a"],
        "clicked": [0, 1, 0, 0, 0, 0, 1],
    }
)
LISTS = [["a", "b"], ["b", "a"], ["c", "b", "a"]]
CLICKED = ["b", None, "a"]


@cache
def counted() -> LogTally:
    """What every log here comes to."""
    return tally(LONG)


@pytest.mark.parametrize(
    ("items", "clicked"),
    [
        (LISTS, CLICKED),
        (LISTS, [["b"], [], ["a"]]),
        (LISTS, [["b"], None, ["a", "a"]]),
        (["|".join(one) for one in LISTS], ["b", "", "a"]),
        (['["a", "b"]', '["b","a"]', '[ "c","b","a" ]'], CLICKED),
        (["['a', 'b']", "['b', 'a']", "['c' 'b' 'a']"], CLICKED),
        (["[a, b]", "[b a]", " c | b | a "], CLICKED),
    ],
)
@pytest.mark.parametrize("numbered", [True, False])
def test_wide_logs(items: list[Any], clicked: list[Any], numbered: bool) -> None:
    columns = {"items": items, "clicked": clicked} | ({"impression": [1, 2, 3]} if numbered else {})
    found = tally(pa.table(columns))
    assert found == counted()
    assert found.item_ids == ("a", "b", "c")


def test_wide_logs_of_numbers() -> None:
    found = tally(pa.table({"items": [[10, 20], [20, 10]], "clicked": [20, None]}))
    assert found.item_ids == ("10", "20")
    assert found.clicks.tolist() == [[0, 0], [0, 1]]


def test_unseen_lists_count_as_empty() -> None:
    lists, clicked = [*LISTS, ["a", "c"], ["c", "a"]], [*CLICKED, None, None]
    found = tally(pa.table({"items": lists, "clicked": clicked, "shown": [True, True, None, False, False]}))
    assert found == counted()
    assert found.cleaning["empty_impressions"] == 2


def test_an_item_may_be_called_like_a_list() -> None:
    found = tally(pa.table({"items": [["a|b", "[c]"], ["[c]", "a|b"]], "clicked": ["a|b", "[c]"]}))
    assert found.item_ids == ("[c]", "a|b")
    assert found.clicks.tolist() == [[1, 1], [0, 0]]


def test_errors_in_wide_logs_are_counted() -> None:
    lists = [*LISTS, ["a", "a"], ["a", "b"], ["a", "b"], ["a", "b"], [], None, ["a", None]]
    clicked = [["b"], [], ["a"], [], ["z"], ["b", "a"], ["a", "z"], [], [], []]
    found = tally(pa.table({"items": lists, "clicked": clicked}))
    counts = {name: count for name, count in found.cleaning.items() if count}
    assert counts == {
        "rows": 19,
        "impressions": 8,
        "counted": 5,
        "null_item": 1,
        "repeated_items": 1,
        "click_not_shown": 2,
        "multi_click_first": 1,
        "empty_impressions": 2,
    }
    # b before a in the sixth; the last shows a in slot 1
    assert (found.clicks - counted().clicks).tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert (found.passes - counted().passes).tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    "clicked", [[False, True] + [False] * 4 + [True], ["no", "Yes", "0", "f", " false ", "N", "1"]]
)
@pytest.mark.parametrize(
    "slot", [[1, 2, 1, 2, 1, 2, 3], [1.0, 2, 1, 2, 1, 2, 3], ["1", " 2", "1.0", "2", "1", "2", "3"]]
)
def test_columns_of_other_kinds(clicked: list[Any], slot: list[Any]) -> None:
    log = LONG.set_column(1, "slot", pa.array(slot)).set_column(3, "clicked", pa.array(clicked))
    assert tally(log) == counted()


def test_columns_of_other_names() -> None:
    named = LONG.rename_columns(["view", "place", "product", "bought"])
    assert tally(named, Columns("view", "place", "product", "bought")) == counted()


@pytest.mark.parametrize(
    "when",
    [
        [3, 2],
        ["3", "2.5e0"],
        ["2026-01-01 10:00:08", "2026-01-01T10:00:07.5Z"],
        [datetime.time(10, 0, 8), datetime.time(10, 0, 7)],
        [datetime.datetime(2026, 1, 1, 0, 0, 8), datetime.datetime(2026, 1, 1, 0, 0, 7, 600_000)],
        [datetime.date(2026, 1, 2), datetime.date(2026, 1, 1)],
    ],
)
def test_the_order_may_be_a_number_or_a_time(when: list[Any]) -> None:
    log = pa.table({"impression": [1, 1], "slot": [1, 2], "item": ["a", "b"], "clicked": [1, 1], "when": when})
    first, last = (tally(log, Columns(order="when"), multi_click=rule) for rule in ("first", "last"))
    assert first.clicks.tolist() == [[0, 0], [0, 1]]
    assert last.clicks.tolist() == [[1, 0], [0, 0]]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (Columns(slot="place"), "the log has no column 'place' for the slot, it has impression, slot, item, clicked"),
        (Columns(placement="page"), "the log has no column 'page' for the placement"),
        (Columns(order="when"), "the log has no column 'when' for the order"),
        (Columns(item="slot", slot="item"), "item must be a whole number, got 'a'"),
    ],
)
def test_columns_that_are_not_there(columns: Columns, message: str) -> None:
    from slotwise.logs import tallies

    with pytest.raises(InvalidInput, match=message):
        tallies(LONG, columns) if columns.placement else tally(LONG, columns)


def test_columns_that_cannot_be_read() -> None:
    with pytest.raises(InvalidInput, match="slot must hold whole numbers, got a column of boolean"):
        tally(LONG.set_column(1, "slot", pa.array([True] * 7)))
    with pytest.raises(InvalidInput, match="clicked must hold clicks"):
        tally(LONG.set_column(3, "clicked", pa.array([datetime.date(2026, 1, 1)] * 7)))
    log = pa.table({"impression": [[1], [2]], "slot": [1, 1], "item": ["a", "b"], "clicked": [0, 1]})
    with pytest.raises(InvalidInput, match="impression must hold ids, got a column of array<int64>"):
        tally(log)
    log = pa.table({"impression": [1, 1], "slot": [1, 2], "item": ["a", "b"], "clicked": [1, 1], "when": ["1", "noon"]})
    with pytest.raises(InvalidInput, match=r"when must be a number, or a time such as .*, got 'noon'"):
        tally(log, Columns(order="when"))


def test_items_of_a_json_list_may_have_commas() -> None:
    found = tally(pa.table({"items": ['["tea, black", "milk"]', '["milk", "tea, black"]'], "clicked": ["milk", None]}))
    assert found.item_ids == ("milk", "tea, black")
