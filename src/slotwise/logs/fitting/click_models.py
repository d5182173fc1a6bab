"""Click models fitted to all clicks of a log: position-based, cascade, dependent click, user browsing, and MNL beside.

Each is fitted by maximum likelihood with one made-up impression per parameter, which had what the others have on
average: an item that was hardly seen is taken to be like the others. `slotwise.choice` has the models themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from slotwise.logs.counting.click_sets import ClickSets
from slotwise.logs.fitting.held_out import multinomial_logit
from slotwise.typing import EMPTY, NO_CLICK, BoolArray, FloatArray, IntArray

#: expectation-maximisation has come to rest when no impression's log-likelihood changes by more, on average
TOLERANCE = 1e-7
MOST_STEPS = 2_000
#: no probability is nearer to 0 or 1 than this: what a log has never seen may still happen
NEAREST = 1e-9


class FittedModel(Protocol):
    """Users as a log shows them: what `slotwise.choice.model` has, for many impressions at once."""

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


def fit_pbm(sets: ClickSets) -> FittedPBM:
    """Expectation-maximisation. Slots and items are known up to a common factor: the largest θ is 1."""
    slots = np.broadcast_to(np.arange(sets.slots), sets.shown.shape)
    examination, attraction = _look_and_like(sets, slots, sets.slots)
    return FittedPBM(examination, attraction)


def fit_ubm(sets: ClickSets) -> FittedUBM:
    """The same, with a slot and a distance in place of a slot."""
    cells = np.arange(sets.slots) * sets.slots + distances(sets.clicks)
    examination, attraction = _look_and_like(sets, cells, sets.slots**2)
    return FittedUBM(np.tril(examination.reshape(sets.slots, sets.slots)), attraction)


def _look_and_like(sets: ClickSets, cells: IntArray, count: int) -> tuple[FloatArray, FloatArray]:
    """P(click) = γ_cell · α_item, by expectation-maximisation over whether a slot was looked at, and its item liked."""
    filled = sets.shown != EMPTY
    times = np.broadcast_to(sets.times[:, None], filled.shape)[filled]
    pairs, place = np.unique(cells[filled] * sets.items + sets.shown[filled], return_inverse=True)
    cell, item = np.divmod(pairs, sets.items)
    clicked = _sums(place, times * sets.clicks[filled], len(pairs))
    passed = _sums(place, times, len(pairs)) - clicked
    total = clicked + passed

    def step(examined: FloatArray, liked: FloatArray) -> tuple[float, tuple[FloatArray, FloatArray]]:
        chance = np.minimum(examined[cell] * liked[item], 1.0 - NEAREST)
        # not clicked: looked at and not liked, or liked and not looked at
        neither = passed / (1.0 - chance)
        looks = clicked + neither * (examined[cell] - chance)
        likes = clicked + neither * (liked[item] - chance)
        return float(clicked @ np.log(chance) + passed @ np.log1p(-chance)), (
            _mean_with_one_more(_sums(cell, looks, count), _sums(cell, total, count)),
            _mean_with_one_more(_sums(item, likes, sets.items), _sums(item, total, sets.items)),
        )

    examined, liked = _until_at_rest(step, (np.full(count, 0.5), np.full(sets.items, 0.5)), sets.impressions)
    most = examined.max()
    return examined / most, liked * most


def fit_cascade(sets: ClickSets) -> FittedCascade:
    """Clicks per time looked at: all items down to the first click, and all where there is none."""
    above = np.arange(sets.slots) <= np.where(sets.first == NO_CLICK, sets.slots, sets.first)[:, None]
    hit = sets.first[:, None] == np.arange(sets.slots)
    return FittedCascade(sets.slots, _mean_with_one_more(_per_item(sets, hit), _per_item(sets, above)))


def fit_dcm(sets: ClickSets) -> FittedDCM:
    """Expectation-maximisation over whether a user had stopped at his last click, or looked on and liked nothing."""
    place = np.arange(sets.slots)
    last = np.where(sets.clicks.any(axis=1), sets.slots - 1 - sets.clicks[:, ::-1].argmax(axis=1), NO_CLICK)
    certain = (place <= last[:, None]) | (last == NO_CLICK)[:, None]
    is_last = place == last[:, None]
    clicks, by_slot = _per_item(sets, sets.clicks), sets.times.astype(np.float64) @ sets.clicks

    def step(continuation: FloatArray, attraction: FloatArray) -> tuple[float, tuple[FloatArray, FloatArray]]:
        looking, stopped = FittedDCM(continuation, attraction).courses(sets.shown, sets.clicks)
        went_on = looking / (looking + stopped)
        looked_at = np.where(certain, 1.0, went_on[:, None])
        further = (sets.clicks & ~is_last) + is_last * went_on[:, None]
        return float(sets.times @ np.log(looking + stopped)), (
            _mean_with_one_more(sets.times @ further, by_slot),
            _mean_with_one_more(clicks, _per_item(sets, looked_at)),
        )

    return FittedDCM(*_until_at_rest(step, (np.full(sets.slots, 0.5), np.full(sets.items, 0.5)), sets.impressions))


#: of slots and items: their log-likelihood, and where expectation and maximisation lead from them
Step = Callable[[FloatArray, FloatArray], tuple[float, tuple[FloatArray, FloatArray]]]


def _until_at_rest(step: Step, start: tuple[FloatArray, FloatArray], impressions: int) -> tuple[FloatArray, FloatArray]:
    """Expectation-maximisation: step after step until the log-likelihood gains next to nothing."""
    found, height = start, -np.inf
    for _ in range(MOST_STEPS):
        before = height
        height, further = step(*found)
        if abs(height - before) <= TOLERANCE * impressions:
            break
        found = further
    return found


def fit_mnl(sets: ClickSets) -> FittedMNL:
    """By the first clicks, with the priors of `slotwise.logs.fitting.held_out`."""
    odds = multinomial_logit(sets.rankings)
    return FittedMNL(odds[:, 0] / odds[0, 0], odds[0])


#: by the ids of `slotwise.choice`, the one that others are compared with first
CLICK_MODELS: dict[str, Callable[[ClickSets], FittedModel]] = {
    "mnl": fit_mnl,
    "pbm": fit_pbm,
    "cascade": fit_cascade,
    "dcm": fit_dcm,
    "ubm": fit_ubm,
}


def _mean_with_one_more(sums: FloatArray, counts: FloatArray) -> FloatArray:
    """Means with one made-up observation each, which is what all have on average."""
    middle = sums.sum() / max(counts.sum(), NEAREST)
    return np.asarray(np.clip((sums + middle) / (counts + 1.0), NEAREST, 1.0 - NEAREST))


def _per_item(sets: ClickSets, marks: Any) -> FloatArray:
    """Per item, the impressions in which its slot is marked, or by how much."""
    filled = sets.shown != EMPTY
    weights = np.broadcast_to(sets.times[:, None] * marks, filled.shape)[filled]
    return _sums(sets.shown[filled], weights, sets.items)


def _sums(places: IntArray, weights: Any, count: int) -> FloatArray:
    """What is added up at each of `count` places."""
    return np.bincount(places, weights, count).astype(np.float64)


def _of_items(values: FloatArray, shown: IntArray, nothing: float = 0.0) -> FloatArray:
    return np.where(shown == EMPTY, nothing, values[shown])


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
        found = np.log(law[np.arange(len(law)), only])
    return np.where(clicks.sum(axis=1) > 1, -np.inf, found)
