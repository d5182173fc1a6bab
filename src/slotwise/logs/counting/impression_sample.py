"""A sample of impressions, drawn by their keys while a log goes by."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from slotwise.core.types import BoolArray
from slotwise.logs.counting.row_stream import Rows
from slotwise.logs.counting.streaming_kernels import Integers

#: safety factor: the number of drawn impressions exceeds the limit with high probability
SURELY = 1.5


@dataclass(eq=False)
class Sample:
    """The impressions with the smallest lots: of `wanted` to twice as many, or all if there are fewer.

    A lot is a number from 0 to 1 that follows from an impression's key, so that the same log gives the same sample.
    """

    wanted: float
    #: how many impressions are to be expected, at least
    expected: int = 0
    share: float = field(init=False)
    #: how many there are so far
    count: int = 0
    #: per impression: its lot, and how many rows it has
    lots: list[np.ndarray] = field(default_factory=list)
    lengths: list[Integers] = field(default_factory=list)
    #: per row: the pair of placement and item, and the mark
    pairs: list[Integers] = field(default_factory=list)
    marks: list[Integers] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin with every impression, or with the share that suffices for this many rows."""
        self.share = 1.0 if self.wanted else 0.0
        while self.wanted and self.share / 2.0 * self.expected > SURELY * 2.0 * self.wanted:
            self.share /= 2.0

    def add(self, keys: Integers, starts: Integers, regular: BoolArray, rows: Rows) -> None:
        """Consider impressions that start at these of the rows; only regular ones are drawn."""
        if not self.wanted:
            return
        lots = lots_of(keys)
        lengths = np.diff(np.append(starts, len(rows.keys)))
        drawn = np.flatnonzero(regular & (lots < self.share))
        of_drawn = _all_of(starts[drawn], lengths[drawn])
        self._append(lots[drawn], lengths[drawn], rows.pairs[of_drawn], rows.marks[of_drawn])
        while self.count > 2 * self.wanted:
            self.thin(self.share / 2.0)

    def _append(self, lots: np.ndarray, lengths: Integers, pairs: Integers, marks: Integers) -> None:
        self.lots.append(lots)
        self.lengths.append(lengths)
        self.pairs.append(pairs)
        self.marks.append(marks)
        self.count += len(lots)

    def thin(self, share: float) -> None:
        """Keep only impressions with a lot below this."""
        lots, lengths, pairs, marks = self.whole()
        is_sampled = lots < share
        rows = np.repeat(is_sampled, lengths)
        self.share, self.count = share, 0
        for column in (self.lots, self.lengths, self.pairs, self.marks):
            column.clear()
        self._append(lots[is_sampled], lengths[is_sampled], pairs[rows], marks[rows])

    def whole(self) -> tuple[np.ndarray, Integers, Integers, Integers]:
        """Lots, lengths, pairs and marks."""
        lots, lengths, pairs, marks = (
            np.concatenate(column) if column else np.zeros(0, np.int64)
            for column in (self.lots, self.lengths, self.pairs, self.marks)
        )
        return lots, lengths, pairs, marks


def _all_of(starts: Integers, lengths: Integers) -> Integers:
    """Return the places of all rows of runs with these starts and lengths.

    >>> _all_of(np.array([0, 7]), np.array([3, 2])).tolist()
    [0, 1, 2, 7, 8]
    """
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())


def lots_of(keys: Integers) -> np.ndarray:
    """A number from 0 to 1 for each key, as if at random (the finaliser of splitmix64).

    >>> lots_of(np.arange(10_000)).mean().round(2), lots_of(np.arange(0, 80_000, 8)).mean().round(2)
    (np.float64(0.5), np.float64(0.5))
    """
    mixed = keys.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((mixed ^ (mixed >> np.uint64(31))) / 2.0**64)
