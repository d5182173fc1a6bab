"""The tally: counts of clicks and passes by slot and item, which simulators fill and estimators read."""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from slotwise.core import validation
from slotwise.core.errors import InvalidInput, UnreadableFile
from slotwise.core.io import replacing
from slotwise.core.types import EMPTY, NO_CLICK, BoolArray, FloatArray, IntArray, Ranking
from slotwise.jit import inlined

FORMAT = "slotwise tally 1"


@dataclass(eq=False)
class Tally:
    """Two slots × items count matrices.

    A click on a slot is γ times as likely as no click at all, under every policy: `clicks - γ·passes` has mean zero.
    Tallies of different rounds add up with `+`.

    A round with several clicks is a sequence of choices, each from what is left: every click counts, and the items
    without a click are passed in the end. If more than half of the list was clicked, each item was judged by itself:
    clicked items are then passed as well, so that clicks over passes is a click rate.

    Parameters
    ----------
    clicks
        Slots × items, the paper's N: clicks on item j while it was in slot k.
    passes
        Slots × items, the paper's Ñ: rounds without a click while item j was in slot k, and the passes of rounds with
        several clicks.

    Examples
    --------
    >>> tally = Tally.empty(slots=2, items=3)
    >>> tally.count([2, 0], clicked=1)      # item 2 in slot 0, item 0 in slot 1, a click on slot 1
    >>> tally.count([2, 0], clicked=NO_CLICK)
    >>> tally.clicks.tolist(), tally.passes.tolist()
    ([[0, 0, 0], [1, 0, 0]], [[0, 0, 1], [1, 0, 0]])
    >>> (tally + tally).rounds
    4
    """

    clicks: IntArray
    passes: IntArray

    def __post_init__(self) -> None:
        for name in ("clicks", "passes"):
            setattr(self, name, self._checked(name, getattr(self, name)))
        if self.clicks.shape != self.passes.shape:
            raise InvalidInput(f"clicks is {self.clicks.shape}, but passes is {self.passes.shape}")

    @staticmethod
    def _checked(name: str, values: object) -> IntArray | FloatArray:
        return validation.counts(name, values)

    @classmethod
    def empty(cls, slots: int, items: int) -> Tally:
        """Return a tally of no rounds.

        Parameters
        ----------
        slots, items
            K and J.
        """
        shape = (
            validation.whole_number("slots", slots, at_least=1),
            validation.whole_number("items", items, at_least=1),
        )
        return cls(np.zeros(shape, np.int64), np.zeros(shape, np.int64))

    @classmethod
    def of_rounds(cls, rankings: IntArray, clicked: IntArray, *, items: int) -> Tally:
        """Return the tally of many rounds.

        Parameters
        ----------
        rankings
            Rounds × slots, item numbers.
        clicked
            Per round the clicked slot, from 0, or NO_CLICK.
        items
            J.

        Examples
        --------
        >>> Tally.of_rounds(np.array([[2, 0], [2, 0]]), np.array([1, NO_CLICK]), items=3).passes.tolist()
        [[0, 0, 1], [1, 0, 0]]
        """
        tally = cls.empty(rankings.shape[1], items)
        hit = clicked != NO_CLICK
        np.add.at(tally.clicks, (clicked[hit], rankings[hit, clicked[hit]]), 1)
        passed = rankings[~hit]
        round, slot = np.nonzero(passed != EMPTY)
        np.add.at(tally.passes, (slot, passed[round, slot]), 1)
        return tally

    @property
    def slots(self) -> int:
        """K."""
        return int(self.clicks.shape[0])

    @property
    def items(self) -> int:
        """J."""
        return int(self.clicks.shape[1])

    @property
    def rounds(self) -> int:
        """The number of rounds: a click is one, and a round without a click passes every filled slot once.

        It is a lower bound if slots were left empty, and an upper bound if rounds had several clicks.
        """
        return int(self.clicks.sum() + self.passes.sum(axis=1).max())

    def count(self, ranking: ArrayLike, clicked: int | Sequence[int]) -> None:
        """Add one round, in place.

        Parameters
        ----------
        ranking
            An item per slot; slots that hold EMPTY are not counted.
        clicked
            The clicked slot, from 0, or NO_CLICK; or all clicked slots.

        Examples
        --------
        >>> tally = Tally.empty(slots=5, items=5)
        >>> tally.count([0, 1, 2, 3, 4], clicked=[0, 2])
        >>> tally.clicks.sum(axis=0).tolist(), tally.passes.sum(axis=0).tolist()
        ([1, 0, 1, 0, 0], [0, 1, 0, 1, 1])
        """
        shown = validation.ranking_of(ranking, slots=self.slots, items=self.items, may_be_empty=True)
        slots = [clicked] if isinstance(clicked, int | np.integer) else list(dict.fromkeys(clicked))
        for slot in slots:
            if not NO_CLICK <= slot < self.slots or (slot == NO_CLICK and len(slots) > 1):
                raise InvalidInput(f"clicked must be a slot from 0 to {self.slots - 1} or {NO_CLICK}, got {slot!r}")
            if slot != NO_CLICK and shown[slot] == EMPTY:
                raise InvalidInput(f"clicked is slot {slot!r}, which is empty in {shown.tolist()}")
        if len(slots) <= 1:
            _count_round(self.clicks, self.passes, shown, slots[0] if slots else NO_CLICK, True)
            return
        self.clicks[slots, shown[slots]] += 1
        filled = np.flatnonzero(shown != EMPTY)
        passed = filled if clicked_most(len(slots), len(filled)) else np.setdiff1d(filled, slots)
        self.passes[passed, shown[passed]] += 1

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.clicks.shape != other.clicks.shape:
            raise InvalidInput(f"tallies of {self.clicks.shape} and {other.clicks.shape} slots × items cannot be added")
        return Tally(self.clicks + other.clicks, self.passes + other.passes)

    def __radd__(self, other: object) -> Tally:
        # the start of sum(); a copy, as tallies are counted in place
        return self[:] if other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        return np.array_equal(self.clicks, other.clicks) and np.array_equal(self.passes, other.passes)

    __hash__ = None  # type: ignore[assignment]  # counted in place

    def __getitem__(self, items: int | slice | Sequence[int] | IntArray | BoolArray) -> Tally:
        """Return the tally of a selection of items: a list, a slice or a mask.

        >>> Tally(np.array([[1, 2, 3]]), np.array([[4, 5, 6]]))[[2, 0]].clicks.tolist()
        [[3, 1]]
        """
        chosen: Any = [items] if isinstance(items, int | np.integer) else items
        try:
            return Tally(self.clicks[:, chosen].copy(), self.passes[:, chosen].copy())
        except IndexError as problem:
            raise InvalidInput(f"items {items!r} are not among the {self.items} of this tally") from problem

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tally to a file; an existing file survives a failure.

        Parameters
        ----------
        path
            The path of the file, in NumPy's npz format.
        """
        with replacing(path) as file:
            np.savez_compressed(file, format=np.array(FORMAT), clicks=self.clicks, passes=self.passes)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tally:
        """Read a file of `save`.

        Parameters
        ----------
        path
            The path of a file of `save`.

        Raises
        ------
        UnreadableFile
            If the file is missing, damaged, or not one of `save`.
        """
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
                if str(stored["format"]) != FORMAT:
                    raise UnreadableFile(f"{os.fspath(path)} holds {str(stored['format'])!r}, not {FORMAT!r}")
                return cls(stored["clicks"], stored["passes"])
        except FileNotFoundError:
            raise UnreadableFile(f"there is no file {os.fspath(path)}") from None
        except (OSError, ValueError, KeyError, EOFError, TypeError, AttributeError, zipfile.BadZipFile) as problem:
            if isinstance(problem, UnreadableFile):
                raise
            raise UnreadableFile(f"{os.fspath(path)} is damaged or not a tally ({problem})") from problem


class WeightedTally(Tally):
    """A tally of decayed counts: each count may weigh less than 1.

    >>> WeightedTally([[0.5, 2.0]], [[1.25, 0.0]]).passes.tolist()
    [[1.25, 0.0]]
    """

    @staticmethod
    def _checked(name: str, values: object) -> IntArray | FloatArray:
        return validation.weighted_counts(name, values)

    @property
    def rounds(self) -> int:
        """The weight of all rounds, rounded up."""
        return math.ceil(float(self.clicks.sum() + self.passes.sum(axis=1).max()))

    @classmethod
    def weighted_sum(
        cls, parts: Sequence[Tally], places: Sequence[IntArray], weights: Sequence[float], items: int
    ) -> WeightedTally:
        """Add tallies of different slots and items up, each with its weight.

        Parameters
        ----------
        parts
            The tallies.
        places
            The place of each part's items among all `items`.
        weights
            The weight of each part's counts.
        items
            J of the sum.

        Examples
        --------
        >>> half, full = Tally([[3, 1]], [[4, 4]]), Tally([[2]], [[2]])
        >>> WeightedTally.weighted_sum([half, full], [np.array([0, 1]), np.array([1])], [0.5, 1.0], 2).clicks.tolist()
        [[1.5, 2.5]]
        """
        total = np.zeros((2, max(part.slots for part in parts), items))
        for part, place, weight in zip(parts, places, weights, strict=True):
            total[0, : part.slots, place] += weight * part.clicks.T
            total[1, : part.slots, place] += weight * part.passes.T
        return cls(total[0], total[1])


def _count_round(clicks: IntArray, passes: IntArray, ranking: Ranking, clicked: int, may_be_empty: bool) -> None:
    """Add one round to a tally's matrices; with a constant `may_be_empty` the compiler drops the test."""
    if clicked == NO_CLICK:
        for slot in range(len(ranking)):
            if not (may_be_empty and ranking[slot] == EMPTY):
                passes[slot, ranking[slot]] += 1
    else:
        clicks[clicked, ranking[clicked]] += 1


#: `_count_round` for compiled code
count_round = inlined(_count_round)


def clicked_most(clicked: int, shown: int) -> bool:
    """Return whether a visitor clicked more than half of the items shown, so that each was judged by itself.

    Parameters
    ----------
    clicked, shown
        Numbers of items.
    """
    return 2 * clicked > shown


#: `clicked_most` for compiled code
is_most = inlined(clicked_most)


@inlined
def count_epoch(clicks: FloatArray, passes: FloatArray, ranking: Ranking, epoch_clicks: IntArray) -> None:
    """Add one epoch to a tally's matrices: its clicks per slot, then one pass of every item."""
    for slot in range(len(ranking)):
        if ranking[slot] != EMPTY:
            clicks[slot, ranking[slot]] += epoch_clicks[slot]
            passes[slot, ranking[slot]] += 1.0


@inlined
def add_counts(clicks: FloatArray, passes: FloatArray, more_clicks: FloatArray, more_passes: FloatArray) -> None:
    """Add a tally's matrices to others."""
    slots, items = clicks.shape
    for slot in range(slots):
        for item in range(items):
            clicks[slot, item] += more_clicks[slot, item]
            passes[slot, item] += more_passes[slot, item]


@inlined
def count_no_clicks(passes: FloatArray) -> float:
    """Return the number of rounds, or epochs, that ended without a click: each passes every filled slot once.

    It is a lower bound if slots were left empty.
    """
    slots, items = passes.shape
    largest = 0.0
    for slot in range(slots):
        count = 0.0
        for item in range(items):
            count += passes[slot, item]
        largest = max(largest, count)
    return largest
