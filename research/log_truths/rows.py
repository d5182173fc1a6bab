"""A row of the table of what is measured on logs with a known truth."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from slotwise.cli.shared.console import Progress as Progress
from slotwise.cli.shared.console import progress_bar


class Row(NamedTuple):
    """A figure, the least that it must reach, and what it aims at."""

    name: str
    value: str
    floor: str
    aim: str


@contextmanager
def telling() -> Iterator[Progress]:
    """Show a progress bar on a terminal, and a line for each step elsewhere."""
    last = ""

    def say(step: str, share: float | None = None) -> None:  # noqa: ARG001
        nonlocal last
        if step != last:
            print(step, file=sys.stderr, flush=True)
        last = step

    with progress_bar() as tell:
        yield tell if sys.stderr.isatty() else say


def table(rows: Iterable[Row]) -> str:
    """Return the rows as a Markdown table.

    >>> print(table([Row("slots, synthetic search", "0.951 ± 0.004", "0.94", "0.95")]))
    | measured | value | floor | aim |
    | --- | --- | --- | --- |
    | slots, synthetic search | 0.951 ± 0.004 | 0.94 | 0.95 |
    """
    head = ["| measured | value | floor | aim |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *(f"| {' | '.join(row)} |" for row in rows)])
