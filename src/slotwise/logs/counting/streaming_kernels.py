"""Runs of rows of one impression, looked at and counted one after the other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from slotwise.core.types import BoolArray, FloatArray
from slotwise.jit import inlined, jit

#: of any width
Integers = npt.NDArray[np.signedinteger[Any]]

#: the number of an item that is not known
UNKNOWN = -1


@jit
def fill_table(hashes: Integers, table: Integers) -> bool:
    """Put every hash and its place among `hashes` into an open-addressed table; False if two hashes are the same.

    A row of the table is a hash and its place, or UNKNOWN; there are a power of two of them.
    """
    mask = len(table) - 1
    for place in range(len(hashes)):
        at = hashes[place] & mask
        while table[at, 1] != UNKNOWN:
            if table[at, 0] == hashes[place]:
                return False
            at = (at + 1) & mask
        table[at, 0] = hashes[place]
        table[at, 1] = place
    return True


@jit
def look_up(hashes: Integers, table: Integers, places: Integers) -> None:
    """The place of every hash, or UNKNOWN."""
    mask = len(table) - 1
    for row in range(len(hashes)):
        at = hashes[row] & mask
        while table[at, 1] != UNKNOWN and table[at, 0] != hashes[row]:
            at = (at + 1) & mask
        places[row] = table[at, 1]


@jit
def end_of_first(keys: Integers) -> int:
    """Where the first run ends."""
    return _end(keys, 0)


@jit
def start_of_last(keys: Integers) -> int:
    """Where the last run starts."""
    start = len(keys) - 1
    while start > 0 and keys[start - 1] == keys[-1]:
        start -= 1
    return start


@inlined
def _end(keys: Integers, start: int) -> int:
    end = start + 1
    while end < len(keys) and keys[end] == keys[start]:
        end += 1
    return end


@inlined
def _is_among(wanted: int, numbers: Integers) -> bool:
    """Whether it is one of some numbers in order."""
    if len(numbers) == 0:
        return False
    at = np.searchsorted(numbers, wanted)
    return bool(at < len(numbers) and numbers[at] == wanted)


@jit
def count_runs(
    keys: Integers,
    marks: Integers,
    pairs: Integers,
    left_out: Integers,
    group: Integers,
    slots: int,
    seen_slots: Integers,
    cells: Integers,
    clicks: Integers,
    pages: Integers,
    starts: Integers,
    regular: BoolArray,
) -> int:
    """Count the regular runs, and return where each run starts and whether it was counted.

    A row has the key of its impression, a mark (twice its slot, and one more if it was clicked; negative if it has no
    slot or no item), and the number of its pair of placement and item. A run is odd if a slot or an item is in it
    twice, if it has more than one click, or if its key is among those `left_out`.

    The first of a pair's cells and of `seen_slots` hold the stamp of the run that they were last seen in, so that
    nothing has to be wiped between runs. The other cells count impressions without a click,
    by slot, then those with one.
    """
    runs, start = 0, 0
    while start < len(keys):
        end = _end(keys, start)
        stamp = seen_slots[0] + 1
        seen_slots[0] = stamp
        sound, hits, last = not _is_among(keys[start], left_out), 0, 0
        for row in range(start, end):
            pair, slot = pairs[row], marks[row] >> 1
            if pair == UNKNOWN or slot < 1 or slot > slots or cells[pair, 0] == stamp or seen_slots[slot] == stamp:
                sound = False
                break
            cells[pair, 0] = stamp
            seen_slots[slot] = stamp
            hits += marks[row] & 1
            last = max(last, slot)
        starts[runs], regular[runs] = start, sound and hits <= 1
        if regular[runs]:
            offset = slots if hits else 0
            for row in range(start, end):
                slot = marks[row] >> 1
                cells[pairs[row], offset + slot] += 1
                if marks[row] & 1:
                    clicks[pairs[row], slot - 1] += 1
            mine = group[pairs[start]]
            pages[mine, 0] += 1
            pages[mine, 1] += hits
            pages[mine, 2] += last > end - start
        runs += 1
        start = end
    return runs


@jit
def add_log_sums(
    keys: Integers,
    marks: Integers,
    pairs: Integers,
    left_out: Integers,
    group: Integers,
    attractiveness: FloatArray,
    position_bias: FloatArray,
    sums: FloatArray,
) -> None:
    """Add log(1 + Σλα) of every run whose key is not among those `left_out`, to the sum of its group."""
    start = 0
    while start < len(keys):
        end = _end(keys, start)
        if not _is_among(keys[start], left_out):
            total, mine = 1.0, group[pairs[start]]
            for row in range(start, end):
                total += position_bias[mine, (marks[row] >> 1) - 1] * attractiveness[pairs[row]]
            sums[mine] += math.log(total)
        start = end
