"""Placements that start from the counts of a click log."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from pydantic import ValidationError

from slotwise.core.errors import InvalidInput, SlotwiseError
from slotwise.core.tally import Tally
from slotwise.core.types import IntArray
from slotwise.jit.background_compile import compiling
from slotwise.service.learning.learner_factory import try_out
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.schemas.name_rules import checked_name
from slotwise.service.schemas.segment_rules import VisitorSegments
from slotwise.service.schemas.validation_errors import faults
from slotwise.service.storage.count_rows import CountPeriod, PeriodRow, TallyRow
from slotwise.service.storage.decision_types import hour_of
from slotwise.service.storage.placement_transfer import PlacementExport


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
