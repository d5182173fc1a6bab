"""Several placements as one: every item of every placement is a cell, and one likelihood has them all.

Where whole lists are known, it is the joint likelihood of `slotwise.estimators.likelihoods.joint_likelihood`; where
there is only a tally, that
of scaling. Either has Gamma priors of the cells, and slots that all placements share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from slotwise.core.rankings import Rankings
from slotwise.core.tally import Tally
from slotwise.core.types import EMPTY, FloatArray, IntArray
from slotwise.estimators.likelihoods.joint_likelihood import Joint
from slotwise.estimators.likelihoods.tally_map import Penalised
from slotwise.estimators.pooled.exposure_prior import Shown
from slotwise.estimators.uncertainty.standard_errors import Counts, tally_of

#: the likelihood of cells with priors, from lists or from a tally
Likelihood = Joint | Penalised


class Lists(NamedTuple):
    """The lists of all placements, of cells: a row each, its clicks, its passes, and where each placement's end."""

    shown: IntArray
    clicks: FloatArray
    passes: FloatArray
    ends: IntArray

    @property
    def times(self) -> FloatArray:
        """How often each was shown."""
        return np.asarray(self.clicks.sum(axis=1) + self.passes[:, 0])


@dataclass(frozen=True, eq=False)
class Cells:
    """Placements side by side: the cells of each follow those of the one before."""

    seen: tuple[Counts, ...]
    #: where each placement's cells begin, and where the last one's end
    ends: IntArray
    #: per cell: its placement, and its item among those of all placements
    placement: IntArray
    item: IntArray
    #: slots × cells
    clicks: FloatArray
    passes: FloatArray
    #: None if only tallies are known
    lists: Lists | None

    @classmethod
    def of(cls, seen: Sequence[Counts], items: Sequence[IntArray] | None = None) -> Cells:
        """Return the cells of placements, all with tallies or all with rankings; `items` number items across them.

        >>> tally = Tally(np.array([[1, 2]]), np.array([[3, 4]]))
        >>> cells = Cells.of([tally, tally], [np.array([0, 1]), np.array([1, 2])])
        >>> cells.item.tolist(), cells.placement.tolist(), cells.slots
        ([0, 1, 1, 2], [0, 0, 1, 1], 1)
        """
        sizes = np.array([counts.items for counts in seen])
        ends = np.concatenate([[0], np.cumsum(sizes)])
        slots = max(counts.slots for counts in seen)
        clicks, passes = np.zeros((slots, ends[-1])), np.zeros((slots, ends[-1]))
        lists = _side_by_side(seen, ends, slots)
        if lists is None:
            for tally, first, last in zip(map(tally_of, seen), ends, ends[1:], strict=False):
                clicks[: tally.slots, first:last] = tally.clicks
                passes[: tally.slots, first:last] = tally.passes
            _half_a_pass(clicks, passes)
        else:
            clicks, passes = per_pair(lists, lists.clicks, ends[-1]), per_pair(lists, lists.passes, ends[-1])
        codes = np.arange(ends[-1]) if items is None else np.concatenate(items)
        return cls(tuple(seen), ends, np.repeat(np.arange(len(sizes)), sizes), codes, clicks, passes, lists)

    @property
    def slots(self) -> int:
        """The largest number of slots of a placement."""
        return len(self.clicks)

    @property
    def count(self) -> int:
        """The number of cells."""
        return int(self.ends[-1])

    def only(self, number: int) -> Cells:
        """Return the cells of one placement."""
        mine, counts = self.of_placement(number), self.seen[number]
        size, lists = mine.stop - mine.start, self.lists
        if lists is not None:
            rows = slice(int(lists.ends[number]), int(lists.ends[number + 1]))
            shown = lists.shown[rows, : counts.slots]
            shown = np.where(shown == EMPTY, EMPTY, shown - mine.start)
            ends = np.array([0, len(shown)])
            lists = Lists(shown, lists.clicks[rows, : counts.slots], lists.passes[rows], ends)
        matrices = self.clicks[: counts.slots, mine], self.passes[: counts.slots, mine]
        return Cells((counts,), np.array([0, size]), np.zeros(size, np.int64), np.arange(size), *matrices, lists)

    def of_placement(self, number: int) -> slice:
        """The cells of a placement."""
        return slice(int(self.ends[number]), int(self.ends[number + 1]))

    @cached_property
    def tally(self) -> Tally:
        """The counts of all cells."""
        return Tally(_rounded(self.clicks), _rounded(self.passes))

    @cached_property
    def compared(self) -> Tally:
        """Clicks, and the counts that bound a cell from above: passes, or with lists all showings without a click."""
        if self.lists is None:
            return self.tally
        showings = per_pair(self.lists, self.lists.times[:, None], self.count)
        return Tally(_rounded(self.clicks), _rounded(showings - self.clicks))

    @cached_property
    def shown(self) -> Shown:
        """The slots and the frequency of each cell's impressions."""
        shown = (self.compared.clicks + self.compared.passes).astype(np.float64)
        impressions = np.add.reduceat(shown, self.ends[:-1], axis=1).max(axis=0)[self.placement]
        return Shown.of(shown, impressions)

    def likelihood(
        self,
        item_prior: tuple[FloatArray, FloatArray],
        slot_prior: tuple[FloatArray, FloatArray],
        *,
        free: bool = True,
    ) -> Likelihood:
        """Return the likelihood with Gamma priors, as shapes and rates; λ is held if it is not free."""
        if self.lists is None:
            return Penalised(self.clicks, self.passes, item_prior, slot_prior, free=free)
        by_cell, by_slot = self.clicks.sum(axis=0), self.clicks.sum(axis=1)
        return Joint(self.lists.shown, self.lists.times, by_cell, by_slot, *item_prior, *slot_prior, free)


def _rounded(counts: FloatArray) -> IntArray:
    """Return whole numbers: a count that decayed below a half, or half a pass that was added, compares nothing."""
    return np.asarray(np.rint(counts), np.int64)


def _half_a_pass(clicks: FloatArray, passes: FloatArray) -> None:
    """Add half a pass to cells that were clicked and never passed, in their most clicked slot: α stays finite."""
    never = np.flatnonzero((clicks.sum(axis=0) > 0) & (passes.sum(axis=0) == 0))
    passes[clicks[:, never].argmax(axis=0), never] = 0.5


def _side_by_side(seen: Sequence[Counts], ends: IntArray, slots: int) -> Lists | None:
    lists = [counts for counts in seen if isinstance(counts, Rankings)]
    if len(lists) < len(seen):
        return None
    last = np.concatenate([[0], np.cumsum([len(part.shown) for part in lists])])
    shown, clicks = np.full((last[-1], slots), EMPTY), np.zeros((last[-1], slots))
    for number, part in enumerate(lists):
        rows = slice(last[number], last[number + 1])
        shown[rows, : part.slots] = np.where(part.shown == EMPTY, EMPTY, part.shown + ends[number])
        clicks[rows, : part.slots] = part.clicks
    passes = np.concatenate([part.passes for part in lists]).astype(np.float64)
    return Lists(shown, clicks, passes[:, None], last)


def per_pair(lists: Lists, counts: FloatArray, cells: int) -> FloatArray:
    """Slots × cells: counts per list and slot, or per list, added up."""
    wide = np.broadcast_to(counts, lists.shown.shape)
    # more places, in front, for empty slots
    columns = zip(lists.shown.T, wide.T, strict=True)
    return np.array([np.bincount(shown - EMPTY, count, cells - EMPTY)[-EMPTY:] for shown, count in columns])
