from __future__ import annotations

from functools import cache
from typing import Any

import pyarrow as pa
import pytest

from slotwise.core.errors import InvalidInput
from slotwise.logs import RULES, Columns, LogTally, tallies, tally
from slotwise.logs.counting.cleaning_rules import GUESSES
from slotwise.logs.reading.event_formats import EVENT_RULES
from tests.logs.reference_counter import Plain, dirty_rows, table

PAGES = Columns(placement="page", order="turn")

#: (impression, slot, item, clicked): two regular impressions, one with a click and one without
REGULAR = [(1, 1, "a", 1), (1, 2, "b", 0), (2, 1, "b", 0), (2, 2, "a", 0)]


def log_of(rows: list[Any]) -> pa.Table:
    names = ("impression", "slot", "item", "clicked")
    return pa.table({name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)})


@cache
def regular() -> LogTally:
    return tally(log_of(REGULAR))


@pytest.mark.parametrize("rule", ["first", "last", "drop"])
@pytest.mark.parametrize("seed", [1, 2])
def test_everything_that_can_be_wrong_is_counted_as_in_plain_python(seed: int, rule: Any) -> None:
    rows = dirty_rows(seed, from_zero=seed == 2)
    plain = Plain(rows, rule)
    assert all(
        plain.counts[name]
        for name in RULES
        if not name.startswith(
            ("multi_click", "empty", "lost_placements", "rare_placements", "null_weight", "null_time")
        )
        and name not in (*GUESSES, *EVENT_RULES, "cut_lists", "shorter_lists")
    )
    plain.check(tallies(table(rows), PAGES, multi_click=rule))


@pytest.mark.parametrize(
    ("more", "rule", "times"),
    [
        ([(3, 1, "a", 1), (3, 2, "b", 1)], "multi_click_drop", 1),
        ([(3, 1, "a", 1), (3, 2, "a", 0)], "repeated_items", 1),
        ([(3, 1, "a", 0), (3, 1, "b", 1)], "conflicting_slots", 1),
        ([(3, None, "c", 1), (3, 1, "a", 0)], "click_not_shown", 1),
        ([(3, 1, None, 1), (3, 2, "a", 0)], "click_not_shown", 1),
    ],
)
def test_impressions_that_are_left_out(more: list[Any], rule: str, times: int) -> None:
    counted = tally(log_of(REGULAR + more))
    assert counted.cleaning[rule] == times
    assert (counted.impressions, counted.counted) == (3, 2)
    assert counted == regular()


@pytest.mark.parametrize(
    ("more", "rule", "times"),
    [
        ([(1, 1, "a", 1)], "duplicate_rows", 1),
        ([(1, 1, "a", 0)], "duplicate_rows", 1),
        ([(None, 1, "a", 1)], "null_impression", 1),
        ([(1, None, "c", 0)], "null_slot", 1),
        ([(1, 3, None, 0)], "null_item", 1),
    ],
)
def test_rows_that_are_left_out(more: list[Any], rule: str, times: int) -> None:
    counted = tally(log_of(REGULAR + more))
    assert counted.cleaning[rule] == times
    assert counted == regular()


def test_slots_may_be_counted_from_0_or_1() -> None:
    from_zero = tally(log_of([(one, slot - 1, item, hit) for one, slot, item, hit in REGULAR]))
    assert from_zero.cleaning["slots_from_0"] == 4
    assert from_zero == regular()


def test_slots_may_begin_later() -> None:
    later = tally(log_of([(one, slot + 4, item, hit) for one, slot, item, hit in REGULAR]))
    assert later.cleaning["slots_from_later"] == 4
    assert later == regular()


def test_a_stray_slot_0_does_not_shift_all() -> None:
    rows = [(one, slot, item, 0) for one in range(20) for slot, item in ((1, "a"), (2, "b"))]
    with pytest.raises(InvalidInput, match="counted from 0 or from 1, got 1 rows of 0 and 20 of 1"):
        tally(log_of([*rows, (30, 0, "a", 0)]))


def test_the_last_of_two_copies_is_the_last() -> None:
    rows = {
        "impression": [1, 1, 1],
        "slot": [1, 1, 2],
        "item": ["a", "a", "b"],
        "clicked": [1, 1, 1],
        "turn": [1, 9, 5],
    }
    for rule, slot in (("first", 0), ("last", 0)):
        assert tally(pa.table(rows), Columns(order="turn"), multi_click=rule).clicks[slot, 0] == 1  # type: ignore[arg-type]


def test_a_placement_that_is_lost_is_counted() -> None:
    log = {
        "page": ["x", "y", "y"],
        "impression": [1, 1, 1],
        "slot": [1, 1, 2],
        "item": ["a", "a", "a"],
        "clicked": [0] * 3,
    }
    found = tallies(pa.table(log), Columns(placement="page"))
    assert list(found) == ["x"]
    assert found["x"].cleaning["lost_placements"] == 1


def test_a_gap_is_an_empty_slot() -> None:
    counted = tally(log_of([*REGULAR, (3, 1, "a", 0), (3, 3, "b", 0)]))
    assert counted.cleaning["missing_slots"] == 1
    assert counted.passes.tolist() == [[1, 1], [1, 0], [0, 1]]


def test_a_missing_click_is_no_click() -> None:
    counted = tally(log_of([*REGULAR, (3, 1, "a", None)]))
    assert counted.cleaning["null_clicked"] == 1
    assert counted.no_click == 2


def test_two_copies_of_a_log_count_once() -> None:
    twice = tally(log_of(REGULAR + REGULAR))
    assert twice.cleaning["duplicate_rows"] == len(REGULAR)
    assert twice == regular()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"slot": [1, -2]}, "slot must be counted from 0 or 1, got -2"),
        ({"slot": [1, 5000]}, "slot must be at most 1000, got 5000: is it the column of the slots?"),
        ({"slot": [1.0, 1.5]}, "slot must be a whole number, got '1.5'"),
        ({"slot": ["1", "two"]}, "slot must be a whole number, got 'two'"),
        ({"slot": [None, None]}, "no slot in any of its 2 rows"),
        ({"clicked": [1, -1]}, "clicked must be true or false, 1 or 0, got '-1'"),
        ({"clicked": ["yes", "perhaps"]}, "clicked must be true or false, 1 or 0, got 'perhaps'"),
        ({"impression": [None, None]}, "no impression that can be counted: 2 rows without an impression"),
        (
            {"item": [None, None], "clicked": [0, 0]},
            "no impression that can be counted: 2 rows without an item, not clicked",
        ),
    ],
)
def test_logs_that_are_refused(change: dict[str, Any], message: str) -> None:
    rows = {"impression": [1, 1], "slot": [1, 2], "item": ["a", "b"], "clicked": [1, 0]} | change
    if "slot" in change and change["slot"] == [None, None]:
        rows["slot"] = pa.array([None, None], pa.int64())
    with pytest.raises(InvalidInput, match=message):
        tally(pa.table(rows))


def test_an_empty_log_is_refused() -> None:
    with pytest.raises(InvalidInput, match="the log has no rows"):
        tally(table([]), Columns(placement=None))


def test_the_first_click_needs_an_order() -> None:
    with pytest.raises(InvalidInput, match="multi_click=first needs the order of the clicks"):
        tally(log_of(REGULAR), multi_click="first")
    with pytest.raises(InvalidInput, match="multi_click must be first or last or drop, got 'all'"):
        tally(log_of(REGULAR), multi_click="all")  # type: ignore[arg-type]


def test_an_item_that_is_shown_twice_is_one_that_was_clicked() -> None:
    found = tally(pa.table({"items": [["a", "a"], ["a", "b"], ["b", "a"]], "clicked": [["a"], ["a", "b"], ["a"]]}))
    assert (found.cleaning["repeated_items"], found.multi_click) == (1, 1)
