"""Inverse propensity: what a list would have got, from the impressions in which chance showed that very list."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from slotwise.errors import InvalidInput
from slotwise.logs.fitting.click_rate import Rate, around
from slotwise.typing import NO_CLICK, FloatArray, IntArray

#: with less evidence than this many impressions would give, the intervals are not to be trusted
FEWEST_EFFECTIVE = 100.0
#: the mean of the weights is 1 if propensities are what they say, give or take some standard errors
SUSPICIOUS = 4.0


@dataclass(frozen=True, eq=False)
class Logged:
    """Impressions with the probability with which each one's list was shown."""

    #: impressions × slots: items by number, EMPTY where there was nothing
    shown: IntArray
    #: the slot clicked in each, or NO_CLICK
    clicked: IntArray
    #: the probability of the whole list, per impression
    propensity: FloatArray
    #: how many impressions each stands for; None if one
    weight: IntArray | None = None

    if TYPE_CHECKING:

        def __init__(self, shown: ArrayLike, clicked: ArrayLike, propensity: Any, weight: Any = None) -> None: ...

    def __post_init__(self) -> None:
        shown: Any = np.asarray(self.shown)
        clicked: Any = np.asarray(self.clicked)
        propensity: Any = self.propensity
        if shown.ndim != 2 or clicked.shape != shown.shape[:1]:
            raise InvalidInput(
                f"clicked must be a slot or {NO_CLICK} for each of {len(shown)} impressions, got shape {clicked.shape}"
            )
        if self.weight is not None:
            shown, clicked, propensity = (np.repeat(one, self.weight, axis=0) for one in (shown, clicked, propensity))
            object.__setattr__(self, "weight", None)
        object.__setattr__(self, "shown", shown.astype(np.int64))
        object.__setattr__(self, "clicked", clicked.astype(np.int64))
        object.__setattr__(self, "propensity", _propensities(propensity, len(shown)))


def _propensities(values: Any, impressions: int) -> FloatArray:
    listed = np.asarray([math.nan if value is None else value for value in np.asarray(values, object).ravel()], float)
    if len(listed) != impressions:
        raise InvalidInput(f"propensity must have one entry per impression, {impressions}, got {len(listed)}")
    wrong = np.flatnonzero(~((listed > 0.0) & (listed <= 1.0)))
    if len(wrong):
        value = "null" if math.isnan(listed[wrong[0]]) else repr(float(listed[wrong[0]]))
        raise InvalidInput(
            f"propensity must be above 0 and at most 1, got {value} for impression {wrong[0] + 1} "
            f"({len(wrong):,} of {impressions:,} are not)"
        )
    return listed


@dataclass(frozen=True)
class ByPropensity:
    """The two estimates, and what they rest on."""

    #: Σ wc / n, unbiased
    plain: Rate
    #: Σ wc / Σ w: slightly biased, and usually closer
    self_normalised: Rate
    #: impressions whose list could have been shown
    matching: int
    #: (Σ w)² / Σ w²
    effective_impressions: float
    #: of the weights over all impressions, with its standard error
    mean_weight: float
    mean_weight_error: float


def inverse_propensity(logged: Logged, lists: IntArray, chances: FloatArray, level: float = 0.95) -> ByPropensity:
    """Weigh every impression by the probability of its list under the mixture, over that under which it was logged.

    >>> logged = Logged([[0, 1], [1, 0]] * 200, [0, NO_CLICK, 1, 0] * 100, [0.5] * 400)
    >>> found = inverse_propensity(logged, np.array([[0, 1]]), np.ones(1))
    >>> found.matching, [round(value, 2) for value in found.self_normalised]
    (200, [1.0, 0.98, 1.0])
    """
    weights = _target(logged.shown, lists, chances) / logged.propensity
    clicked = (logged.clicked != NO_CLICK).astype(np.float64)
    count, total = len(weights), float(weights.sum())
    squares = float(weights @ weights)
    effective = total**2 / squares if squares else 0.0
    if not total:
        nothing = Rate(math.nan, 0.0, 1.0)
        return ByPropensity(nothing, nothing, 0, 0.0, 0.0, math.nan)
    normalised = float(weights @ clicked) / total
    spread = math.sqrt(float(weights**2 @ (clicked - normalised) ** 2)) / total
    if 0.0 < normalised < 1.0 and spread > 0.0:
        to_normal = around(normalised, spread / (normalised * (1.0 - normalised)), level)
    else:
        to_normal = Rate(normalised, *wilson(normalised, effective, level))
    return ByPropensity(
        plain=_mean(weights * clicked, level),
        self_normalised=to_normal,
        matching=int((weights > 0).sum()),
        effective_impressions=effective,
        mean_weight=total / count,
        mean_weight_error=float(weights.std(ddof=1) / math.sqrt(count)) if count > 1 else math.nan,
    )


def _target(shown: IntArray, lists: IntArray, chances: FloatArray) -> FloatArray:
    """The probability of each shown list under the mixture."""
    places = {row.tobytes(): 0.0 for row in lists}
    for row, chance in zip(lists, chances, strict=True):
        places[row.tobytes()] += float(chance)
    if len(lists) <= 16:
        found = np.zeros(len(shown))
        for row in np.unique(lists, axis=0):
            found[(shown == row).all(axis=1)] = places[row.tobytes()]
        return found
    return np.array([places.get(row.tobytes(), 0.0) for row in np.ascontiguousarray(shown)])


def _mean(values: FloatArray, level: float) -> Rate:
    middle = float(values.mean())
    far = (
        float(ndtri(0.5 + level / 2.0)) * float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 1.0
    )
    return Rate(middle, max(0.0, middle - far), min(1.0, middle + far))


def wilson(rate: float, count: float, level: float) -> tuple[float, float]:
    """The score interval of a proportion, which does not shrink to a point at 0 or 1."""
    z = float(ndtri(0.5 + level / 2.0)) ** 2
    middle = (rate + z / (2.0 * count)) / (1.0 + z / count)
    far = math.sqrt(z * (rate * (1.0 - rate) / count + z / (4.0 * count**2))) / (1.0 + z / count)
    return max(0.0, middle - far), min(1.0, middle + far)


def warnings_of(found: ByPropensity) -> list[str]:
    """The reasons not to rely on it."""
    if not found.matching:
        return ["No impression showed this list, so inverse propensity cannot say anything of it."]
    warnings = []
    if found.effective_impressions < FEWEST_EFFECTIVE:
        warnings.append(
            f"By inverse propensity this rests on {found.matching:,} impressions that are worth "
            f"{found.effective_impressions:.0f}: too few to rely on."
        )
    if abs(found.mean_weight - 1.0) > SUSPICIOUS * found.mean_weight_error:
        warnings.append(
            f"The weights average {found.mean_weight:.3g} where they should average 1: the logged propensities are not "
            "the probabilities with which these lists were shown, or the list could not be shown in all impressions."
        )
    return warnings
