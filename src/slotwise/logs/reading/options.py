"""The options of everything that reads a log: what its columns are called, and how it is read."""

from __future__ import annotations

import difflib
from dataclasses import fields, replace
from typing import Any, cast

from slotwise.logs.reading.columns import ColumnNames, Columns
from slotwise.logs.reading.sources import ReadOptions


class LogOptions(ColumnNames, ReadOptions, total=False):
    """`slotwise.logs.Columns`, field by field, and the options of `slotwise.logs.read`."""


def apart(columns: Columns | None, options: LogOptions) -> tuple[Columns, ReadOptions]:
    """The columns, as given together or one by one, and how to read.

    >>> apart(None, {"impression": "view_id", "engine": "spark"})[1]
    {'engine': 'spark'}
    """
    given: dict[str, Any] = dict(options)
    names = {field.name: given.pop(field.name) for field in fields(Columns) if field.name in given}
    known = [*(field.name for field in fields(Columns)), *ReadOptions.__annotations__]
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            raise TypeError(f"there is no option {name!r} for a log" + (f"; is it {near[0]!r}?" if near else ""))
    return replace(columns or Columns(), **names), cast("ReadOptions", given)
