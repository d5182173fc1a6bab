"""Ids that look alike are counted as different items, and that is reported."""

from __future__ import annotations

import pyarrow as pa

from slotwise.logs import cleaning_text, fit, fit_text, report_dict
from slotwise.logs.counting.similar_ids import similar_ids

LISTS = [["1", "1.0", "001", "x"], ["x", "001", "1.0", "1"]] * 2


def test_numbers_that_are_written_differently() -> None:
    found = fit(pa.table({"items": LISTS, "clicked": ["1", "x", None, None]}))
    assert found.item_ids == ("001", "1", "1.0", "x")
    assert found.tally.cleaning["similar_items"] == 12
    assert report_dict([found])["cleaning"]["similar_items"] == 12
    text = " ".join(str(block) for block in [*fit_text([found]), *cleaning_text(found.tally.cleaning)])
    assert "- 12 rows with items whose ids look alike" in text
    assert "          12  rows with items whose ids look alike" in text
    assert "'001' and '1' and '1.0'" in text


def test_items_called_nothing() -> None:
    found = fit(pa.table({"items": [["NaN", "b"], ["b", "NaN"]] * 2, "clicked": ["b", "NaN", None, None]}))
    assert found.item_ids == ("NaN", "b")
    assert found.tally.cleaning["items_named_nothing"] == 4
    assert "- 4 rows with an item called NaN" in " ".join(map(str, fit_text([found])))


def test_different_numbers_are_not_alike() -> None:
    assert similar_ids(["1", "10", "100", "0", "1.5", "a1", "a01"]) == []
