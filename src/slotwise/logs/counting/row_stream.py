"""The rows of a log one after the other, as numbers: the impression of each, its slot and click, and its item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa

from slotwise.logs.counting.streaming_kernels import UNKNOWN, Integers, end_of_first, fill_table, look_up, start_of_last
from slotwise.logs.reading.sql_functions import duckdb_hash, duckdb_hash_of_two, duckdb_hash_with_number

#: rows that are looked at together
ROWS = 1 << 18
#: what the engine may have read ahead
AHEAD = "64MB"
KEY = "slotwise_key"


class Rows(NamedTuple):
    """Rows of whole impressions."""

    keys: Integers
    #: twice the slot, and one more if it was clicked; negative where there is no slot or no item
    marks: Integers
    #: the number of the pair of placement and item; UNKNOWN where there is no item
    pairs: Integers


@dataclass(frozen=True, eq=False)
class RowStream:
    """A log that can be read from its beginning any number of times."""

    usable: ir.Table
    #: the keys of a tally: nothing, or placement
    by: tuple[str, ...]
    #: a row for each pair of placement and item, the most frequent first
    pairs: pa.Table
    #: from hashes to rows of `pairs`, as `fill_table` fills it
    table: Integers
    #: whether every row has all that it should
    complete: bool

    @classmethod
    def of(cls, usable: ir.Table, by: tuple[str, ...], *, complete: bool) -> RowStream | None:
        """Number what there is; None if two pairs have the same hash."""
        rows = usable if complete else usable.filter(usable.item.notnull())
        counted = rows.group_by([*by, "item"]).aggregate(times=rows.count())
        # frequent pairs are then adjacent in the processor cache
        pairs = counted.order_by(counted.times.desc()).select(*by, "item", hash=_hash(counted, by)).to_pyarrow()
        hashes = _numbers(pairs["hash"].combine_chunks())
        table = np.full((1 << (2 * len(hashes)).bit_length(), 2), UNKNOWN, np.int64)
        if not fill_table(hashes, table):
            return None
        return cls(usable, by, pairs.drop_columns("hash"), table, complete)

    def with_key(self) -> ir.Table:
        """The log's own rows, with the number of their impression."""
        return self.usable.mutate(**{KEY: self._key})

    @property
    def _key(self) -> ir.Value:
        """A number of an impression: its id, if that is a number and all there is; else a hash of 64 bits.

        If two impressions had the same hash they would be taken for one in pieces, and if they followed each other, for
        one with everything twice. Either way both are looked at row by row.
        """
        impression, kind = self.usable.impression, self.usable.impression.type()
        if kind.is_unsigned_integer() or not kind.is_integer():
            text = impression.cast("string")
            hashed = duckdb_hash_of_two(self.usable.placement, text) if self.by else duckdb_hash(text)
        elif self.by:
            hashed = duckdb_hash_with_number(self.usable.placement, impression)
        else:
            return impression.cast("int64")
        return (hashed >> 1).cast("int64")

    def read(self) -> Iterator[Rows]:
        """All rows in the order in which they stand in the log, those that follow one another never parted."""
        rows = self.usable
        mark = rows.slot.cast("int16") * 2 + rows.clicked.cast("int16")
        if not self.complete:
            mark = ibis.ifelse(rows.slot.notnull() & rows.item.notnull(), mark, -1).fill_null(-1)
        wanted = rows.select(key=self._key, mark=mark.cast("int16"), hash=_hash(rows, self.by))
        return _never_parted(self._numbered(_in_order(wanted)))

    def _numbered(self, batches: Iterable[list[Integers]]) -> Iterator[Rows]:
        pairs = np.empty(ROWS, np.int32)
        for keys, marks, hashes in batches:
            if len(pairs) < len(hashes):
                pairs = np.empty(len(hashes), np.int32)
            mine = pairs[: len(hashes)]
            look_up(hashes, self.table, mine)
            yield Rows(keys, marks, mine)


def _hash(rows: ir.Table, by: tuple[str, ...]) -> ir.Value:
    return duckdb_hash_of_two(rows.placement, rows.item) if by else duckdb_hash(rows.item)


def _in_order(wanted: ir.Table) -> Iterator[list[Integers]]:
    connection: Any = wanted.get_backend()
    with _settings(connection.con, preserve_insertion_order="true", streaming_buffer_size=AHEAD):
        for batch in connection._to_duckdb_relation(wanted).to_arrow_reader(ROWS):
            if batch.num_rows:
                yield [_numbers(column) for column in batch.columns]


def _never_parted(parts: Iterable[Rows]) -> Iterator[Rows]:
    """The same rows, those of one key that follow one another always in one part."""
    held: list[Rows] = []
    for part in parts:
        first, last = (end_of_first(part.keys), start_of_last(part.keys))
        if held and held[0].keys[0] == part.keys[0]:
            # a copy, as the next batch may reuse the buffer
            held.append(_copy(part, 0, first))
            if first == len(part.keys):
                continue
        else:
            first = 0
        if held:
            yield Rows(*(np.concatenate(columns) for columns in zip(*held, strict=True)))
        if first < last:
            yield Rows(*(column[first:last] for column in part))
        held = [_copy(part, last, len(part.keys))]
    if held:
        yield Rows(*(np.concatenate(columns) for columns in zip(*held, strict=True)))


def _copy(part: Rows, start: int, end: int) -> Rows:
    return Rows(*(column[start:end].copy() for column in part))


def _numbers(column: pa.Array) -> Integers:
    numbers: Integers = column.to_numpy(zero_copy_only=False)
    return numbers.view(np.int64) if numbers.dtype == np.uint64 else numbers


@contextmanager
def _settings(connection: Any, **wanted: str) -> Iterator[None]:
    """With these settings of DuckDB, and with those of before afterwards."""
    before = {name: connection.execute(f"SELECT current_setting('{name}')").fetchone()[0] for name in wanted}
    try:
        for name, value in wanted.items():
            connection.execute(f"SET {name} = '{value}'")
        yield
    finally:
        for name, value in before.items():
            connection.execute(f"SET {name} = '{value}'")
