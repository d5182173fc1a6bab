"""The standard errors of estimators that solve weighted equations of a tally's counts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from slotwise.core.errors import InvalidInput
from slotwise.core.rankings import Rankings
from slotwise.core.tally import Tally
from slotwise.core.types import BoolArray, FloatArray, IntArray
from slotwise.estimators.estimate import Uncertainty
from slotwise.estimators.identifiability import groups
from slotwise.estimators.likelihoods.schur_system import Curvature
from slotwise.estimators.uncertainty.intervals import Around, around_logarithm
from slotwise.estimators.uncertainty.sandwich_errors import Sandwich, passes_of

#: the data; standard errors are exact to first order with rankings, and approximate with a tally
Counts = Tally | Rankings

#: from clicks, passes and γ, all slots × items, to the weight W and the factor g of an estimator's equations
Weigh = Callable[[FloatArray, FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


def tally_of(counts: Counts) -> Tally:
    """Return the tally of `counts`."""
    if isinstance(counts, Rankings):
        return counts.tally
    if not isinstance(counts, Tally):
        raise InvalidInput(f"counts must be a Tally or Rankings, got {counts!r}")
    return counts


def tied(tally: Tally) -> tuple[BoolArray, BoolArray]:
    """Return the items and the slots that the data compare with the first slot, as masks."""
    slots, items = groups(tally)
    return items == slots[0], slots == slots[0]


def unknown_without_use(position_bias: FloatArray, clicks: FloatArray, used: FloatArray) -> None:
    """Set λ to NaN, in place, for a slot whose clicks are all unused."""
    unknown = (clicks > 0) & (used == 0)
    unknown[0] = False
    position_bias[unknown] = np.nan


def uncertainty_of(
    counts: Counts,
    tally: Tally,
    position_bias: FloatArray,
    attractiveness: FloatArray,
    weigh: Weigh,
    *,
    at_rest: bool,
    known_bias: bool = False,
) -> Uncertainty:
    """Return the uncertainty of a solution of Σ_k g(N - γÑ) = 0 and, unless the bias is known, Σ_j g(N - γÑ) = 0."""
    # copies: the caller may continue to count before the standard errors are computed
    clicks, passes = tally.clicks.astype(np.float64), tally.passes.astype(np.float64)
    rankings = passes_of(counts) if isinstance(counts, Rankings) else None

    @cache
    def parts() -> tuple[IntArray, IntArray]:
        if known_bias:
            return np.zeros(len(clicks), np.int64), np.where(clicks.any(axis=0) & passes.any(axis=0), 0, 1)
        return groups(Tally(clicks.astype(np.int64), passes.astype(np.int64)))

    def sandwich(used: BoolArray) -> Sandwich:
        # items and slots that were clicked and never passed have no finite estimate, and do not affect the others
        finite = np.where(np.isfinite(attractiveness), attractiveness, 0.0)
        gamma = np.where(used, np.outer(np.where(np.isfinite(position_bias), position_bias, 0.0), finite), 0.0)
        weight, factor = weigh(np.where(gamma > 0, clicks, 0.0), passes, gamma)
        by_slot = np.zeros(len(clicks)) if known_bias else weight.sum(axis=1)
        by_slot[0] = 0.0
        return Sandwich(gamma, factor, Curvature(weight.sum(axis=0), by_slot, weight), passes, rankings)

    def errors() -> tuple[FloatArray, FloatArray]:
        slots, items = parts()
        of_slots, of_items = slots == slots[0], (items == slots[0]) & np.isfinite(attractiveness)
        item_errors, slot_errors = sandwich(of_slots[:, None] & of_items).log_errors()
        return np.where(of_items, item_errors, np.nan), np.where(of_slots, slot_errors, np.nan)

    def error_of(of_items: FloatArray, of_slots: FloatArray) -> float:
        slots, items = parts()
        return sandwich(slots[:, None] == items).log_error_of(of_items, of_slots)

    silent_slots = (clicks.sum(axis=1) == 0) & (passes.sum(axis=1) > 0)
    return Uncertainty(
        errors,
        passes,
        silent_items=(clicks.sum(axis=0) == 0) & (passes.sum(axis=0) > 0),
        silent_slots=silent_slots & (not known_bias) & (np.arange(len(clicks)) > 0),
        at_rest=at_rest,
        parts=parts,
        log_error_of=error_of,
    )


def with_priors(
    slots: int,
    items: int,
    log_errors: Callable[[], tuple[FloatArray, FloatArray]],
    log_error_of: Callable[[FloatArray, FloatArray], float],
    *,
    at_rest: bool = True,
    around: Around = around_logarithm,
    around_slots: Around = around_logarithm,
) -> Uncertainty:
    """Return the uncertainty of an estimate with priors, which determine every slot and item."""
    return Uncertainty(
        log_errors,
        np.zeros((slots, items)),
        np.zeros(items, bool),
        np.zeros(slots, bool),
        at_rest,
        parts=lambda: (np.zeros(slots, np.int64), np.zeros(items, np.int64)),
        log_error_of=log_error_of,
        around=around,
        around_slots=around_slots,
    )
