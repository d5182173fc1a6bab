"""Item features from a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slotwise import logs
from slotwise.core.errors import InvalidInput, SlotwiseError
from slotwise.logs.reading.feature_file import MAX_COLUMNS, encoded, read_features

TABLE = {"item": [1, 2, 3], "price": [9.5, 20, None], "kind": ["tea", None, "milk"]}


@pytest.mark.parametrize("kind", ["csv", "parquet", "json"])
def test_every_file_format_gives_the_same_features(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"items.{kind}"
    if kind == "csv":
        path.write_text("item,price,kind\n1,9.5,tea\n2,20,\n3,,milk\n")
    elif kind == "parquet":
        pq.write_table(pa.table(TABLE), path)
    else:
        path.write_text(
            '[{"item": 1, "price": 9.5, "kind": "tea"}, {"item": 2, "price": 20, "kind": null},'
            ' {"item": 3, "price": null, "kind": "milk"}]'
        )
    assert read_features(str(path)) == {"1": [9.5, "tea"], "2": [20.0, None], "3": [None, "milk"]}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("id,price\na,1\n", "must have a column 'item', got id, price"),
        ("item,price\na,1\na,2\n", "one row for each item, got 'a'"),
        ("item\na\n", "a column other than 'item'"),
        ("item,price\n", "got none"),
        ("item,day\na,2026-11-16\n", "day of item a must be a number or text"),
    ],
)
def test_invalid_features_are_named(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "items.csv"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=named):
        read_features(str(path))


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(SlotwiseError, match="there is no file"):
        read_features(str(tmp_path / "none.csv"))
    path = tmp_path / "items.parquet"
    path.write_bytes(b"not a table")
    with pytest.raises(SlotwiseError, match=r"cannot read .*items\.parquet"):
        read_features(str(path))


def test_features_of_other_items_and_too_many_are_refused() -> None:
    with pytest.raises(InvalidInput, match="none of them is, such as 'x'; it has 'a'"):
        encoded({"x": [1.0]}, ["a"])
    ids = [str(number) for number in range(MAX_COLUMNS + 1)]
    with pytest.raises(InvalidInput, match=f"at most {MAX_COLUMNS} numbers"):
        encoded({id: [f"kind {id}"] for id in ids}, ids)
    with pytest.raises(InvalidInput, match="as many for each item"):
        encoded({"a": [1.0], "b": [1.0, 2.0]}, ["a", "b"])


def test_a_rarely_shown_item_is_shrunk_toward_its_features() -> None:
    """Sixty items whose attractiveness is e^(-2 + feature); the last two were shown once each, unclicked."""
    rng = np.random.default_rng(11)
    feature = rng.normal(size=60)
    feature[-2:] = 1.5, -1.5
    alpha = np.exp(-2.0 + feature)
    shown = np.array([rng.permutation(58)[:2] for _ in range(4_000)])
    odds = alpha[shown] * [1.0, 0.6]
    left = rng.random(len(shown)) * (1.0 + odds.sum(axis=1))
    clicked = np.where(left < odds[:, 0], shown[:, 0], np.where(left < odds.sum(axis=1), shown[:, 1], -1))
    lists = [*shown.tolist(), [58, 59]]
    log = pa.table(
        {
            "items": [[f"i{item}" for item in one] for one in lists],
            "clicked": [None if item < 0 else f"i{item}" for item in [*clicked.tolist(), -1]],
        }
    )
    known = {f"i{item}": [float(feature[item])] for item in range(60)}

    def apart(**options: object) -> float:
        found = logs.fit(log, **options)  # type: ignore[arg-type]
        believed = dict(zip(found.item_ids, found.estimate.attractiveness, strict=True))
        return float(believed["i58"] / believed["i59"])

    assert apart() < 2.0
    assert apart(features=known) > 8.0
    with pytest.raises(InvalidInput, match="features are for the estimator pooled"):
        apart(features=known, estimator="scaling")
