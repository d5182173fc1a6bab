"""The rows of a log that was counted as it was read, kept in few bytes, so that it need not be read again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from slotwise.core.types import BoolArray
from slotwise.logs.counting.row_stream import Rows
from slotwise.logs.counting.streaming_kernels import Integers

#: bytes that may be kept; a longer log is read once more
MAX_BYTES = 1_000_000_000
#: the key of an impression that was not counted
LEFT_OUT = np.array([-1])


@dataclass(eq=False)
class KeptRows:
    """Rows of whole impressions: slots, clicks and pairs, three bytes each where there are few of them."""

    slots: int
    pairs: int
    #: whether any are to be kept
    wanted: bool
    bytes: int = 0
    #: a part after the other: where impressions start, whether they were counted, marks and pairs
    parts: list[tuple[Integers, BoolArray, Integers, Integers]] = field(default_factory=list)

    @property
    def all_there(self) -> bool:
        """Whether none was passed over."""
        return self.wanted and self.bytes <= MAX_BYTES

    def add(self, starts: Integers, regular: BoolArray, rows: Rows) -> None:
        """Keep these rows, as long as there is room for all."""
        if not self.all_there:
            self.parts.clear()
            return
        marks, pairs = _narrow(rows.marks, 2 * self.slots + 1), _narrow(rows.pairs, self.pairs)
        part = starts.copy(), regular.copy(), marks, pairs
        self.bytes += sum(column.nbytes for column in part)
        self.parts.append(part)

    def read(self) -> Iterator[Rows]:
        """The same rows; impressions are numbered within a part, and have the key `LEFT_OUT` if they do not count."""
        for starts, regular, marks, pairs in self.parts:
            lengths = np.diff(starts, append=len(marks))
            keys = np.repeat(np.where(regular, np.arange(len(starts)), LEFT_OUT), lengths)
            yield Rows(keys, marks.astype(np.int16), pairs.astype(np.int32))


def _narrow(numbers: Integers, most: int) -> Integers:
    """A copy, in as few bytes as numbers from -1 up to this take."""
    kinds: tuple[Any, ...] = (np.int8, np.int16, np.int32)
    kind = next(kind for kind in kinds if most <= np.iinfo(kind).max)
    return numbers.astype(kind)
