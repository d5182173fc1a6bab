"""Counts by whole list: the statistic of the joint likelihood; it determines the tally."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from slotwise.core import validation
from slotwise.core.errors import InvalidInput, InvalidRanking
from slotwise.core.tally import Tally
from slotwise.core.types import EMPTY, NO_CLICK, BoolArray, IntArray

_LARGEST = int(np.iinfo(np.int64).max)
#: rounds to collect before they are merged: to sort them one by one would cost more than to count them
_MIN_WAITING = 1024


class Rankings:
    """The distinct rankings that were shown, with the clicks on each of their slots and the visits without a click.

    A tally has the item of each slot; rankings also have the items that were shown together. The joint likelihood and
    exact standard errors need that. Rankings of different rounds add up with `+`, like tallies.

    Parameters
    ----------
    shown
        Lists × slots: item numbers from 0, or EMPTY.
    clicks
        Lists × slots: the number of clicks on each slot of each list.
    passes
        For each list, the number of rounds without a click.
    items
        The number of items, at least 1.

    Raises
    ------
    InvalidInput
        If shapes differ, a count is negative, or an empty slot has clicks.

    Examples
    --------
    >>> seen = Rankings.empty(slots=2, items=3)
    >>> seen.count([2, 0], clicked=1)      # item 2 in slot 0, item 0 in slot 1, a click on slot 1
    >>> seen.count([2, 0], clicked=NO_CLICK)
    >>> seen.count([1, 2], clicked=NO_CLICK)
    >>> seen.shown.tolist(), seen.clicks.tolist(), seen.passes.tolist()
    ([[1, 2], [2, 0]], [[0, 0], [0, 1]], [1, 1])
    >>> (seen + seen).tally.clicks.tolist()
    [[0, 0, 0], [2, 0, 0]]
    """

    __hash__ = None  # type: ignore[assignment]  # counted in place

    def __init__(self, shown: ArrayLike, clicks: ArrayLike, passes: ArrayLike, *, items: int) -> None:

        self._items = validation.whole_number("items", items, at_least=1)
        lists = _lists("shown", shown, self._items)
        on_slots = np.zeros(lists.shape, np.int64) if lists.size == 0 else validation.counts("clicks", clicks)
        without = np.asarray(passes)
        if on_slots.shape != lists.shape:
            raise InvalidInput(f"shown is {lists.shape}, but clicks is {on_slots.shape}")
        if without.shape != lists.shape[:1] or (without.size and (without.dtype.kind not in "iu" or without.min() < 0)):
            raise InvalidInput(f"passes must be a count for each of the {len(lists)} rankings, got {passes!r}")
        if ((lists == EMPTY) & (on_slots > 0)).any():
            row, slot = np.argwhere((lists == EMPTY) & (on_slots > 0))[0]
            raise InvalidInput(f"clicks must be on items, got {on_slots[row, slot]} on the empty slot {slot}")
        self._shown, self._clicks, self._passes = _merged(lists, on_slots, without.astype(np.int64), self._items)
        self._waiting: list[tuple[IntArray, int]] = []

    @classmethod
    def empty(cls, slots: int, items: int) -> Rankings:
        """Return rankings of no rounds.

        Parameters
        ----------
        slots, items
            K and J.
        """
        slots = validation.whole_number("slots", slots, at_least=1)
        nothing = np.zeros((0, slots), np.int64)
        return cls(nothing, nothing, np.zeros(0, np.int64), items=items)

    @classmethod
    def of_rounds(cls, rankings: ArrayLike, clicked: ArrayLike, *, items: int) -> Rankings:
        """Return the counts of many rounds.

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
        >>> Rankings.of_rounds([[2, 0], [1, 2], [2, 0]], [1, NO_CLICK, NO_CLICK], items=3).passes.tolist()
        [1, 1]
        """
        lists = _lists("rankings", rankings, validation.whole_number("items", items, at_least=1))
        return cls.of_valid_rounds(lists, _clicked(clicked, lists), items=items)

    @classmethod
    def of_valid_rounds(cls, lists: IntArray, on: IntArray, *, items: int) -> Rankings:
        """Return the counts of rounds that need no checks, as those of a cleaned log.

        Parameters
        ----------
        lists, on, items
            The arguments of `of_rounds`, as arrays.
        """
        slots = lists.shape[1]
        first, place = _distinct(lists, items)
        hit = on != NO_CLICK
        cells = np.bincount(place[hit] * slots + on[hit], minlength=len(first) * slots)
        without = np.bincount(place[~hit], minlength=len(first))
        return cls._of_distinct(lists[first], cells.reshape(-1, slots), without, items)

    @classmethod
    def weighted_sum(
        cls, parts: Sequence[Rankings], places: Sequence[IntArray], weights: Sequence[float], items: int
    ) -> Rankings:
        """Return the lists of all parts with weighted counts; a list of several parts has a row for each.

        Parameters
        ----------
        parts
            The rankings.
        places
            The number of each part's items among all `items`.
        weights
            The weight of each part's counts.
        items
            J of the sum.

        Examples
        --------
        >>> seen = Rankings([[0, 1]], [[3, 1]], [4], items=2)
        >>> both = Rankings.weighted_sum([seen, seen], [np.array([0, 1]), np.array([2, 0])], [0.5, 1.0], 3)
        >>> both.shown.tolist(), both.clicks.tolist(), both.passes.tolist()
        ([[0, 1], [2, 0]], [[1.5, 0.5], [3.0, 1.0]], [2.0, 4.0])
        """
        slots = max(part.slots for part in parts)
        shown, clicks = [], []
        for part, place, weight in zip(parts, places, weights, strict=True):
            wider = [(0, 0), (0, slots - part.slots)]
            renumbered = np.where(part.shown == EMPTY, EMPTY, place[np.maximum(part.shown, 0)])
            shown.append(np.pad(renumbered, wider, constant_values=EMPTY))
            clicks.append(np.pad(weight * part.clicks, wider))
        passes = [weight * part.passes for part, weight in zip(parts, weights, strict=True)]
        decayed: Any = [np.concatenate(counts) for counts in (clicks, passes)]
        return cls._of_distinct(np.concatenate(shown), decayed[0], decayed[1], items)

    @classmethod
    def _of_distinct(cls, shown: IntArray, clicks: IntArray, passes: IntArray, items: int) -> Rankings:
        """Return rankings from rows that are checked, distinct and in order."""
        rankings = cls.__new__(cls)
        rankings._shown, rankings._clicks, rankings._passes = shown, clicks, passes
        rankings._items, rankings._waiting = items, []
        return rankings

    def some(self, used: BoolArray, clicks: IntArray, passes: IntArray) -> Rankings:
        """Return a selection of these rankings with other counts.

        Parameters
        ----------
        used
            Which rankings to select.
        clicks, passes
            The other counts, of all rankings.
        """
        return Rankings._of_distinct(self.shown[used], clicks[used], passes[used], self.items)

    def renumbered(self, shown: IntArray, items: int) -> Rankings:
        """Return these rankings with other numbers for their items, in the same order.

        Parameters
        ----------
        shown
            The rankings with the new numbers.
        items
            The new J.
        """
        return Rankings._of_distinct(shown, self.clicks, self.passes, items)

    @property
    def slots(self) -> int:
        """K."""
        return int(self._shown.shape[1])

    @property
    def items(self) -> int:
        """J."""
        return self._items

    @property
    def shown(self) -> IntArray:
        """The distinct rankings in lexicographic order, a row each; EMPTY for an empty slot."""
        self._merge()
        return self._shown

    @property
    def clicks(self) -> IntArray:
        """Rankings × slots: the clicks on each slot of each ranking."""
        self._merge()
        return self._clicks

    @property
    def passes(self) -> IntArray:
        """Per ranking, the rounds without a click."""
        self._merge()
        return self._passes

    @property
    def times(self) -> IntArray:
        """T, per ranking: the rounds that showed it."""
        times: IntArray = self.clicks.sum(axis=1) + self.passes
        return times

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return int(self.times.sum())

    @property
    def tally(self) -> Tally:
        """The clicks and passes per slot and item."""
        return Tally(self.clicks_by_pair, self._per_pair(self.passes[:, None]))

    @property
    def clicks_by_pair(self) -> IntArray:
        """Slots × items: the clicks."""
        # most slots of most rankings have none
        ranking, slot = np.nonzero(self.clicks)
        pair = slot * self.items + self.shown[ranking, slot]
        total = np.bincount(pair, weights=self.clicks[ranking, slot], minlength=self.slots * self.items)
        return total.astype(np.int64).reshape(self.slots, self.items)

    @property
    def showings(self) -> IntArray:
        """Slots × items: the rounds that showed an item in a slot."""
        return self._per_pair(self.times[:, None])

    def _per_pair(self, counts: IntArray) -> IntArray:
        # more places, in front, for empty slots; sums are exact up to 2**53
        total = [
            np.bincount(shown - EMPTY, weights=count, minlength=self.items - EMPTY)[-EMPTY:]
            for shown, count in zip(self.shown.T, np.broadcast_to(counts, self.shown.shape).T, strict=True)
        ]
        return np.array(total).astype(np.int64)

    def count(self, ranking: ArrayLike, clicked: int) -> None:
        """Add one round, in place.

        Parameters
        ----------
        ranking
            An item per slot, or EMPTY.
        clicked
            The clicked slot, from 0, or NO_CLICK.
        """
        lists = _lists("ranking", [ranking], self.items)
        if lists.shape[1] != self.slots:
            raise InvalidRanking(f"a ranking has one item for each of the {self.slots} slots, got {ranking!r}")
        self._waiting.append((lists[0], int(_clicked([clicked], lists)[0])))
        if len(self._waiting) >= max(_MIN_WAITING, len(self._shown)):
            self._merge()

    def _merge(self) -> None:
        if self._waiting:
            lists, clicked = zip(*self._waiting, strict=True)
            self._waiting = []
            total = self + Rankings.of_rounds(np.array(lists), clicked, items=self.items)
            self._shown, self._clicks, self._passes = total._shown, total._clicks, total._passes

    def __add__(self, other: Rankings) -> Rankings:
        if not isinstance(other, Rankings):
            return NotImplemented
        if (self.slots, self.items) != (other.slots, other.items):
            raise InvalidInput(
                f"rankings of {self.slots} slots, {self.items} items and of {other.slots} slots, {other.items} items "
                "cannot be added"
            )
        both = (self, other)
        total = Rankings.empty(self.slots, self.items)
        total._shown, total._clicks, total._passes = _merged(
            np.concatenate([part.shown for part in both]),
            np.concatenate([part.clicks for part in both]),
            np.concatenate([part.passes for part in both]),
            self.items,
        )
        return total

    def __radd__(self, other: object) -> Rankings:
        # the start of sum()
        return self + Rankings.empty(self.slots, self.items) if other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rankings):
            return NotImplemented
        mine, theirs = ((part.shown, part.clicks, part.passes) for part in (self, other))
        return self.items == other.items and all(map(np.array_equal, mine, theirs))

    def __repr__(self) -> str:
        return f"<{len(self.shown)} rankings of {self.slots} slots and {self.items} items in {self.rounds} rounds>"


def _lists(name: str, values: object, items: int) -> IntArray:
    """Return rankings, a row each: distinct items out of 0 … items-1, or EMPTY, in every slot."""
    try:
        lists = np.asarray(values)
    except ValueError:
        lists = np.empty(0, object)
    if lists.ndim != 2 or lists.shape[1] == 0 or (lists.size and lists.dtype.kind not in "iu"):
        raise InvalidRanking(f"{name} must hold a whole number for every slot, got {values!r}"[:200])
    outside = ((lists < 0) & (lists != EMPTY)) | (lists >= items)
    if outside.any():
        row, slot = np.argwhere(outside)[0]
        raise InvalidRanking(f"a ranking holds items 0 to {items - 1}, got {lists[row, slot]} in {lists[row].tolist()}")
    in_order = np.sort(lists, axis=1)
    twice = (in_order[:, 1:] == in_order[:, :-1]) & (in_order[:, 1:] != EMPTY)
    if twice.any():
        raise InvalidRanking(f"a ranking holds an item once, got {lists[np.argwhere(twice)[0, 0]].tolist()}")
    return np.ascontiguousarray(lists, dtype=np.int64)


def _clicked(values: object, lists: IntArray) -> IntArray:
    """Return the slot clicked in each round, or NO_CLICK."""
    clicked = np.asarray(values)
    rounds, slots = lists.shape
    if clicked.shape != (rounds,) or (rounds and clicked.dtype.kind not in "iu"):
        raise InvalidInput(
            f"clicked must be a slot or {NO_CLICK} for each of the {rounds} rounds, got {values!r}"[:200]
        )
    outside = clicked[(clicked < NO_CLICK) | (clicked >= slots)]
    if outside.size:
        raise InvalidInput(f"clicked must be a slot from 0 to {slots - 1} or {NO_CLICK}, got {outside[0]}")
    on = clicked.astype(np.int64)
    on_nothing = np.flatnonzero((on != NO_CLICK) & (lists[np.arange(rounds), on] == EMPTY))
    if on_nothing.size:
        row = on_nothing[0]
        raise InvalidInput(f"clicked must be a slot with an item, got {on[row]} in {lists[row].tolist()}")
    return on


def _merged(lists: IntArray, clicks: IntArray, passes: IntArray, items: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return each ranking once, in lexicographic order, with the sum of its counts."""
    first, place = _distinct(lists, items)
    on_slots, without = np.zeros((len(first), lists.shape[1]), np.int64), np.zeros(len(first), np.int64)
    np.add.at(on_slots, place, clicks)
    np.add.at(without, place, passes)
    return lists[first], on_slots, without


def _distinct(lists: IntArray, items: int) -> tuple[IntArray, IntArray]:
    """Return a row of each distinct ranking, and the number of each row's ranking; sorts one number per row."""
    base = items - EMPTY
    key, bound = lists[:, 0] - EMPTY, base
    for column in lists.T[1:]:
        if bound > _LARGEST // base:
            values, key = np.unique(key, return_inverse=True)
            bound = len(values)
        key = key * base + column - EMPTY
        bound *= base
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    return first.astype(np.int64), place.astype(np.int64)
