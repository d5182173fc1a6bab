"""A placement that begins with what a click log has counted, instead of with nothing."""

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


class Counted(NamedTuple):
    """What was counted of all visitors, or of those of one segment; at one time, or all in all."""

    tally: Tally
    #: slots × items: how often an item stood in a slot, whatever was clicked
    showings: IntArray
    item_ids: Sequence[str]
    #: what is known of these visitors, by the keys of the segments
    context: Mapping[str, str] = {}
    #: seconds since 1970, from when on the counts fade where the placement is to forget; None for now
    time: float | None = None


def from_counts(
    name: str,
    parts: Sequence[Counted],
    first: Sequence[str],
    segments: Mapping[str, Sequence[str]] | None = None,
    half_life_hours: float | None = None,
) -> PlacementExport:
    """For a store: all items that were counted, those in `first` before the others, and all that was counted of them.

    The counts are of their time, or of now, and of no arm: what the service's own decisions come to is told apart from
    them. A visitor with a value that `segments` do not list is counted among *other*.
    """
    ids = list(dict.fromkeys([*first, *(id for part in parts for id in part.item_ids)]))
    memory = None if half_life_hours is None else {"half_life_hours": half_life_hours}
    given = {
        "slots": max(part.tally.slots for part in parts),
        "items": ids,
        "segments": segments or {},
        "memory": memory,
    }
    try:
        definition = PlacementDefinition.model_validate(given)
    except ValidationError as problem:
        fault = faults(problem, whole="the placement")[0]
        raise InvalidInput(f"{name} cannot be served: {fault['field']}: {fault['detail']}") from None
    periods = _rows(parts, VisitorSegments(definition.segments), time.time())
    rows = _all_in_all(periods)
    try:
        with compiling("never"):
            try_out(definition, rows)
    except SlotwiseError as problem:
        raise InvalidInput(f"{name} cannot be served: {problem}") from None
    return PlacementExport(checked_name(name), definition.text(), rows, {}, periods)


def _rows(parts: Sequence[Counted], segments: VisitorSegments, now: float) -> list[PeriodRow]:
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


def _all_in_all(periods: Sequence[PeriodRow]) -> list[TallyRow]:
    """The same counts, whenever they were."""
    total: dict[tuple[str, int, str], IntArray] = {}
    for row in periods:
        key = row.segment, row.slot, row.item
        total[key] = total.get(key, np.zeros(3, np.int64)) + np.array(row.counts())
    return [
        TallyRow(slot, item, int(clicks), int(passes), int(shows), segment=segment)
        for (segment, slot, item), (clicks, passes, shows) in total.items()
    ]
