"""Slots that are counted from 0 in some impressions and from 1 in others."""

from __future__ import annotations

import pyarrow as pa
import pytest

from slotwise.core.errors import InvalidInput
from slotwise.logs import tallies, tally

#: impression, slot, item
Row = tuple[int, int, str]


def log_of(rows: list[Row]) -> pa.Table:
    columns = dict(zip(("impression", "slot", "item"), map(list, zip(*rows, strict=True)), strict=True))
    return pa.table({**columns, "clicked": [False] * len(rows)})


def lists(impressions: range, slots: range) -> list[Row]:
    return [(impression, slot, f"i{slot}") for impression in impressions for slot in slots]


def test_half_of_the_lists_begin_at_0() -> None:
    rows = lists(range(2), range(3)) + lists(range(2, 4), range(1, 4))
    with pytest.raises(
        InvalidInput, match="got 2 that begin at 0 and 2 that begin at 1: add 1 to the slots of the former"
    ):
        tally(log_of(rows))


def test_one_of_two_placements_begins_at_0() -> None:
    rows = lists(range(2), range(6)) + lists(range(2, 4), range(1, 4))
    log = log_of(rows).append_column("page", pa.array(["home"] * 12 + ["side"] * 6))
    with pytest.raises(InvalidInput, match="got 2 that begin at 0 and 2 that begin at 1"):
        tallies(log, placement="page")


def test_a_first_slot_that_is_often_empty() -> None:
    counted = tally(log_of(lists(range(2), range(3)) + lists(range(2, 4), range(1, 3))))
    assert (counted.cleaning["slots_from_0"], counted.cleaning["missing_slots"]) == (10, 2)
    assert counted.showings.sum(axis=1).tolist() == [2, 4, 4]


@pytest.mark.parametrize("slots", [2, 3])
def test_impressions_of_one_filled_slot(slots: int) -> None:
    counted = tally(log_of([(impression, impression % slots, "a") for impression in range(6)]))
    assert counted.cleaning["slots_from_0"] == 6
    assert counted.showings.tolist() == [[6 // slots]] * slots
