"""Tables as CSV files, whole or absent."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Sequence
from typing import Any

from slotwise.core.files import replacing


def write_csv(path: str | os.PathLike[str], heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a line of `heads` and a line per row; None becomes an empty cell."""
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(heads)
        writer.writerows(rows)
        # the file is closed by whoever opened it
        text.detach()
