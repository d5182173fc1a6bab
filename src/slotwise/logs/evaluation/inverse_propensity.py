"""Inverse propensity weighting: click rates of other lists, from impressions with known propensities.

Where the log holds the probability of each *whole list*, an impression is weighed by the probability of its list under
the target, over that under which it was shown. Where it holds the probability of each *item in its slot*, every slot is
weighed on its own. That needs far fewer impressions, and assumes that a click on a slot depends on the item in
this slot alone. Items compete for a click, so intervals also cover what the estimate would be if they do as the fitted
model says.

Impressions may fill only some slots. An item that is in slot k with probability t under the target, and was shown there
with propensity p, has the weight t/p; weights are averaged over the impressions that fill slot k (for whole lists: that
fill the same slots), because p is the probability given the slots that are filled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincinv, ndtri

from slotwise.core.types import EMPTY, NO_CLICK, BoolArray, FloatArray, IntArray
from slotwise.logs.counting.logged_propensities import LoggedPropensities
from slotwise.logs.fitting.click_rate import UNKNOWN, Rate, around, wilson
from slotwise.logs.fitting.number_format import and_more

#: with less evidence than this many impressions would give, the intervals are not to be trusted
MIN_EFFECTIVE = 100.0
#: the mean of the weights is 1 if propensities are correct, up to this many standard errors, and up to the difference
#: that the lists of a finite log have from their own propensities
SUSPICIOUS, NEGLIGIBLE = 4.0, 0.01
#: with fewer clicks than this, in effect, sums of weighed clicks are not normal yet
FEW_CLICKS = 20.0
#: strata that a warning names
LISTED = 3


@dataclass(frozen=True)
class ByPropensity:
    """The estimates, and what they rest on."""

    #: Σ wc / n, unbiased
    plain: Rate
    #: Σ wc / Σ w: slightly biased, and usually closer
    self_normalised: Rate
    #: what the fitted model expects, put right by the weighed difference between the clicks and the model
    doubly_robust: Rate | None
    #: impressions whose list, or any of whose items in its slot, could have been shown
    matching: int
    #: (Σ w)² / Σ w²; of the slot that has least
    effective_impressions: float
    #: of the weights over all impressions (and slots), with its standard error
    mean_weight: float
    mean_weight_error: float
    #: whether slots were weighed one by one
    by_item: bool = False
    #: slots, or sets of slots, in which the log never showed what the target would
    unseen: tuple[str, ...] = ()


class _Strata(NamedTuple):
    """Impressions, or their slots, with weights; those of a stratum are averaged, and the averages added up.

    A stratum is a slot, or for whole lists the set of slots that they fill.
    """

    #: by impression: how many it stands for
    times: FloatArray
    #: by entry: its impression and stratum, its weight, and whether it was clicked
    row: IntArray
    stratum: IntArray
    weight: FloatArray
    click: FloatArray
    #: by stratum: the probability that the target fills it, and the impressions that do
    fill: FloatArray
    size: FloatArray

    def sums(self, values: FloatArray) -> FloatArray:
        """Sums by stratum of a value of each entry."""
        return np.bincount(self.stratum, self.times[self.row] * values, minlength=len(self.fill)).astype(np.float64)

    def squares(self, values: FloatArray) -> float:
        """The sum over impressions of what their entries add up to, squared."""
        return float(self.times @ np.bincount(self.row, values, minlength=len(self.times)) ** 2)

    def mean(self, values: FloatArray, level: float) -> Rate:
        """The mean of each stratum, added up, and where that of many like it would be; not cut off at 0 and 1."""
        means = self.sums(values) / self.size
        scale = np.sqrt(self.size * np.maximum(self.size - 1.0, 1.0))
        variance = self.squares((values - means[self.stratum]) / scale[self.stratum])
        middle, far = float(means.sum()), float(ndtri(0.5 + level / 2.0)) * math.sqrt(variance)
        return Rate(middle, middle - far, middle + far)


def inverse_propensity(
    logged: LoggedPropensities,
    lists: IntArray,
    chances: FloatArray,
    level: float = 0.95,
    odds: FloatArray | None = None,
) -> ByPropensity:
    """The click rate of a mixture of lists; doubly robust too where `odds`, γ of a fitted model, are given.

    >>> from slotwise import NO_CLICK
    >>> logged = LoggedPropensities([[0, 1], [1, 0]] * 200, [0, NO_CLICK, 1, 0] * 100, [0.5] * 400)
    >>> found = inverse_propensity(logged, np.array([[0, 1]]), np.ones(1))
    >>> found.matching, [round(value, 2) for value in found.self_normalised]
    (200, [1.0, 0.98, 1.0])
    """
    strata, names, of_lists = _slots(logged, lists, chances) if logged.by_item else _sets(logged, lists, chances)
    seen = strata.sums(strata.weight) > 0
    if not seen.any():
        return ByPropensity(UNKNOWN, UNKNOWN, None, 0, 0.0, 0.0, math.nan, logged.by_item)
    unseen = [names[stratum] for stratum in np.flatnonzero((strata.fill > 0) & ~seen)]
    missing = float(strata.fill[~seen].sum())
    kept = seen[strata.stratum]
    strata = _Strata(
        strata.times,
        *(strata.row[kept], strata.stratum[kept], strata.weight[kept], strata.click[kept]),
        *(np.where(seen, strata.fill, 0.0), strata.size),
    )
    weight, click = strata.weight, strata.click
    values = weight * click / strata.size[strata.stratum]
    total, squares = float(strata.sums(values).sum()), strata.squares(values)
    few = not total or total**2 / squares < FEW_CLICKS
    plain = _rare(strata, total, squares, level) if few else strata.mean(weight * click, level)
    robust, shift = None, 0.0
    if odds is not None:
        fitted, target = _fitted(logged, odds, strata, lists)
        by_model = float(chances @ np.where(seen[of_lists], target, 0.0).sum(axis=1))
        residuals = strata.mean(weight * (click - fitted), level)
        if logged.by_item:
            competing, target = _together(logged, odds, strata, np.where(seen, lists, EMPTY))
            competition = strata.mean(weight * (fitted - competing), level).click_rate
            shift = float(chances @ target) - by_model + competition
        robust = _within(_robust(by_model, residuals, plain if few else None), missing, shift)
    # on average, each stratum weighs as much as the target fills it
    mean = Rate(*(np.array(strata.mean(weight, level=0.682_689_492)) / strata.fill.sum()).tolist())
    effective = (strata.sums(weight)[seen] ** 2 / strata.sums(weight**2)[seen]).min()
    return ByPropensity(
        plain=_within(plain, missing, shift),
        self_normalised=_within(_normalised(strata, seen, float(effective), level), missing, shift),
        doubly_robust=robust,
        matching=int(logged.times[np.unique(strata.row[weight > 0])].sum()),
        effective_impressions=float(effective),
        mean_weight=mean.click_rate,
        mean_weight_error=mean.high - mean.click_rate if logged.times.sum() > 1 else math.nan,
        by_item=logged.by_item,
        unseen=tuple(unseen),
    )


def _slots(logged: LoggedPropensities, lists: IntArray, chances: FloatArray) -> tuple[_Strata, list[str], IntArray]:
    """Weigh every slot on its own: strata, their names, and the stratum of each place of the lists."""
    shown, slots = logged.shown, logged.shown.shape[1]
    row, slot = np.nonzero((shown != EMPTY) | (not logged.given_slots))
    weight = (_item_target(shown, lists, chances) / logged.propensity)[row, slot]
    strata = _Strata(
        times=logged.times,
        row=row,
        stratum=slot,
        weight=weight,
        click=(logged.clicked[row] == slot).astype(np.float64),
        fill=chances @ (lists != EMPTY),
        size=np.maximum(np.bincount(slot, logged.times[row], minlength=slots), 1.0),
    )
    return strata, [f"slot {number + 1}" for number in range(slots)], np.broadcast_to(np.arange(slots), lists.shape)


def _sets(logged: LoggedPropensities, lists: IntArray, chances: FloatArray) -> tuple[_Strata, list[str], IntArray]:
    """Weigh whole lists, those that fill the same slots together; as `_slots` does."""
    filled = np.concatenate([lists, logged.shown]) != EMPTY
    if not logged.given_slots:
        filled[:] = filled.any(axis=0)
    _, first, place = np.unique(np.packbits(filled, axis=1), axis=0, return_index=True, return_inverse=True)
    of_lists, of_shown = np.split(place.ravel(), [len(lists)])
    strata = _Strata(
        times=logged.times,
        row=np.arange(len(logged.shown)),
        stratum=of_shown,
        weight=_list_target(logged.shown, lists, chances) / logged.propensity,
        click=(logged.clicked != NO_CLICK).astype(np.float64),
        fill=np.bincount(of_lists, chances, minlength=len(first)).astype(np.float64),
        size=np.maximum(np.bincount(of_shown, logged.times, minlength=len(first)), 1.0),
    )
    names = [f"slot {' and '.join(map(str, np.flatnonzero(slots) + 1))} alone" for slots in filled[first]]
    return strata, names, of_lists[:, None]


def _list_target(shown: IntArray, lists: IntArray, chances: FloatArray) -> FloatArray:
    """The probability of each shown list under the mixture."""
    places = {row.tobytes(): 0.0 for row in lists}
    for row, chance in zip(lists, chances, strict=True):
        places[row.tobytes()] += float(chance)
    if len(lists) <= 16:
        probability = np.zeros(len(shown))
        for row in np.unique(lists, axis=0):
            probability[(shown == row).all(axis=1)] = places[row.tobytes()]
        return probability
    return np.array([places.get(row.tobytes(), 0.0) for row in np.ascontiguousarray(shown)])


def _item_target(shown: IntArray, lists: IntArray, chances: FloatArray) -> FloatArray:
    """The probability under the mixture of each shown item to be in its slot; 0 where nothing was shown."""
    probability = np.zeros(shown.shape)
    for slot in range(shown.shape[1]):
        filled = lists[:, slot] != EMPTY
        items = int(max(shown[:, slot].max(initial=0), lists[:, slot].max(initial=0))) + 1
        share = np.bincount(lists[filled, slot], weights=chances[filled], minlength=items)
        probability[:, slot] = np.where(shown[:, slot] == EMPTY, 0.0, share[np.maximum(shown[:, slot], 0)])
    return probability


def _worth(odds: FloatArray, lists: IntArray) -> FloatArray:
    return np.where(lists == EMPTY, 0.0, odds[np.arange(lists.shape[1]), np.maximum(lists, 0)])


def _fitted(
    logged: LoggedPropensities, odds: FloatArray, strata: _Strata, lists: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the model's probability of a click on each entry, and on each place of each list.

    Slots that are weighed one by one are given the mean odds of the other slots: a model of the whole list would not
    cancel out.
    """
    if not logged.by_item:
        on_shown, on_lists = (_worth(odds, shown).sum(axis=1) for shown in (logged.shown, lists))
        return (on_shown / (1.0 + on_shown))[strata.row], (on_lists / (1.0 + on_lists))[:, None]
    worth, target = _worth(odds, logged.shown), _worth(odds, lists)
    own = worth[strata.row, strata.stratum]
    others = strata.sums(worth.sum(axis=1)[strata.row] - own) / strata.size
    return own / (1.0 + own + others[strata.stratum]), target / (1.0 + target + others)


def _together(
    logged: LoggedPropensities, odds: FloatArray, strata: _Strata, lists: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the same for slots that compete: of each entry given its list, and of each list."""
    worth, target = _worth(odds, logged.shown), _worth(odds, lists).sum(axis=1)
    total = worth.sum(axis=1)[strata.row]
    return worth[strata.row, strata.stratum] / (1.0 + total), target / (1.0 + target)


def _rare(strata: _Strata, total: float, squares: float, level: float) -> Rate:
    """The mean of a few weighed clicks, with the limits of Fay and Feuer (1997) for weighed sums of rare events.

    The upper one allows for one more click, of the weight that a click has, so that it stays up where there is none.
    """
    weight = strata.weight / strata.size[strata.stratum]
    typical = float(strata.sums(weight**2).sum() / strata.sums(weight).sum())
    low = float(gammaincinv(total**2 / squares, 0.5 - level / 2.0)) * squares / total if total else 0.0
    above, squares_above = total + typical, squares + typical**2
    high = float(gammaincinv(above**2 / squares_above, 0.5 + level / 2.0)) * squares_above / above
    return Rate(total, low, high)


def _normalised(strata: _Strata, seen: BoolArray, effective: float, level: float) -> Rate:
    """Σ wc / Σ w of each stratum, times how often the target fills it, added up."""
    totals = np.where(seen, strata.sums(strata.weight), 1.0)
    shares = strata.sums(strata.weight * strata.click) / totals
    rate = float(strata.fill @ shares)
    errors = strata.weight * (strata.click - shares[strata.stratum]) * (strata.fill / totals)[strata.stratum]
    spread = math.sqrt(strata.squares(errors))
    if 0.0 < rate < 1.0 and spread > 0.0:
        return around(rate, spread / (rate * (1.0 - rate)), level)
    inside = min(max(rate, 0.0), 1.0)
    return Rate(inside, *wilson(inside, effective, level))


def _robust(by_model: float, residuals: Rate, few: Rate | None) -> Rate:
    """Return the model's rate plus the mean weighted residual; with few clicks no narrower than the plain interval."""
    middle, far = by_model + residuals.click_rate, residuals.high - residuals.click_rate
    below, above = (few.click_rate - few.low, few.high - few.click_rate) if few is not None else (far, far)
    return Rate(middle, middle - max(far, below), middle + max(far, above))


def _within(rate: Rate, missing: float, shift: float) -> Rate:
    """Allow for a shift and for the share of the target that the log lacks, and cut off at 0 and 1."""
    low, high = rate.low + min(shift, 0.0), rate.high + max(shift, 0.0) + missing
    middle, low, high = (min(max(value, 0.0), 1.0) for value in (rate.click_rate, low, high))
    return Rate(math.nan if missing else middle, low, high)


def warnings_of(estimate: ByPropensity) -> list[str]:
    """The reasons not to rely on it."""
    if not estimate.matching:
        return ["No impression showed this list, so inverse propensity has no estimate."]
    warnings = []
    if estimate.by_item:
        warnings.append(
            "Propensities are those of items in slots: by inverse propensity, a click on a slot is assumed to depend "
            "on the item in it, and not on the other items. Intervals allow for what these change by the fitted model."
        )
    if estimate.unseen:
        slots = and_more(estimate.unseen[:LISTED], len(estimate.unseen))
        warnings.append(
            f"The log never showed the target's items in {slots}: inverse propensity has no estimate, and its "
            "intervals allow for any number of clicks there."
        )
    if estimate.effective_impressions < MIN_EFFECTIVE:
        warnings.append(
            f"By inverse propensity this rests on {estimate.matching:,} impressions that are worth "
            f"{estimate.effective_impressions:.0f}: too few to rely on."
        )
    if abs(estimate.mean_weight - 1.0) > max(SUSPICIOUS * estimate.mean_weight_error, NEGLIGIBLE):
        warnings.append(
            f"The weights average {estimate.mean_weight:.3g} where they should average 1: the logged propensities are "
            "not the probabilities with which these lists were shown, or the list could not be "
            "shown in all impressions."
        )
    return warnings
