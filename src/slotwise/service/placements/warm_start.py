"""Live placements that start from the counts of a fitted click log."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from pydantic import ValidationError

from slotwise.core.errors import InvalidInput, SlotwiseError
from slotwise.core.tally import Tally
from slotwise.core.types import IntArray
from slotwise.jit.background_compile import compiling
from slotwise.service.learning.learner_factory import try_out
from slotwise.service.schemas.definition import MAX_HALF_LIFE, MIN_HALF_LIFE, PlacementDefinition
from slotwise.service.schemas.name_rules import checked_name
from slotwise.service.schemas.segment_rules import OTHER, VisitorSegments
from slotwise.service.schemas.validation_errors import faults
from slotwise.service.storage import open_store
from slotwise.service.storage.count_rows import CountPeriod, PeriodRow, TallyRow
from slotwise.service.storage.decision_types import HOUR, hour_of
from slotwise.service.storage.placement_transfer import PlacementExport

if TYPE_CHECKING:
    from slotwise.logs.fitting.fit_result import Fit

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


class LogCounts(NamedTuple):
    """Counts of all visitors or of one segment, at one time or over all time."""

    tally: Tally
    #: slots × items: how often an item was in a slot
    showings: IntArray
    item_ids: Sequence[str]
    #: the context of these visitors
    context: Mapping[str, str] = {}
    #: seconds since 1970, from which the counts decay; None for now
    time: float | None = None


def from_counts(
    name: str,
    parts: Sequence[LogCounts],
    first: Sequence[str],
    segments: Mapping[str, Sequence[str]] | None = None,
    half_life: float | None = None,
) -> PlacementExport:
    """A placement with the items and counts of a log, for a store.

    The counts belong to no arm, so that they are separate from the counts of the service's own decisions.

    Parameters
    ----------
    name
        The name of the placement.
    parts
        The counts.
    first
        Items that come first in the control order.
    segments
        Listed values by key; other values count as *other*.
    half_life
        The half-life of the counts, in hours; None for no decay.
    """
    ids = list(dict.fromkeys([*first, *(id for part in parts for id in part.item_ids)]))
    options = {
        "slots": max(part.tally.slots for part in parts),
        "items": ids,
        "segments": segments or {},
        "half_life": half_life,
    }
    try:
        definition = PlacementDefinition.model_validate(options)
    except ValidationError as problem:
        fault = faults(problem, whole="the placement")[0]
        raise InvalidInput(f"{name} cannot be served: {fault['field']}: {fault['detail']}") from None
    periods = _rows(parts, VisitorSegments(definition.segments), time.time())
    rows = _totals(periods)
    try:
        with compiling("never"):
            try_out(definition, rows)
    except SlotwiseError as problem:
        raise InvalidInput(f"{name} cannot be served: {problem}") from None
    return PlacementExport(checked_name(name), definition.text(), rows, {}, periods)


def _rows(parts: Sequence[LogCounts], segments: VisitorSegments, now: float) -> list[PeriodRow]:
    """The counts by time, segment, slot and item."""
    total: dict[tuple[CountPeriod, str, int, str], IntArray] = {}
    for part in parts:
        period = CountPeriod(hour_of(now if part.time is None else part.time), 0)
        segment, tally = segments.text(part.context), part.tally
        for slot, item in np.argwhere(part.showings).tolist():
            counts = np.array([tally.clicks[slot, item], tally.passes[slot, item], part.showings[slot, item]])
            key = period, segment, slot, part.item_ids[item]
            total[key] = total[key] + counts if key in total else counts
    return [
        PeriodRow(period, segment, "", slot, item, *counts.tolist())
        for (period, segment, slot, item), counts in total.items()
    ]


def _totals(periods: Sequence[PeriodRow]) -> list[TallyRow]:
    """The counts over all time."""
    total: dict[tuple[str, int, str], IntArray] = {}
    for row in periods:
        key = row.segment, row.slot, row.item
        total[key] = total.get(key, np.zeros(3, np.int64)) + np.array(row.counts())
    return [
        TallyRow(slot, item, int(clicks), int(passes), int(shows), segment=segment)
        for (segment, slot, item), (clicks, passes, shows) in total.items()
    ]
