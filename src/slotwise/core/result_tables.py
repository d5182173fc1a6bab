"""Tables with a row per item or per slot, which results return as records and as text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

Table = Literal["items", "slots"]
TABLES: tuple[Table, ...] = ("items", "slots")

#: rows that `text_table` shows
MAX_ROWS = 20

#: a cell of a table
Cell = str | int | float | bool | None


def plain(column: Any) -> list[Cell]:
    """Return the values of a column as Python objects, None for a number that is not finite.

    >>> plain(np.array([1.5, np.nan]))
    [1.5, None]
    """
    values = column.tolist() if isinstance(column, np.ndarray) else list(column)
    return [None if isinstance(value, float) and not math.isfinite(value) else value for value in values]


def records(columns: Mapping[str, Any]) -> list[dict[str, Cell]]:
    """Return a dictionary per row.

    >>> records({"slot": [1, 2], "bias": np.array([1.0, 0.5])})
    [{'slot': 1, 'bias': 1.0}, {'slot': 2, 'bias': 0.5}]
    """
    rows = zip(*map(plain, columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def text_table(columns: Mapping[str, Any]) -> str:
    """Return columns as aligned text, at most `MAX_ROWS` rows.

    >>> print(text_table({"slot": [1, 2], "bias": np.array([1.0, 0.54321])}))
    slot   bias
       1      1
       2 0.5432
    """
    rows = [[_text(cell) for cell in row] for row in zip(*map(plain, columns.values()), strict=True)]
    lines = [list(columns), *rows[:MAX_ROWS]]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = [_line(line, widths) for line in lines]
    if len(rows) > MAX_ROWS:
        text.append(f"… and {len(rows) - MAX_ROWS:,} more rows")
    return "\n".join(text)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return " ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))


def _text(cell: Cell) -> str:
    if cell is None:
        return "–"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
