"""Impressions with the probability with which their lists were shown, for inverse propensity weighting."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from slotwise.core.errors import InvalidInput
from slotwise.core.types import EMPTY, NO_CLICK, FloatArray, IntArray
from slotwise.logs.counting.impressions import Impressions

#: standard errors of a clear difference
CLEARLY = 4.0


@dataclass(frozen=True, eq=False)
class LoggedPropensities:
    """Impressions with the probability with which each one's list, or each of its items, was shown."""

    #: impressions × slots: items by number, EMPTY where there was nothing
    shown: IntArray
    #: the slot clicked in each, or NO_CLICK
    clicked: IntArray
    #: the probability of the whole list, per impression; or impressions × slots, of each item to be in its slot
    propensity: FloatArray
    #: how many impressions each stands for
    weight: IntArray | None = None
    #: further impressions without a known probability
    unknown: int = 0

    if TYPE_CHECKING:

        def __init__(
            self,
            shown: ArrayLike,
            clicked: ArrayLike,
            propensity: ArrayLike,
            weight: IntArray | None = None,
            unknown: int = 0,
        ) -> None: ...

    def __post_init__(self) -> None:
        shown, clicked = np.asarray(self.shown), np.asarray(self.clicked)
        if shown.ndim != 2 or clicked.shape != shown.shape[:1]:
            raise InvalidInput(
                f"clicked must be a slot or {NO_CLICK} for each of {len(shown)} impressions, got shape {clicked.shape}"
            )
        object.__setattr__(self, "shown", shown.astype(np.int64))
        object.__setattr__(self, "clicked", clicked.astype(np.int64))
        object.__setattr__(self, "propensity", _propensities(self.propensity, shown))

    @classmethod
    def of(cls, impressions: Impressions) -> LoggedPropensities | None:
        """Return the impressions with known propensities; None if the log has none."""
        propensity, shown = impressions.propensity, impressions.shown
        if propensity is None:
            return None
        by_list = propensity.ndim == 1
        is_known = ~np.isnan(propensity) if by_list else ((shown == EMPTY) | ~np.isnan(propensity)).all(axis=1)
        weight = impressions.weight
        unknown = int((~is_known).sum() if weight is None else weight[~is_known].sum())
        known_weight = None if weight is None else weight[is_known]
        return cls(shown[is_known], impressions.clicked[is_known], propensity[is_known], known_weight, unknown)

    @cached_property
    def given_slots(self) -> bool:
        """Whether propensities are those given the slots that an impression fills, and not among all impressions.

        Each entry is weighed by the share of the others that are like it, over its propensity. Under the right reading
        these weights average 1. The first reading holds unless its weights are clearly larger, and those of the second
        are not clearly off.
        """
        filled, times = self.shown != EMPTY, self.times
        if (filled == filled[:1]).all():
            return True
        if self.by_item:
            row, kind = np.nonzero(filled)
            place = kind * (self.shown.max() + 1) + self.shown[row, kind]
            propensity, times = self.propensity[row, kind], times[row]
        else:
            kind = np.unique(np.packbits(filled, axis=1), axis=0, return_inverse=True)[1].ravel()
            place = np.unique(self.shown, axis=0, return_inverse=True)[1].ravel()
            propensity = self.propensity
        others = (np.bincount(place, times)[place] - 1.0) / propensity
        given = _deviation(others / np.maximum(np.bincount(kind, times) - 1.0, 1.0)[kind], times)
        among_all = _deviation(others / max(float(self.times.sum()) - 1.0, 1.0), times)
        return given <= CLEARLY or abs(among_all) > CLEARLY

    @property
    def by_item(self) -> bool:
        """Whether the propensities are those of items in slots, and not of whole lists."""
        return self.propensity.ndim == 2

    @property
    def times(self) -> FloatArray:
        """How many impressions each stands for."""
        return np.ones(len(self.shown)) if self.weight is None else np.asarray(self.weight, np.float64)


def _deviation(weights: FloatArray, times: FloatArray) -> float:
    """How far the mean of the weights is from 1, in standard errors."""
    count = float(times.sum())
    mean = float(times @ weights) / count
    # an entry is also one of the others, which doubles its influence
    error = 2.0 * math.sqrt(float(times @ (weights - mean) ** 2)) / count
    return (mean - 1.0) / max(error, 1e-9)


def _propensities(values: ArrayLike, shown: IntArray) -> FloatArray:
    given = np.asarray(values, object)
    if given.ndim == 2 and given.shape != shown.shape:
        raise InvalidInput(f"propensity must have one entry per slot, {shown.shape}, got {given.shape}")
    if given.ndim < 2 and given.size != len(shown):
        raise InvalidInput(f"propensity must have one entry per impression, {len(shown)}, got {given.size}")
    listed = np.array([math.nan if value is None else value for value in given.ravel()], float).reshape(given.shape)
    # the value of an empty slot does not matter
    needed = shown != EMPTY if listed.ndim == 2 else np.ones(len(shown), bool)
    wrong = np.argwhere(needed & ~((listed > 0.0) & (listed <= 1.0)))
    if len(wrong):
        value = listed[tuple(wrong[0])]
        raise InvalidInput(
            f"propensity must be above 0 and at most 1, got {'null' if math.isnan(value) else repr(float(value))} for "
            f"impression {wrong[0][0] + 1} ({len(wrong):,} of {int(needed.sum()):,} are not)"
        )
    return np.where(needed, listed, 1.0)
