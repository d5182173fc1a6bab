"""A row of the table of what is measured on logs with a known truth."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

#: shows a line that says how far a part has come
Progress = Callable[[str], None]


class Row(NamedTuple):
    """A figure, the least that it must reach, and what it aims at."""

    name: str
    value: str
    floor: str
    aim: str


def table(rows: Iterable[Row]) -> str:
    """Return the rows as a Markdown table.

    >>> print(table([Row("slots, synthetic search", "0.951 ± 0.004", "0.94", "0.95")]))
    | measured | value | floor | aim |
    | --- | --- | --- | --- |
    | slots, synthetic search | 0.951 ± 0.004 | 0.94 | 0.95 |
    """
    head = ["| measured | value | floor | aim |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *(f"| {' | '.join(row)} |" for row in rows)])
