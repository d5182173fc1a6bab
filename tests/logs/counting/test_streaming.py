from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from slotwise.logs import Columns, fit_placements, tallies, tally
from slotwise.logs.counting import row_cache, row_stream, streaming
from slotwise.logs.counting.cleaning import cleaned
from slotwise.logs.reading.engines import read
from tests.logs.reference_counter import Plain, dirty_rows, table

PAGES = Columns(placement="page", order="turn")


@pytest.fixture
def at_once(interpreting: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Count small logs as they are read too, some rows at a time."""
    monkeypatch.setattr(streaming, "MIN_ROWS", 0)
    monkeypatch.setattr(row_stream, "ROWS", 64)


def text_ids(log: pa.Table) -> pa.Table:
    place = log.column_names.index("impression")
    return log.set_column(
        place, "impression", pc.binary_join_element_wise("view", log["impression"].cast("string"), "-")
    )


def small_log(impressions: int) -> pa.Table:
    """Two items, a click on slot 1 in every third impression."""
    return pa.table(
        {
            "impression": [place // 2 for place in range(2 * impressions)],
            "slot": [1, 2] * impressions,
            "item": ["ab"[(place + place // 2) % 2] for place in range(2 * impressions)],
            "clicked": [int(place % 6 == 0) for place in range(2 * impressions)],
        }
    )


def stream_of(log: pa.Table, columns: Columns) -> streaming.Streamed | None:
    with read(log) as opened, cleaned(opened, columns) as found:
        return found.streamed


@pytest.mark.parametrize(
    ("together", "in_order", "rule", "kept"),
    [
        # all impressions in one piece; a few in pieces; too many of them
        (1.0, True, "first", True),
        (1.0, False, "drop", True),
        (0.97, False, "last", True),
        (0.7, True, "first", False),
        (0.0, False, "first", False),
    ],
)
def test_impressions_are_counted_as_in_plain_python(
    together: float, in_order: bool, rule: Any, kept: bool, at_once: None
) -> None:
    rows = dirty_rows(11, together=together, in_order=in_order)
    log = table(rows) if in_order else text_ids(table(rows))
    assert (stream_of(log, PAGES) is not None) == kept
    Plain(rows, rule).check(tallies(log, PAGES, multi_click=rule))


def test_only_odd_impressions_are_judged_row_by_row(at_once: None) -> None:
    found = stream_of(table(dirty_rows(3, together=1.0)), Columns())
    assert found is not None
    assert 0 < len(found.odd) < sum(page.counted for page in found.pages.values())


def test_a_fit_is_the_same_however_its_log_is_counted(interpreting: None, monkeypatch: pytest.MonkeyPatch) -> None:
    log = table(dirty_rows(5, together=1.0, in_order=False))
    before = fit_placements(log, PAGES)
    monkeypatch.setattr(streaming, "MIN_ROWS", 0)
    for one, other in zip(before, fit_placements(log, PAGES), strict=True):
        assert one.tally == other.tally
        assert one.rankings == other.rankings
        assert one.log_likelihood == pytest.approx(other.log_likelihood, rel=1e-12)


def test_a_log_that_is_too_long_to_keep_is_read_again_for_its_likelihood(
    at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = table(dirty_rows(3, together=1.0))
    (kept,) = fit_placements(log)
    # room for the first parts only
    monkeypatch.setattr(row_cache, "MAX_BYTES", 2_000)
    (read_again,) = fit_placements(log)
    assert kept.log_likelihood == pytest.approx(read_again.log_likelihood, rel=1e-12)


def test_all_rows_are_there_for_who_asks(at_once: None) -> None:
    log = table(dirty_rows(5, together=1.0))
    with read(log) as opened, cleaned(opened, PAGES) as found:
        assert found.streamed is not None
        counted = tallies(log, PAGES)
        assert found.rows.count().to_pyarrow().as_py() == sum(int(one.showings.sum()) for one in counted.values())


def test_a_sample_is_of_about_as_many_as_wanted(at_once: None) -> None:
    log = small_log(2_000)
    (found,) = fit_placements(log, sample=500)
    assert found.sampled
    assert found.rankings is not None
    # the standard deviation is about 20
    assert abs(found.rankings.rounds - 500) < 120
    (again,) = fit_placements(log, sample=500)
    assert again.rankings == found.rankings


def test_a_click_row_far_from_its_impression_finds_it(at_once: None) -> None:
    stray = pa.table({"impression": [1, 2], "slot": pa.array([None, None], pa.int64()), "item": ["a", "z"]})
    log = pa.concat_tables([small_log(300), stray.append_column("clicked", pa.array([1, 1]))])
    assert stream_of(log, Columns()) is not None
    counted = tally(log)
    assert (counted.cleaning["joined_clicks"], counted.cleaning["click_not_shown"]) == (1, 1)
    assert (counted.impressions, counted.counted, counted.no_click) == (302 - 2, 299, 198)


def test_one_impression_of_many_rows(at_once: None) -> None:
    rows = {"impression": [1] * 500 + [2], "slot": [1] * 501, "item": ["a"] * 501, "clicked": [0] * 501}
    counted = tally(pa.table(rows))
    assert counted.cleaning["duplicate_rows"] == 499
    assert counted.passes.tolist() == [[2]]


def test_the_settings_of_a_connection_are_put_back(at_once: None) -> None:
    with read(table(dirty_rows(5, together=1.0))) as log:
        connection: Any = log.get_backend()
        with cleaned(log, PAGES):
            asked = connection.con.execute("SELECT current_setting('preserve_insertion_order')")
            assert asked.fetchone() == (False,)
