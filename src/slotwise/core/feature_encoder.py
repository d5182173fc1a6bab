"""Encode item features as numbers: standardise numbers, one column per category of a text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.types import FloatArray

#: squares of larger numbers would not be finite
MAX_SIZE = 1e100


@dataclass(frozen=True)
class Encoder:
    """An encoding that was learned from the rows of some items; it can encode more items later."""

    #: per column: mean and standard deviation of a number, or the categories of a text
    columns: tuple[tuple[float, float] | tuple[str, ...], ...]
    #: per column: whether it holds text
    is_text: tuple[bool, ...]

    @classmethod
    def of(cls, rows: Any) -> Encoder:
        """Learn an encoder from rows of numbers and text; None is a missing value."""
        table = _table(rows)
        columns: list[tuple[float, float] | tuple[str, ...]] = []
        is_text = []
        for number in range(len(table[0])):
            column = [row[number] for row in table if row[number] is not None]
            if not column:
                raise InvalidInput(f"features[0][{number}] must have a value for at least one item, got None for all")
            text = isinstance(column[0], str)
            for item, row in enumerate(table):
                _check(row[number], text, item, number)
            is_text.append(text)
            if text:
                columns.append(tuple(sorted(set(column))))
            else:
                values = np.array(column, np.float64)
                columns.append((float(values.mean()), float(values.std())))
        return cls(tuple(columns), tuple(is_text))

    @property
    def width(self) -> int:
        """The number of encoded columns."""
        return sum(len(column) if text else 1 for column, text in zip(self.columns, self.is_text, strict=True))

    def keeping(self, categories: Collection[tuple[int, str]]) -> Encoder:
        """Return an encoder with only these categories, each given by the number of its column."""
        columns = zip(self.columns, self.is_text, strict=True)
        selected = (
            tuple(str(category) for category in column if (number, category) in categories) if text else column
            for number, (column, text) in enumerate(columns)
        )
        return Encoder(tuple(selected), self.is_text)

    def encode(self, rows: Any) -> FloatArray:
        """Return items × numbers: (value - mean)/deviation of a number, and 1 in the column of a text's category.

        A number that never varied, a missing value and an unknown category are encoded as 0.
        """
        table = _table(rows)
        encoded = np.zeros((len(table), self.width))
        for item, row in enumerate(table):
            if len(row) != len(self.columns):
                raise InvalidInput(f"features[{item}] must have {len(self.columns)} entries, got {len(row)}")
            start = 0
            for number, (column, text) in enumerate(zip(self.columns, self.is_text, strict=True)):
                value: Any = row[number]
                _check(value, text, item, number)
                if text:
                    if value in column:
                        encoded[item, start + column.index(value)] = 1.0
                    start += len(column)
                else:
                    mean, deviation = column
                    encoded[item, start] = (value - mean) / deviation if deviation and value is not None else 0.0
                    start += 1
        return encoded


def encode(rows: Any) -> FloatArray:
    """Return rows of numbers and text, one per item, as numbers.

    >>> encode([[10, "red"], [20, "blue"], [30, "red"]]).round(2).tolist()       # blue, then red
    [[-1.22, 0.0, 1.0], [0.0, 1.0, 0.0], [1.22, 0.0, 1.0]]
    """
    return Encoder.of(rows).encode(rows)


def _table(rows: Any) -> list[list[Any]]:
    if isinstance(rows, str) or not isinstance(rows, Sequence | np.ndarray) or len(rows) == 0:
        raise InvalidInput(f"features must be a row for each item, got {validation.short(rows)}")
    for item, row in enumerate(rows):
        if isinstance(row, str) or not isinstance(row, Sequence | np.ndarray) or len(row) == 0:
            raise InvalidInput(f"features[{item}] must be a list of numbers and text, got {validation.short(row)}")
        if len(row) != len(rows[0]):
            raise InvalidInput(f"features[{item}] must have {len(rows[0])} entries, as the first has, got {len(row)}")
    return [list(row) for row in rows]


def _check(value: Any, text: bool, item: int, number: int) -> None:
    if value is not None and not is_plain_value(value, text):
        check_value(f"features[{item}][{number}]", value, text, "others in its column")


def is_plain_value(value: Any, text: bool) -> bool:
    """Whether `check_value` accepts a value for certain; quicker, as no name is put together for an error."""
    return type(value) is str if text else type(value) is float and abs(value) <= MAX_SIZE


def check_value(name: str, value: Any, text: bool, others: str) -> None:
    """Raise an error that names `name` unless the value is text, or a number, like `others`."""
    if text and not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, as {others}, got {value!r}")
    if not text:
        if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
            raise InvalidInput(f"{name} must be a number, as {others}, got {value!r}")
        size: Any = abs(value)
        if not size <= MAX_SIZE:
            raise InvalidInput(f"{name} must be at most {MAX_SIZE:g} in size, got {validation.short(value)}")
