"""A click log that can be opened again: where it is, the names of its columns, and how it is read."""

from __future__ import annotations

import contextlib
import difflib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Unpack, cast

import ibis.expr.types as ir

from slotwise.core.errors import InvalidInput
from slotwise.logs.reading.columns import ColumnNames, Columns, Strata, has_column
from slotwise.logs.reading.engines import ReadOptions, is_files, read, read_with_clicks, without_password
from slotwise.logs.reading.event_formats import EVENT_FORMATS, load_events
from slotwise.logs.reading.event_tables import EventValues
from slotwise.logs.reading.log_files import refuse_partial
from slotwise.logs.reading.public_datasets import load, recognised
from slotwise.logs.reading.search_server import Progress, is_search_server


class LogOptions(ColumnNames, ReadOptions, total=False):
    """`slotwise.logs.Columns`, field by field, and the options of `slotwise.logs.read`."""


@dataclass(frozen=True, eq=False)
class LogSource:
    """A click log, the names of its columns, and the options to read it with.

    Every function of `slotwise.logs` that reads a log takes a `LogSource` in place of the log, and may read it as often
    as it needs to.

    Parameters
    ----------
    data
        A path, an address, a data frame, an Arrow or an ibis table.
    columns
        The names of the columns.
    reading
        Options of `slotwise.logs.read`.
    name
        The name of the log in reports.
    findings
        How often each rule for events was applied as they were read.
    weights
        The value of each kind of event, if values were asked for.

    Examples
    --------
    >>> source = LogSource.of("clicks.parquet", impression="view_id", engine="spark")
    >>> source.columns.impression, source.reading, source.name
    ('view_id', {'engine': 'spark'}, 'clicks.parquet')
    """

    data: object
    columns: Columns = field(default_factory=Columns)
    reading: ReadOptions = field(default_factory=ReadOptions)
    name: str = "a click log"
    findings: Mapping[str, int] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, source: object, columns: Columns | None = None, **options: Unpack[LogOptions]) -> LogSource:
        """Return the source with these columns and options; they take precedence over those of a `LogSource`."""
        base = source if isinstance(source, LogSource) else cls(source, name=_name(source))
        given: dict[str, Any] = dict(options)
        names = {each.name: given.pop(each.name) for each in fields(Columns) if each.name in given}
        _reject_unknown(given)
        reading = cast("ReadOptions", {**base.reading, **given})
        return cls(
            base.data, replace(columns or base.columns, **names), reading, base.name, base.findings, base.weights
        )

    @classmethod
    def of_file(
        cls,
        path: str,
        columns: Columns | None = None,
        *,
        format: str | None = None,
        values: EventValues | None = None,
        progress: Progress = lambda _: None,
        **options: Unpack[LogOptions],
    ) -> LogSource:
        """Return the source of a file; a public dataset is recognised by its content and has columns of its own."""
        format = format or ("ubi" if is_search_server(path) else recognised(path))
        if format in EVENT_FORMATS:
            events = load_events(path, format, values, progress)
            reading = cls.of(events.rows, **options).reading
            return cls(events.rows, events.columns, reading, _name(path), events.findings, events.weights)
        if values is not None:
            raise InvalidInput("weights are of events, with --format ubi or ga4; name a column of values instead")
        if format is None:
            return cls.of(path, columns, **options)
        table, own_columns = load(path, format)
        return replace(cls.of(table, **options), columns=own_columns, name=_name(path))

    @contextlib.contextmanager
    def open(self) -> Iterator[tuple[ir.Table, ir.Table | None]]:
        """Yield the log as an ibis table, and the table of its clicks if they have one of their own."""
        with read_with_clicks(self.data, **self.reading) as tables:
            yield tables

    def has_column(self, name: str) -> bool:
        """Return whether the log has a column of this name, or a field of a column."""
        reading: Any = {option: value for option, value in self.reading.items() if option != "clicks"}
        with read(self.data, **reading) as table:
            return has_column(table, name)

    def reject_partial_files(self, strata: Strata | None) -> None:
        """Raise if only some of several files have a column that is needed."""
        if is_files(self.data):
            needed = [getattr(self.columns, each.name) for each in fields(self.columns)]
            needed += [] if strata is None else [*strata.segment, strata.time]
            refuse_partial(os.fspath(self.data), [name.partition(".")[0] for name in needed if name is not None])


def _name(source: object) -> str:
    """Return the last part of a path or an address, without passwords."""
    if not isinstance(source, str | os.PathLike):
        return LogSource.name
    return without_password(os.fspath(source)).rstrip("/").rsplit("/", 1)[-1]


def _reject_unknown(options: dict[str, Any]) -> None:
    valid = [*(each.name for each in fields(Columns)), *ReadOptions.__annotations__]
    for name in options:
        if name not in valid:
            near = difflib.get_close_matches(name, valid, n=1)
            raise TypeError(f"there is no option {name!r} for a log" + (f"; is it {near[0]!r}?" if near else ""))
