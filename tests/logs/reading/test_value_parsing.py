"""Words for nothing, empty text, and numbers that became fractions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from slotwise.logs import LogTally, fit, fit_text, tally
from slotwise.logs.counting.cleaning_rules import SIZES
from tests.postgres import Postgres

LISTS = [["a", "b"], ["b", "a"]] * 3
LONG = {
    "impression": ["1", "1", "2", "2", "3", "3", "None", "NaN"],
    "slot": ["1", "2", "1", "2", "1", "-", "1", "1"],
    "item": ["a", "b", "b", "", "a", "b", "a", "a"],
    "clicked": ["1", "NaN", "None", "0", "n/a", "0", "0", "0"],
}


def findings(counted: LogTally) -> dict[str, int]:
    return {rule: count for rule, count in counted.cleaning.items() if count and rule not in SIZES}


@pytest.mark.parametrize(
    ("clicked", "words"),
    [
        (["a", "NaN", "None", "-", " n/a ", None], 4),
        ([["a"], ["NaN"], ["None"], [], None, ["null"]], 3),
        (["a", "", "", "", "", ""], 0),
    ],
)
def test_clicks_on_nothing(clicked: list[Any], words: int) -> None:
    counted = tally(pa.table({"items": LISTS, "clicked": clicked}))
    assert (counted.impressions, counted.counted, counted.no_click) == (6, 6, 5)
    assert counted.clicks.tolist() == [[1, 0], [0, 0]]
    assert findings(counted) == ({"words_for_nothing": words} if words else {})


def test_what_they_were_taken_for_stands_with_the_answer() -> None:
    found = fit(pa.table({"items": LISTS, "clicked": ["a", "b", "NaN", "None", "-", None]}))
    text = " ".join(map(str, fit_text([found])))
    assert "- 3 slots or clicks that are a word such as NaN, None or -: taken as missing" in text


def test_an_item_of_that_name_can_be_clicked() -> None:
    counted = tally(pa.table({"items": [["None", "b"], ["b", "None"]], "clicked": ["None", "nan"]}))
    assert counted.clicks.tolist() == [[1, 0], [0, 0]]
    assert findings(counted) == {"words_for_nothing": 1, "items_named_nothing": 2}


def check_long(counted: LogTally) -> None:
    assert (counted.item_ids, counted.clicks.tolist(), counted.passes.tolist()) == (
        ("a", "b"),
        [[1, 0], [0, 0]],
        [[1, 1], [0, 0]],
    )
    assert findings(counted) == {
        "null_impression": 2,
        "null_clicked": 3,
        "null_slot": 1,
        "null_item": 1,
        "words_for_nothing": 4,
    }


def test_rows_of_words(tmp_path: Path) -> None:
    check_long(tally(pa.table(LONG)))
    pq.write_table(pa.table(LONG), tmp_path / "log.parquet")
    check_long(tally(tmp_path / "log.parquet"))
    pyarrow.csv.write_csv(pa.table(LONG), tmp_path / "log.csv")
    check_long(tally(tmp_path / "log.csv"))


def test_rows_of_words_in_postgresql(postgres: Postgres) -> None:
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS words")
        connection.execute("CREATE TABLE words (impression text, slot text, item text, clicked text)")
        with connection.cursor() as cursor, cursor.copy("COPY words FROM STDIN") as copy:
            for row in zip(*LONG.values(), strict=True):
                copy.write_row(row)
    check_long(tally(postgres.url, table="words"))


def test_numbers_that_became_fractions() -> None:
    lists = pa.table({"items": [[7, 8], [8, 7]], "clicked": [7.0, None]})
    rows = {
        "impression": [1.0, 1.0, 2.0, 2.0],
        "slot": [1, 2, 1, 2],
        "item": [7.0, 8.0, 8.0, 7.0],
        "clicked": [1, 0, 0, 0],
    }
    for counted in (tally(lists), tally(pa.table(rows))):
        assert counted.item_ids == ("7", "8")
        assert counted.clicks.tolist() == [[1, 0], [0, 0]]
