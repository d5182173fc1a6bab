"""Which slots the impressions of a log fill, and lists in these slots alone.

A log may have short lists, or a row per slot without the page that it belongs to. A list that fills every slot gets
more clicks than such impressions do, even with the same items. It is therefore compared in the slots that they fill.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from slotwise.core.rankings import Rankings
from slotwise.core.types import EMPTY, BoolArray, FloatArray, IntArray
from slotwise.logs.counting.log_tallies import LogTally


class FilledSlots(NamedTuple):
    """The distinct sets of slots that impressions fill, sets × slots, and the share of the impressions of each."""

    sets: BoolArray
    shares: FloatArray

    @classmethod
    def of(cls, tally: LogTally, rankings: Rankings | None) -> FilledSlots:
        """From whole lists where impressions differ; where none were kept, from how often each slot was filled."""
        times = tally.showings.sum(axis=1)
        if (times[times > 0] == tally.counted).all():
            return cls((times > 0)[None, :], np.ones(1))
        if rankings is not None and rankings.rounds:
            filled = rankings.shown != EMPTY
            _, first, place = np.unique(np.packbits(filled, axis=1), axis=0, return_index=True, return_inverse=True)
            return cls(filled[first], np.bincount(place.ravel(), weights=rankings.times) / rankings.rounds)
        if times.sum() == tally.counted:
            return cls(np.eye(len(times), dtype=bool)[times > 0], times[times > 0] / tally.counted)
        # a slot is empty only where those that are filled less often are
        counts = np.unique(times[times > 0])[::-1]
        return cls(times >= counts[:, None], -np.diff(counts, append=0) / counts[0])

    @property
    def mean(self) -> float:
        """The mean number of slots that an impression fills."""
        return float(self.shares @ self.sets.sum(axis=1))

    @property
    def is_partial(self) -> bool:
        """Whether impressions fill different slots."""
        return len(self.shares) > 1

    def contain(self, lists: IntArray) -> bool:
        """Whether for each list some impressions fill all of its slots."""
        sets = np.unique(lists != EMPTY, axis=0)
        return all((self.sets | ~slots).all(axis=1).any() for slots in sets)

    def in_words(self) -> str:
        """The mean number of slots, of how many: 1 of 3 slots on average."""
        return f"{self.mean:.3g} of {int(self.sets.any(axis=0).sum())} slots on average"

    def fill(self, lists: IntArray, chances: FloatArray) -> tuple[IntArray, FloatArray] | None:
        """Return a mixture of lists in the slots that impressions fill, as often as they do.

        A set of slots takes the lists that fill exactly these; if there are none, lists that fill more, without the
        rest. The result is None if no list fills some set.

        >>> log = FilledSlots(np.array([[True, False], [True, True]]), np.array([0.25, 0.75]))
        >>> log.mean, log.in_words()
        (1.75, '1.75 of 2 slots on average')
        >>> log.fill(np.array([[7, 3]]), np.ones(1))
        (array([[ 7, -2],
               [ 7,  3]]), array([0.25, 0.75]))
        >>> log.fill(np.array([[7, EMPTY]]), np.ones(1)) is None
        True
        """
        filled, parts, shares = lists != EMPTY, [], []
        for slots, share in zip(self.sets, self.shares, strict=True):
            suits = (filled == slots).all(axis=1)
            if not suits.any():
                suits = (filled | ~slots).all(axis=1)
            if not suits.any():
                return None
            parts.append(np.where(slots, lists[suits], EMPTY))
            shares.append(share * chances[suits] / chances[suits].sum())
        return np.concatenate(parts), np.concatenate(shares)
