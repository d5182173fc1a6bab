"""Click models fitted to all clicks of a log: position-based, cascade, dependent click, user browsing, and MNL.

Each is fitted by maximum likelihood with one pseudo-impression per parameter, at the average of the
others: rarely shown items are shrunk toward the average. `slotwise.click_models` has the models themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from slotwise.core.types import EMPTY, NO_CLICK, BoolArray, FloatArray, IntArray
from slotwise.logs.counting.click_sets import ClickSets
from slotwise.logs.evaluation.click_model_likelihoods import (
    NEAREST,
    FittedCascade,
    FittedDCM,
    FittedMNL,
    FittedModel,
    FittedPBM,
    FittedUBM,
    distances,
)
from slotwise.logs.evaluation.holdout_comparison import multinomial_logit

#: expectation-maximisation has come to rest when no impression's log-likelihood changes by more, on average
TOLERANCE = 1e-7
MAX_STEPS = 2_000


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
    coded = pa.array(cells[filled] * sets.items + sets.shown[filled]).dictionary_encode()
    pairs, place = coded.dictionary.to_numpy(), coded.indices.to_numpy()
    cell, item = np.divmod(pairs, sets.items)
    clicked = _sums(place, times * sets.clicks[filled], len(pairs))
    shown = _sums(place, times, len(pairs))
    passed = shown - clicked
    of_cells, of_items = (_sums(where, shown, size) for where, size in ((cell, count), (item, sets.items)))
    cell_clicks, item_clicks = (_sums(where, clicked, size) for where, size in ((cell, count), (item, sets.items)))
    # most pairs have none
    hit = np.flatnonzero(clicked)
    clicked = clicked[hit]

    def step(examined: FloatArray, liked: FloatArray) -> tuple[float, tuple[FloatArray, FloatArray]]:
        looked, like = examined[cell], liked[item]
        chance = np.minimum(looked * like, 1.0 - NEAREST)
        # not clicked: looked at and not liked, or liked and not looked at
        neither = passed / (1.0 - chance)
        return float(clicked @ np.log(chance[hit]) + passed @ np.log1p(-chance)), (
            _mean_with_one_more(cell_clicks + _sums(cell, neither * (looked - chance), count), of_cells),
            _mean_with_one_more(item_clicks + _sums(item, neither * (like - chance), sets.items), of_items),
        )

    # begin with clicks per impression: of slots relative to the most clicked, and of items given those
    examined = _mean_with_one_more(cell_clicks, of_cells)
    examined = np.minimum(examined / examined.max(), 1.0 - NEAREST)
    liked = _mean_with_one_more(item_clicks, _sums(item, shown * examined[cell], sets.items))
    examined, liked = _until_at_rest(step, (examined, liked), sets.impressions)
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
    """Expectation-maximisation until the log-likelihood gains next to nothing, two steps and one far beyond at a time.

    The far one extrapolates the logarithms (Varadhan and Roland, Simple and globally convergent methods for
    accelerating the convergence of any EM algorithm, 2008). It is taken unless the log-likelihood falls by more than
    the two steps let it fall: they maximise it together with the made-up observations.
    """
    parameters, before = start, -np.inf
    for _ in range(0, MAX_STEPS, 3):
        height, once = step(*parameters)
        if abs(height - before) <= TOLERANCE * impressions:
            break
        height_once, twice = step(*once)
        first, second, third = (np.log(np.concatenate(each)) for each in (parameters, once, twice))
        speed, bend = second - first, third - 2.0 * second + first
        stretch = max(1.0, math.sqrt((speed**2).sum() / max((bend**2).sum(), NEAREST**2)))
        values = np.exp(first + 2.0 * stretch * speed + stretch**2 * bend)
        far = np.split(np.clip(values, NEAREST, 1.0 - NEAREST), [len(start[0])])
        height_far, beyond = step(*far)
        fall = min(0.0, stretch**2 * (height_once - height))
        parameters, before = beyond if height_far >= height_once + fall else twice, height
    return parameters


def fit_mnl(sets: ClickSets) -> FittedMNL:
    """By the first clicks, with the priors of `slotwise.logs.evaluation.holdout_comparison`."""
    odds = multinomial_logit(sets.rankings)
    return FittedMNL(odds[:, 0] / odds[0, 0], odds[0])


#: by the ids of `slotwise.click_models`, the one that others are compared with first
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


def _per_item(sets: ClickSets, marks: FloatArray | BoolArray) -> FloatArray:
    """Per item, the impressions in which its slot is marked, or by how much."""
    filled = sets.shown != EMPTY
    weights = np.broadcast_to(sets.times[:, None] * marks, filled.shape)[filled]
    return _sums(sets.shown[filled], weights, sets.items)


def _sums(places: IntArray, weights: FloatArray | IntArray, count: int) -> FloatArray:
    """Return the sum of the values at each of `count` places."""
    return np.bincount(places, weights, count).astype(np.float64, copy=False)
