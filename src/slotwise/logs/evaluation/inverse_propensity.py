"""Inverse propensity weighting: click rates of other lists, from impressions with known propensities.

Where the log holds the probability of each *whole list*, an impression is weighed by the probability of its list under
the target, over that under which it was shown. Where it holds the probability of each *item in its slot*, every slot is
weighed on its own. That needs far fewer impressions, and assumes that a click on a slot depends on the item in
this slot alone: the items of other slots must not matter much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv, ndtri

from slotwise.core.types import EMPTY, FloatArray, IntArray
from slotwise.logs.counting.logged_propensities import LoggedPropensities
from slotwise.logs.fitting.click_rate import Rate, around, wilson

#: with less evidence than this many impressions would give, the intervals are not to be trusted
MIN_EFFECTIVE = 100.0
#: the mean of the weights is 1 if propensities are correct, up to this many standard errors
SUSPICIOUS = 4.0
#: with fewer clicks than this, in effect, sums of weighed clicks are not normal yet
FEW_CLICKS = 20.0


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
    #: slots in which the log never showed what the target would
    unseen: tuple[int, ...] = ()


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
    times, slots = logged.times, logged.shown.shape[1]
    hit = logged.clicked[:, None] == np.arange(slots)
    if logged.by_item:
        weights, clicks = _item_target(logged.shown, lists, chances) / logged.propensity, hit.astype(np.float64)
        fill = chances @ (lists != EMPTY)
    else:
        weights = (_list_target(logged.shown, lists, chances) / logged.propensity)[:, None]
        clicks, fill = hit.any(axis=1, keepdims=True).astype(np.float64), np.ones(1)
    count, totals = float(times.sum()), times @ weights
    matching = int(times[weights.any(axis=1)].sum())
    if not matching:
        nothing = Rate(math.nan, 0.0, 1.0)
        return ByPropensity(nothing, nothing, None, 0, 0.0, 0.0, math.nan, logged.by_item)
    used = totals > 0
    unseen = tuple((np.flatnonzero((fill > 0) & ~used) + 1).tolist())
    weights, clicks, fill = weights[:, used], clicks[:, used], fill[used]
    values = (weights * clicks).sum(axis=1)
    total, squares = float(times @ values), float(times @ values**2)
    few = not total or total**2 / squares < FEW_CLICKS
    plain = _rare(values, weights, times, level) if few else _mean(values, times, level)
    robust = None
    if odds is not None:
        others = _worth_of_others(odds, logged.shown, times) if logged.by_item else None
        expected, target = (_fitted(odds, shown, others) for shown in (logged.shown, lists))
        expected = expected[:, used] if logged.by_item else expected.sum(axis=1, keepdims=True)
        by_model = float(chances @ target.sum(axis=1))
        robust = _robust(by_model, (weights * (clicks - expected)).sum(axis=1), times, plain if few else None, level)
    # on average, each slot that the target fills weighs 1
    mean = _mean((weights / fill).mean(axis=1), times, level=0.682_689_492)
    effective = (times @ weights) ** 2 / (times @ weights**2)
    return ByPropensity(
        plain=Rate(plain.click_rate, max(plain.low, 0.0), min(plain.high, 1.0)),
        self_normalised=_normalised(weights, clicks, times, fill, effective, level),
        doubly_robust=robust,
        matching=matching,
        effective_impressions=float(effective.min()),
        mean_weight=mean.click_rate,
        mean_weight_error=mean.high - mean.click_rate if count > 1 else math.nan,
        by_item=logged.by_item,
        unseen=unseen,
    )


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


def _worth_of_others(odds: FloatArray, shown: IntArray, times: FloatArray) -> FloatArray:
    """For each slot, the odds of all other slots together, on average over the log."""
    worth = _worth(odds, shown)
    return np.asarray(times @ (worth.sum(axis=1, keepdims=True) - worth) / times.sum())


def _fitted(odds: FloatArray, lists: IntArray, others: FloatArray | None = None) -> FloatArray:
    """Return the probability of a click on each slot of each list; with `others`, for these odds in the other slots.

    Slots that are weighed one by one need the latter: a model of the whole list would not cancel out.
    """
    worth = _worth(odds, lists)
    total = worth.sum(axis=1, keepdims=True) if others is None else worth + others
    return np.asarray(worth / (1.0 + total))


def _mean(values: FloatArray, times: FloatArray, level: float) -> Rate:
    """The mean, and where that of many like it would be; not cut off at 0 and 1."""
    count = float(times.sum())
    middle = float(times @ values) / count
    spread = float(times @ (values - middle) ** 2) / max(count - 1.0, 1.0)
    far = float(ndtri(0.5 + level / 2.0)) * math.sqrt(spread / count)
    return Rate(middle, middle - far, middle + far)


def _rare(values: FloatArray, weights: FloatArray, times: FloatArray, level: float) -> Rate:
    """The mean of a few weighed clicks, with the limits of Fay and Feuer (1997) for weighed sums of rare events.

    The upper one allows for one more click, of the weight that a click has, so that it stays up where there is none.
    """
    count, total, squares = float(times.sum()), float(times @ values), float(times @ values**2)
    typical = float((times @ weights**2).sum() / (times @ weights).sum())
    low = float(gammaincinv(total**2 / squares, 0.5 - level / 2.0)) * squares / total if total else 0.0
    above, squares_above = total + typical, squares + typical**2
    high = float(gammaincinv(above**2 / squares_above, 0.5 + level / 2.0)) * squares_above / above
    return Rate(total / count, low / count, high / count)


def _normalised(
    weights: FloatArray, clicks: FloatArray, times: FloatArray, fill: FloatArray, effective: FloatArray, level: float
) -> Rate:
    """Σ wc / Σ w of each column, times how often the target fills it, added up."""
    totals = times @ weights
    shares = (times @ (weights * clicks)) / totals
    rate = float(fill @ shares)
    errors = (weights * (clicks - shares) / totals) @ fill
    spread = math.sqrt(float(times @ errors**2))
    if 0.0 < rate < 1.0 and spread > 0.0:
        return around(rate, spread / (rate * (1.0 - rate)), level)
    inside = min(max(rate, 0.0), 1.0)
    return Rate(inside, *wilson(inside, float(effective.min()), level))


def _robust(by_model: float, differences: FloatArray, times: FloatArray, few: Rate | None, level: float) -> Rate:
    """Return the model's rate plus the mean weighted residual; with few clicks no narrower than the plain interval."""
    correction = _mean(differences, times, level)
    middle, far = by_model + correction.click_rate, correction.high - correction.click_rate
    below, above = (few.click_rate - few.low, few.high - few.click_rate) if few is not None else (far, far)
    return _inside(Rate(middle, middle - max(far, below), middle + max(far, above)))


def _inside(rate: Rate) -> Rate:
    return Rate(*(min(max(value, 0.0), 1.0) for value in rate))


def warnings_of(estimate: ByPropensity) -> list[str]:
    """The reasons not to rely on it."""
    if not estimate.matching:
        return ["No impression showed this list, so inverse propensity has no estimate."]
    warnings = []
    if estimate.by_item:
        warnings.append(
            "Propensities are those of items in slots: by inverse propensity, a click on a slot is assumed to depend "
            "on the item in it, and not on the other items."
        )
    if estimate.unseen:
        slots = ", ".join(f"slot {slot}" for slot in estimate.unseen)
        warnings.append(f"The log never showed the target's items in {slots}: their clicks are missing.")
    if estimate.effective_impressions < MIN_EFFECTIVE:
        warnings.append(
            f"By inverse propensity this rests on {estimate.matching:,} impressions that are worth "
            f"{estimate.effective_impressions:.0f}: too few to rely on."
        )
    if abs(estimate.mean_weight - 1.0) > SUSPICIOUS * estimate.mean_weight_error:
        warnings.append(
            f"The weights average {estimate.mean_weight:.3g} where they should average 1: the logged propensities are "
            "not the probabilities with which these lists were shown, or the list could not be "
            "shown in all impressions."
        )
    return warnings
