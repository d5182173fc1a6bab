"""Live placements that start from the counts of a fitted click log."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from slotwise.core.errors import InvalidInput
from slotwise.service.placements.warm_start import LogCounts, from_counts
from slotwise.service.schemas.definition import MAX_HALF_LIFE, MIN_HALF_LIFE
from slotwise.service.schemas.segment_rules import OTHER
from slotwise.service.storage import open_store
from slotwise.service.storage.placement_transfer import PlacementExport

if TYPE_CHECKING:
    from slotwise.logs.fitting.fit_result import Fit

HOUR = 3_600.0
#: placements that a sentence names
MAX_NAMED = 10


@dataclass(frozen=True)
class StartedPlacements:
    """The placements that were written to a store."""

    names: tuple[str, ...]
    segment: tuple[str, ...]
    #: how fast their counts lose weight, and how much weight is left; empty if they keep it
    decay: str

    def in_words(self) -> str:
        """Return their names in a sentence, with the segments and the decay of their counts."""
        listed = ", ".join(self.names[:MAX_NAMED])
        others = f" and {len(self.names) - MAX_NAMED:,} more" if len(self.names) > MAX_NAMED else ""
        by = f", by {' and '.join(self.segment)}" if self.segment else ""
        return f"Started in the store, with all that was counted{by}: {listed}{others}{self.decay}"


def start_placements(
    fits: Sequence[Fit], url: str, name: str | None = None, segment: Sequence[str] = ()
) -> StartedPlacements:
    """Write a live placement for each fit to a store; none of them if one is rejected.

    Parameters
    ----------
    fits
        The placements of a log, from `slotwise.logs.fit_placements`.
    url
        The store: sqlite:///FILE or postgresql://…
    name
        The name of the placement, for a log of a single one; by default its name in the log.
    segment
        The columns that the fits have segments of, which become the keys of a decision's context.
    """
    if name is not None and len(fits) > 1:
        raise InvalidInput(f"name is for a log of one placement, got {name!r} for {len(fits)}")
    _reject_numbers(fits[0])
    placements = [_portable(fit, name or str(fit.placement), segment) for fit in fits]
    store = open_store(url)
    try:
        existing = {version.placement for version in store.versions()}
        for placement in placements:
            if placement.name in existing:
                raise InvalidInput(
                    f"there is a placement {placement.name!r} in this store already: give another --name"
                )
        for placement in placements:
            store.carry_in(placement)
    finally:
        store.close()
    return StartedPlacements(tuple(each.name for each in placements), tuple(segment), _decay_in_words(fits))


def _portable(fit: Fit, name: str, segment: Sequence[str]) -> PlacementExport:
    first = [item for item in fit.best().items if item is not None]
    periods = None if fit.changes is None else fit.changes.periods
    parts = []
    for part in fit.segments.values() if segment else [fit]:
        values = zip(segment, part.segment, strict=True)
        context = {key: value for key, value in values if value not in ("", OTHER)}
        for period, counted in part.by_period:
            when = None if periods is None or not math.isfinite(periods.width) else periods.at(period + 0.5)
            parts.append(LogCounts(counted, counted.showings, counted.item_ids, context, when))
    by_key = {key: sorted({part.context[key] for part in parts if key in part.context}) for key in segment}
    listed = {key: values for key, values in by_key.items() if values}
    return from_counts(name, parts, first, listed, _half_life_hours(fit))


def _half_life_hours(fit: Fit) -> float | None:
    """Return the half-life of the log, within the limits of a placement; None if nothing decays."""
    if fit.changes is None or fit.changes.half_life is None:
        return None
    hours = fit.changes.half_life * fit.changes.periods.width / HOUR
    return min(max(hours, MIN_HALF_LIFE), MAX_HALF_LIFE)


def _reject_numbers(fit: Fit) -> None:
    """Raise if the times of the log are not times: a service decays counts by the hour."""
    if fit.changes is not None and not fit.changes.periods.is_time:
        periods = fit.changes.periods
        raise InvalidInput(
            "--to-store needs a --time of dates and times, or of seconds since 1970, got numbers from "
            f"{periods.at(0):g} to {periods.at(periods.count):g}: leave --time out, or turn them into times"
        )


def _decay_in_words(fits: Sequence[Fit]) -> str:
    half_life, changes = _half_life_hours(fits[0]), fits[0].changes
    if changes is None or half_life is None:
        return ""
    views = np.sum([fit.changes.impressions for fit in fits if fit.changes is not None], axis=0)
    ages = np.maximum(0.0, time.time() - changes.periods.at(np.arange(changes.periods.count) + 0.5)) / HOUR
    left = float(views @ 0.5 ** (ages / half_life))
    return (
        f". Counts have a half-life of {changes.periods.length_in_words(half_life * HOUR / changes.periods.width)}: "
        f"{views.sum():,} impressions have the weight of {left:,.0f} now"
    )
