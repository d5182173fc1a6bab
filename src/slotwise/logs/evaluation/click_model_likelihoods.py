"""Users as a log shows them, a click model a class: which slot they click first, which at all, and how likely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from slotwise.core.types import EMPTY, NO_CLICK, BoolArray, FloatArray, IntArray

#: no probability is nearer to 0 or 1 than this: what a log has never seen may still happen
NEAREST = 1e-9


class FittedModel(Protocol):
    """Users as a log shows them: what `slotwise.click_models.base` has, for many impressions at once."""

    id: ClassVar[str]

    def law_of_first(self, shown: IntArray) -> FloatArray:
        """Impressions × (slots + 1): the probability that a slot is clicked first, and of no click."""

    def rates(self, shown: IntArray) -> FloatArray:
        """Impressions × slots: the probability that a slot is clicked."""

    def log_likelihood(self, shown: IntArray, clicks: BoolArray) -> FloatArray:
        """Of all clicks of each impression; -inf where the model has them impossible."""

    def problem(self) -> dict[str, Any]:
        """The same users as a problem file has them."""


@dataclass(frozen=True, eq=False)
class FittedPBM:
    """θ per slot, α per item."""

    examination: FloatArray
    attraction: FloatArray
    id: ClassVar[str] = "pbm"

    def law_of_first(self, shown: IntArray) -> FloatArray:
        """No click above, then one."""
        return _first_of(self.rates(shown))

    def rates(self, shown: IntArray) -> FloatArray:
        """θ_kα_j."""
        return self.examination * _of_items(self.attraction, shown)

    def log_likelihood(self, shown: IntArray, clicks: BoolArray) -> FloatArray:
        """Slots are independent."""
        return np.asarray(_log_of(self.rates(shown), clicks).sum(axis=1))

    def problem(self) -> dict[str, Any]:
        """With θ of the most visible slot at 1."""
        return {
            "model": self.id,
            "position_bias": self.examination.tolist(),
            "attraction": self.attraction.tolist(),
        }


@dataclass(frozen=True, eq=False)
class FittedCascade:
    """α per item."""

    slots: int
    attraction: FloatArray
    id: ClassVar[str] = "cascade"

    def law_of_first(self, shown: IntArray) -> FloatArray:
        """No click above, then one."""
        return _first_of(_of_items(self.attraction, shown))

    def rates(self, shown: IntArray) -> FloatArray:
        """The first click is the only one."""
        return self.law_of_first(shown)[:, :-1]

    def log_likelihood(self, shown: IntArray, clicks: BoolArray) -> FloatArray:
        """Several clicks are impossible."""
        return _log_of_one(self.law_of_first(shown), clicks)

    def problem(self) -> dict[str, Any]:
        """Slots and α."""
        return {"model": self.id, "slots": self.slots, "attraction": self.attraction.tolist()}


@dataclass(frozen=True, eq=False)
class FittedDCM:
    """λ per slot, α per item."""

    continuation: FloatArray
    attraction: FloatArray
    id: ClassVar[str] = "dcm"

    def law_of_first(self, shown: IntArray) -> FloatArray:
        """Until its first click it is the cascade."""
        return _first_of(_of_items(self.attraction, shown))

    def rates(self, shown: IntArray) -> FloatArray:
        """From slot to slot, with the probability that it is looked at."""
        rates, looking = _of_items(self.attraction, shown), np.ones(len(shown))
        for slot in range(rates.shape[1]):
            rates[:, slot] *= looking
            looking = looking - rates[:, slot] * (1.0 - self.continuation[slot])
        return rates

    def log_likelihood(self, shown: IntArray, clicks: BoolArray) -> FloatArray:
        """Of looking on, or of having stopped at the last click."""
        looking, stopped = self.courses(shown, clicks)
        return np.log(looking + stopped)

    def courses(self, shown: IntArray, clicks: BoolArray) -> tuple[FloatArray, FloatArray]:
        """The probability of these clicks and of looking on to the end, and of having stopped at the last of them."""
        chances = _of_items(self.attraction, shown)
        looking, stopped = np.ones(len(shown)), np.zeros(len(shown))
        for slot in range(chances.shape[1]):
            hit, chance = clicks[:, slot], chances[:, slot]
            looking = looking * np.where(hit, chance, 1.0 - chance)
            stopped = np.where(hit, looking * (1.0 - self.continuation[slot]), stopped)
            looking = np.where(hit, looking * self.continuation[slot], looking)
        return looking, stopped

    def problem(self) -> dict[str, Any]:
        """λ and α."""
        return {
            "model": self.id,
            "continuation": self.continuation.tolist(),
            "attraction": self.attraction.tolist(),
        }


@dataclass(frozen=True, eq=False)
class FittedUBM:
    """γ per slot and distance, a square with column d-1 for distance d; α per item."""

    examination: FloatArray
    attraction: FloatArray
    id: ClassVar[str] = "ubm"

    def law_of_first(self, shown: IntArray) -> FloatArray:
        """Until its first click it is position-based."""
        return _first_of(np.diag(self.examination) * _of_items(self.attraction, shown))

    def rates(self, shown: IntArray) -> FloatArray:
        """From slot to slot, with the probability of each last click."""
        chances = _of_items(self.attraction, shown)
        rates, last = np.zeros(chances.shape), np.zeros((len(shown), chances.shape[1] + 1))
        last[:, 0] = 1.0
        for slot in range(chances.shape[1]):
            moved = last[:, : slot + 1] * self.examination[slot, slot::-1] * chances[:, slot : slot + 1]
            last[:, : slot + 1] -= moved
            rates[:, slot] = last[:, slot + 1] = moved.sum(axis=1)
        return rates

    def log_likelihood(self, shown: IntArray, clicks: BoolArray) -> FloatArray:
        """Slot by slot, given the last click above."""
        examined = self.examination[np.arange(shown.shape[1]), distances(clicks)]
        return np.asarray(_log_of(examined * _of_items(self.attraction, shown), clicks).sum(axis=1))

    def problem(self) -> dict[str, Any]:
        """With the largest γ at 1."""
        rows = [row[: slot + 1].tolist() for slot, row in enumerate(self.examination)]
        return {"model": self.id, "examination": rows, "attraction": self.attraction.tolist()}


@dataclass(frozen=True, eq=False)
class FittedMNL:
    """λ per slot, α per item, of the first clicks."""

    position_bias: FloatArray
    attractiveness: FloatArray
    id: ClassVar[str] = "mnl"

    def law_of_first(self, shown: IntArray) -> FloatArray:
        """In proportion to γ, and to 1 for no click."""
        weights = np.column_stack(
            [self.position_bias * _of_items(self.attractiveness, shown, NEAREST), np.ones(len(shown))]
        )
        return weights / weights.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]

    def rates(self, shown: IntArray) -> FloatArray:
        """The first click is the only one."""
        return self.law_of_first(shown)[:, :-1]

    def log_likelihood(self, shown: IntArray, clicks: BoolArray) -> FloatArray:
        """Several clicks are impossible."""
        return _log_of_one(self.law_of_first(shown), clicks)

    def problem(self) -> dict[str, Any]:
        """λ and α."""
        return {
            "model": self.id,
            "position_bias": self.position_bias.tolist(),
            "attractiveness": self.attractiveness.tolist(),
        }


def distances(clicks: BoolArray) -> IntArray:
    """Impressions × slots: how far above the last click was, less 1; the slot itself if there was none.

    >>> distances(np.array([[False, True, False, False]])).tolist()
    [[0, 1, 0, 1]]
    """
    slots = clicks.shape[1]
    at = np.where(clicks, np.arange(slots), NO_CLICK)
    last = np.maximum.accumulate(np.column_stack([np.full(len(clicks), NO_CLICK), at[:, :-1]]), axis=1)
    return np.asarray(np.arange(slots) - last - 1)


def _of_items(values: FloatArray, shown: IntArray, nothing: float = 0.0) -> FloatArray:
    return np.where(shown == EMPTY, nothing, values[np.maximum(shown, 0)])


def _first_of(chances: FloatArray) -> FloatArray:
    """From the chance of a click on each slot while there was none above it."""
    none_yet = np.cumprod(np.column_stack([np.ones(len(chances)), 1.0 - chances]), axis=1)
    return np.column_stack([none_yet[:, :-1] * chances, none_yet[:, -1]])


def _log_of(chances: FloatArray, clicks: BoolArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.where(clicks, np.log(chances), np.log1p(-np.minimum(chances, 1.0 - NEAREST)))


def _log_of_one(law: FloatArray, clicks: BoolArray) -> FloatArray:
    only = np.where(clicks.any(axis=1), clicks.argmax(axis=1), clicks.shape[1])
    with np.errstate(divide="ignore"):
        likelihood = np.log(law[np.arange(len(law)), only])
    return np.where(clicks.sum(axis=1) > 1, -np.inf, likelihood)
