"""Ids that look alike: they differ by case, by blanks, or by the way a number is written."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slotwise.core.types import IntArray
from slotwise.logs.reading.value_parsing import NOTHING_WORDS

#: blanks in a row, and a whole number with zeros before it or behind its point: what they stand for
_SPELLINGS = ((r"\s+", " "), (r"^\+?0*([0-9]+)(\.0*)?$", r"\1"))


def similar_ids(ids: Sequence[str]) -> list[IntArray]:
    """Return the places of ids that look alike, group by group.

    >>> [group.tolist() for group in similar_ids(["001", "1", "1.0", "2", "Tea", " tea"])]
    [[0, 1, 2], [4, 5]]
    """
    coded = _plain(ids).dictionary_encode()
    codes = coded.indices.to_numpy()
    counts = np.bincount(codes, minlength=len(coded.dictionary))
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(counts)
    return [order[ends[code] - counts[code] : ends[code]] for code in np.flatnonzero(counts > 1)]


def ids_named_nothing(ids: Sequence[str]) -> IntArray:
    """Return the places of ids that are a word for nothing.

    >>> ids_named_nothing(["NaN", "nancy", "-"]).tolist()
    [0, 2]
    """
    return np.flatnonzero(pc.is_in(_plain(ids), value_set=pa.array(NOTHING_WORDS)).to_numpy(zero_copy_only=False))


def _plain(ids: Sequence[str]) -> pa.Array:
    plain = pc.utf8_trim_whitespace(pc.utf8_lower(pa.array(ids, pa.string())))
    for spelling, meaning in _SPELLINGS:
        plain = pc.replace_substring_regex(plain, spelling, meaning)
    return plain
