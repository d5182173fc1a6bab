from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from slotwise.logs import Columns, tallies
from slotwise.logs.counting import row_stream, streaming
from slotwise.logs.counting.cleaning import cleaned
from slotwise.logs.reading.sources import read
from tests.logs.plain import Plain, dirty_rows, table

PAGES = Columns(placement="page", order="turn")


@pytest.fixture
def at_once(interpreting: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Count small logs as they are read too, some rows at a time."""
    monkeypatch.setattr(streaming, "FEWEST_ROWS", 0)
    monkeypatch.setattr(row_stream, "ROWS", 64)


def text_ids(log: pa.Table) -> pa.Table:
    place = log.column_names.index("impression")
    return log.set_column(
        place, "impression", pc.binary_join_element_wise("view", log["impression"].cast("string"), "-")
    )


def is_streamed(log: pa.Table, columns: Columns) -> bool:
    with read(log) as opened, cleaned(opened, columns) as found:
        return found.streamed is not None


@pytest.mark.parametrize("rule", ["first", "last", "drop"])
@pytest.mark.parametrize(
    ("together", "in_order"), [(1.0, True), (1.0, False), (0.99, True), (0.99, False), (0.7, True), (0.0, True)]
)
def test_impressions_are_counted_as_in_plain_python(together: float, in_order: bool, rule: Any, at_once: None) -> None:
    rows = dirty_rows(11, together=together, in_order=in_order)
    plain = Plain(rows, rule)
    plain.check(tallies(table(rows), PAGES, multi_click=rule))
    plain.check(tallies(text_ids(table(rows)), PAGES, multi_click=rule))
