"""The tally of a log is the same to the last count: in any format, order of rows and number of threads."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import ibis.expr.types as ir
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from slotwise.logs import Columns, LogTally, fit, tallies, tally
from slotwise.logs.counting import row_cache, row_stream, streaming
from slotwise.logs.counting.cleaning import cleaned
from slotwise.logs.counting.log_tallies import tally_by_placement
from slotwise.logs.reading.engines import read
from tests.logs.reference_counter import COLUMNS, Plain, dirty_rows, table
from tests.postgres import Postgres

PAGES = Columns(placement="page", order="turn")
ROWS = dirty_rows(21, together=1.0)
THREADS = (1, 2, 3, 4)


@pytest.fixture
def small_reads(interpreting: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Count small logs as they are read too, some rows at a time."""
    monkeypatch.setattr(streaming, "MIN_ROWS", 0)
    monkeypatch.setattr(row_stream, "ROWS", 64)


@pytest.fixture
def another_order_each_time(small_reads: None, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the rows rotated differently on every read, as an engine with several threads may."""
    rotations: list[int] = []
    in_order = row_stream._in_order

    def rotated(wanted: ir.Table) -> Iterator[list[Any]]:
        columns = [np.concatenate(parts) for parts in zip(*in_order(wanted), strict=True)]
        rotations.append((3, 7)[len(rotations) % 2])
        yield [np.roll(column, rotations[-1]) for column in columns]

    monkeypatch.setattr(row_stream, "_in_order", rotated)
    return rotations


def regular_log() -> pa.Table:
    """A hundred impressions of five slots, without a fault, whose ids are text."""
    rows = [
        (f"v{one}", slot, f"i{(one + slot) % 7}", int((one + slot) % 9 == 0))
        for one in range(100)
        for slot in range(1, 6)
    ]
    names = ("impression", "slot", "item", "clicked")
    return pa.table({name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)})


def test_a_log_that_comes_in_another_order_each_time(another_order_each_time: list[int]) -> None:
    counted = tally(regular_log())
    # an impression is in pieces in the first order, another in the second, and none of the others in the third
    assert another_order_each_time == [3, 7, 3]
    assert (counted.impressions, counted.counted, counted.cleaning["missing_slots"]) == (100, 100, 0)
    assert counted.showings.sum(axis=1).tolist() == [100] * 5


def test_its_likelihood_is_the_same(another_order_each_time: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    kept = fit(regular_log())
    monkeypatch.setattr(row_cache, "MAX_BYTES", 0)
    assert fit(regular_log()).log_likelihood == pytest.approx(kept.log_likelihood, rel=1e-12)


def counted_with(path: Path, threads: int) -> dict[str | None, LogTally]:
    with read(path) as log:
        connection: Any = log.get_backend()
        connection.con.execute(f"SET threads = {threads}")
        with cleaned(log, PAGES) as clean:
            return tally_by_placement(clean)


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_formats_orders_and_threads(ending: str, shuffled: bool, small_reads: None, tmp_path: Path) -> None:
    rows = random.Random(5).sample(ROWS, len(ROWS)) if shuffled else ROWS
    plain, path = Plain(ROWS, "first"), tmp_path / f"log.{ending}"
    if ending == "csv":
        pyarrow.csv.write_csv(table(rows), path)
    else:
        pq.write_table(table(rows), path, row_group_size=100)
    for threads in THREADS:
        plain.check({str(page): counted for page, counted in counted_with(path, threads).items()})


@pytest.mark.parametrize("workers", [0, 4])
def test_shuffled_rows_in_postgresql(workers: int, postgres: Postgres) -> None:
    settings = {
        "max_parallel_workers_per_gather": workers,
        "min_parallel_table_scan_size": 0,
        "parallel_setup_cost": 0,
        "parallel_tuple_cost": 0,
    }
    options = quote(" ".join(f"-c {name}={value}" for name, value in settings.items()))
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS shuffled")
        connection.execute(
            "CREATE TABLE shuffled (page text, impression bigint, slot int, item text, clicked boolean, turn float)"
        )
        with connection.cursor().copy(f"COPY shuffled ({', '.join(COLUMNS)}) FROM STDIN") as copy:
            for row in random.Random(6).sample(ROWS, len(ROWS)):
                copy.write_row(row)
    Plain(ROWS, "first").check(tallies(f"{postgres.url}&options={options}", PAGES, table="shuffled"))


def test_an_impression_in_several_files(small_reads: None, tmp_path: Path) -> None:
    for part in range(3):
        pq.write_table(table(ROWS[part::3]), tmp_path / f"{part}.parquet")
    Plain(ROWS, "first").check(tallies(tmp_path, PAGES))
