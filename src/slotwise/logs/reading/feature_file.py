"""Item features from a file: a table with a row for each item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput, UnreadableFile
from slotwise.core.feature_encoder import encode
from slotwise.core.types import FloatArray

#: the features of an item: numbers and text, None if unknown
Row = Sequence[float | str | None]
#: maximum number of encoded features; each category of a text is one
MAX_COLUMNS = 200
READERS = {".parquet": "read_parquet", ".json": "read_json_auto", ".jsonl": "read_json_auto"}


def read_features(path: str, item: str = "item") -> dict[str, Row]:
    """Read the features of items from a CSV, JSON or Parquet file.

    Parameters
    ----------
    path
        The path of the file.
    item
        The column with the ids of items.

    Returns
    -------
    dict of str to list
        The features of each item, in the order of the columns.

    Raises
    ------
    UnreadableFile
        If the file is missing or damaged.
    InvalidInput
        If a column is missing, or an item has several rows.
    """
    if not Path(path).is_file():
        raise UnreadableFile(f"features: there is no file {path}")
    reader = READERS.get(Path(path).suffix.lower(), "read_csv_auto")
    try:
        with duckdb.connect() as engine:
            table = engine.execute(f"SELECT * FROM {reader}(?)", [path])
            names = [column[0] for column in table.description or ()]
            rows = table.fetchall()
    except duckdb.Error as problem:
        raise UnreadableFile(f"features: cannot read {path}: {str(problem).splitlines()[0]}") from None
    if item not in names:
        raise InvalidInput(f"features: {path} must have a column {item!r}, got {', '.join(names)}")
    if len(names) < 2:
        raise InvalidInput(f"features: {path} must have a column other than {item!r}")
    place = names.index(item)
    features: dict[str, Row] = {}
    for row in rows:
        id = str(row[place])
        if row[place] is None or id in features:
            raise InvalidInput(f"features: {path} must have one row for each item, got {row[place]!r} again or none")
        others = zip(names, row, strict=True)
        features[id] = [_plain(name, id, value) for name, value in others if name != item]
    if not features:
        raise InvalidInput(f"features: {path} must have a row for each item, got none")
    return features


def encoded(features: Mapping[str, Row], item_ids: Sequence[str]) -> FloatArray:
    """Items × numbers, in the order of `item_ids`; of an item without a row, nothing is known.

    >>> encoded({"a": [1.0, "red"], "b": [3.0, "blue"]}, ["b", "a", "c"]).tolist()
    [[1.0, 1.0, 0.0], [-1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """
    widths = {len(row) for row in features.values()}
    if len(widths) != 1:
        raise InvalidInput(f"features must be as many for each item, got {validation.short(sorted(widths))}")
    unknown = [None] * widths.pop()
    if not any(id in features for id in item_ids):
        example, shown = next(iter(features)), item_ids[0] if item_ids else ""
        raise InvalidInput(
            f"features must be of items of the log: none of them is, such as {example!r}; it has {shown!r}"
        )
    numbers = encode([list(features.get(id, unknown)) for id in item_ids])
    if numbers.shape[1] > MAX_COLUMNS:
        raise InvalidInput(
            f"features must come to at most {MAX_COLUMNS} numbers, of which each category of a text is one, "
            f"got {numbers.shape[1]}"
        )
    return np.asarray(numbers)


def _plain(name: str, id: str, value: Any) -> float | str | None:
    if value is None or isinstance(value, str):
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidInput(f"features: {name} of item {id} must be a number or text, got {value!r}") from None
