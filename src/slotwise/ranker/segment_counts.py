"""The counts of a learner: clicks, passes and showings by segment, and by period if the policy forgets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from slotwise.core.errors import InvalidInput
from slotwise.core.tally import Tally, WeightedTally
from slotwise.core.types import NO_CLICK, HalfLife, IntArray
from slotwise.posterior.forgetting import period_of

#: two neighbouring periods become one if together they are at most this share of the rounds after them
MERGED_PART = 0.25

#: the names of the arrays in a file
STORED = ("segments", "sums", "shown", "period_rounds", "periods", "period_sums")

#: of one segment: clicks and passes, 2 × slots × items
Matrices = IntArray


@dataclass
class Period:
    """The counts of consecutive rounds, by segment."""

    rounds: int = 0
    counted: dict[int, Matrices] = field(default_factory=dict)

    def __add__(self, later: Period) -> Period:
        counted = dict(self.counted)
        for segment, matrices in later.counted.items():
            counted[segment] = counted[segment] + matrices if segment in counted else matrices
        return Period(self.rounds + later.rounds, counted)


class LearnerCounts:
    """Counts by segment, of a number of items that may grow.

    With a `half_life` the counts of periods are kept too, so that a policy that starts again weighs them as it did
    before. Recent periods are as long as the policy's own; older ones are merged, more of them the older they are.
    Counts that are `weighed` may be any number that is not negative; they are not stored, and the policy must not
    forget as well.
    """

    def __init__(self, slots: int, items: int, half_life: HalfLife = None, *, weighed: bool = False) -> None:
        self.slots, self.items = slots, items
        self.weighed = weighed
        self._dtype: type[np.float64] | type[np.int64] = np.float64 if weighed else np.int64
        self.rounds = 0
        #: by segment, without those that have no counts
        self._sums: dict[int, Matrices] = {}
        self._shown: dict[int, IntArray] = {}
        #: rounds of a period; infinite if nothing is forgotten
        self._length = period_of(half_life)
        self._periods: list[Period] = []
        if weighed and self.by_period:
            raise InvalidInput(f"half_life must be none if counts are weighed, got {half_life!r}")

    @property
    def by_period(self) -> bool:
        """Whether the policy forgets."""
        return self._length < math.inf

    def make_room(self, items: int) -> None:
        """Add columns for new items."""
        if new := items - self.items:
            self.items = items
            for counted in (self._sums, *(period.counted for period in self._periods)):
                for segment, matrices in counted.items():
                    counted[segment] = np.pad(matrices, ((0, 0), (0, 0), (0, new)))
            for segment, shown in self._shown.items():
                self._shown[segment] = np.pad(shown, (0, new))

    def count(self, segment: int, shown: Sequence[int], clicked: int) -> None:
        """Count one round: the items of its list, and the slot that was clicked, or NO_CLICK."""
        self._shown_of(segment)[shown] += 1
        self.rounds += 1
        for matrices in self._written(segment, 1):
            if clicked == NO_CLICK:
                matrices[1, np.arange(len(shown)), shown] += 1
            else:
                matrices[0, clicked, shown[clicked]] += 1

    def add(self, segment: int, tally: Tally, shown: IntArray) -> None:
        """Add a tally, and how often each item was shown."""
        rounds = tally.rounds
        self._shown_of(segment)[:] += shown
        self.rounds += rounds
        for matrices in self._written(segment, rounds):
            matrices[0] += tally.clicks
            matrices[1] += tally.passes

    def tally(self, segment: int | None = None) -> Tally:
        """Return the tally of one segment, or of all."""
        return self._tally(self._sums, segment)

    def shown(self, segment: int | None = None) -> IntArray:
        """Return how often each item was shown to one segment, or to all."""
        counted = [shown for number, shown in self._shown.items() if segment in (None, number)]
        return np.sum(counted, axis=0, dtype=self._dtype) if counted else np.zeros(self.items, self._dtype)

    def in_order(self) -> list[dict[int, Tally]]:
        """Tallies by segment, and, if the policy forgets, one period after the other."""
        return [{segment: self._tally(counted, segment) for segment in sorted(counted)} for counted in self._parts]

    def for_everybody(self) -> list[dict[int, Tally]]:
        """The same with all segments together."""
        return [{0: self._tally(counted, None)} for counted in self._parts]

    @property
    def _parts(self) -> list[dict[int, Matrices]]:
        return [self._sums] if not self.by_period else [period.counted for period in self._periods]

    def arrays(self) -> dict[str, IntArray]:
        """All counts, by names of `STORED`; sums and periods are lists of the matrices of one segment each."""
        if self.weighed:
            raise InvalidInput("counts that are weighed cannot be stored")
        periods = [
            (number, segment, matrices)
            for number, period in enumerate(self._periods)
            for segment, matrices in sorted(period.counted.items())
        ]
        order = sorted(self._sums)
        each = 2, self.slots, self.items
        return {
            "segments": _stacked(order),
            "sums": _stacked([self._sums[segment] for segment in order], *each),
            "shown": _stacked([self._shown[segment] for segment in order], self.items),
            "period_rounds": _stacked([period.rounds for period in self._periods]),
            "periods": _stacked([row[:2] for row in periods], 2),
            "period_sums": _stacked([row[2] for row in periods], *each),
        }

    def restore(self, arrays: Mapping[str, ArrayLike], segments: int) -> None:
        """Replace the counts by those that `arrays` returned; an error if they do not fit."""
        stored = {name: np.asarray(arrays[name]) for name in STORED}
        each = 2, self.slots, self.items
        for name, expected in (
            ("sums", (len(stored["segments"]), *each)),
            ("shown", (len(stored["segments"]), self.items)),
            ("period_sums", (len(stored["periods"]), *each)),
            ("periods", (len(stored["periods"]), 2)),
        ):
            if stored[name].shape != expected:
                raise InvalidInput(f"{name} must have shape {expected}, got {stored[name].shape}")
        for name, array in stored.items():
            if array.dtype.kind not in "iu" or (array.size and array.min() < 0):
                raise InvalidInput(f"{name} must hold whole numbers that are not negative")
        if stored["segments"].size and stored["segments"].max() >= segments:
            raise InvalidInput(f"segments must be below {segments}, got {stored['segments'].max()}")
        self._sums = dict(zip(stored["segments"].tolist(), stored["sums"].astype(np.int64), strict=True))
        self._shown = dict(zip(stored["segments"].tolist(), stored["shown"].astype(np.int64), strict=True))
        self._periods = [Period(rounds) for rounds in stored["period_rounds"].tolist()]
        for (number, segment), matrices in zip(stored["periods"].tolist(), stored["period_sums"], strict=True):
            self._periods[number].counted[segment] = matrices.astype(np.int64)
        parts, total = sum(self._periods, Period()).counted, {} if not self.by_period else self._sums
        if parts.keys() != total.keys() or any((parts[segment] != total[segment]).any() for segment in parts):
            raise InvalidInput("the counts of periods must sum to the total counts")
        self.rounds = sum(self.tally(segment).rounds for segment in self._sums)

    def _tally(self, counted: Mapping[int, Matrices], segment: int | None) -> Tally:
        matrices = np.zeros((2, self.slots, self.items), self._dtype)
        for number, counts in counted.items():
            if segment in (None, number):
                matrices += counts
        return self.tally_from(*matrices)

    def tally_from(self, clicks: ArrayLike, passes: ArrayLike) -> Tally:
        """A tally, weighted if these counts are; an error if the arrays hold no counts."""
        matrices = np.asarray(clicks), np.asarray(passes)
        return WeightedTally(*matrices) if self.weighed else Tally(*matrices)

    def _shown_of(self, segment: int) -> IntArray:
        if segment not in self._shown:
            self._shown[segment] = np.zeros(self.items, self._dtype)
        return self._shown[segment]

    def _written(self, segment: int, rounds: int) -> list[Matrices]:
        """The matrices to which new rounds of a segment are added."""
        if not self.by_period:
            return [self._matrices(self._sums, segment)]
        if not self._periods or self._periods[-1].rounds >= self._length:
            self._merge()
            self._periods.append(Period())
        self._periods[-1].rounds += rounds
        return [self._matrices(counted, segment) for counted in (self._sums, self._periods[-1].counted)]

    def _matrices(self, counted: dict[int, Matrices], segment: int) -> Matrices:
        if segment not in counted:
            counted[segment] = np.zeros((2, self.slots, self.items), self._dtype)
        return counted[segment]

    def _merge(self) -> None:
        merged: list[Period] = []
        since = 0
        for period in reversed(self._periods):
            if merged and period.rounds + merged[-1].rounds <= MERGED_PART * (since - merged[-1].rounds):
                merged[-1] = period + merged[-1]
            else:
                merged.append(period)
            since += period.rounds
        self._periods = merged[::-1]


def _stacked(arrays: Sequence[object], *shape: int) -> IntArray:
    """Stack arrays of a shape; there may be none."""
    return np.array(arrays, np.int64).reshape(len(arrays), *shape)
