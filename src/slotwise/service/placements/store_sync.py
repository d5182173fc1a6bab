"""From what the store has now to what a worker holds: a placement anew, or more for one to absorb."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from pydantic import ValidationError

from slotwise.core.errors import SlotwiseError, StoreUnavailable
from slotwise.core.tally import Tally
from slotwise.core.types import FloatArray, IntArray
from slotwise.service.learning.click_values import values_of
from slotwise.service.learning.decay import Recent
from slotwise.service.learning.decay_selection import faded_counts, read_periods, read_recent
from slotwise.service.learning.learner_factory import by_segment, learner_of, matrices, numbered
from slotwise.service.learning.outcome_window import window_now
from slotwise.service.placements.placement_state import NewCounts, Placement
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.schemas.segment_rules import VisitorSegments
from slotwise.service.schemas.validation_errors import faults
from slotwise.service.storage import Store
from slotwise.service.storage.count_rows import PeriodRow, TallyRow
from slotwise.service.storage.placements_table import Version

#: a learned value that changed by less, relatively, is left as it is
MIN_CHANGE: Final = 0.001

log = logging.getLogger("slotwise.service")


@dataclass(frozen=True)
class Broken:
    """A placement that cannot be read, and when that was found."""

    version: Version
    why: str
    found: float = field(default_factory=time.monotonic)


def look(store: Store, version: Version, known: Placement | None, hour: int) -> Placement | NewCounts | Broken:
    """What has become of a placement, given what is known of it and the hour that has begun."""
    try:
        return _changed(store, version, known, hour)
    except StoreUnavailable:
        raise
    except Exception as problem:
        return _found_broken(version, problem)


def absorbing(more: NewCounts) -> Placement | Broken:
    """The placement, once it has taken in more."""
    placement = more.placement
    try:
        placement.absorb(more)
    except Exception as problem:
        return _found_broken(Version(placement.name, placement.version, more.revision), problem)
    return placement


def _found_broken(version: Version, problem: Exception) -> Broken:
    # one that cannot be followed must not hold up the others
    log.error("placement cannot be followed", extra={"placement": version.placement}, exc_info=problem)
    return Broken(version, _why(problem))


def _why(problem: Exception) -> str:
    """In words that show nothing of the inside."""
    if isinstance(problem, ValidationError):
        fault = faults(problem, whole="the definition")[0]
        return f"{fault['field']}: {fault['detail']}" + (f", got {fault['value']}" if "value" in fault else "")
    return str(problem) if isinstance(problem, SlotwiseError) else "an error inside, which was logged"


def _changed(store: Store, version: Version, known: Placement | None, hour: int) -> Placement | NewCounts:
    name = version.placement
    if known is not None and known.version == version.version and (more := _more(store, version, known, hour)):
        return more
    definition = PlacementDefinition.model_validate_json(store.definition(name))
    with store.snapshot():
        rows = store.tally(name)
        periods = read_periods(store, name, definition)
        recent = read_recent(store, name, definition, hour)
    faded = faded_counts(definition, periods, hour)
    learner, segments = learner_of(definition, rows, faded=faded), VisitorSegments(definition.segments)
    numbers = numbered(learner.items)
    older = by_segment(segments, [row for row in rows if not segments.is_current(row.segment)])
    return Placement(
        name,
        definition,
        learner,
        numbers,
        version.version,
        version.revision,
        segments,
        {segment: Tally(*matrices(counted, numbers, definition.slots)) for segment, counted in older.items()},
        _brought(rows),
        window_now(store, name, definition),
        None if faded is None else Recent.of(recent, faded.fading, definition.longest_window),
    )


def _more(store: Store, version: Version, known: Placement, hour: int) -> NewCounts | None:
    """What is to be added to what is known; None where that has to start anew."""
    name, recent = version.placement, known.recent
    rows = store.tally(name, since=known.revision)
    periods: list[PeriodRow] = []
    counts: Mapping[int, tuple[IntArray, IntArray] | tuple[FloatArray, FloatArray]] | None
    if recent is None:
        counts = known.more(rows)
    elif recent.fading.hour != hour:
        return None
    else:
        periods = store.period_tally(name, after=known.revision)
        counts = known.more_weighed(recent, periods)
    if counts is None:
        return None
    known.brought.update(_brought(rows))
    window = window_now(store, name, known.definition)
    return NewCounts(known, counts, _new_values(known), window, version.revision, periods)


def _brought(rows: Iterable[TallyRow]) -> dict[tuple[str, int, str], TallyRow]:
    return {(row.segment, row.slot, row.item): row for row in rows if row.valued}


def _new_values(known: Placement) -> dict[str, float]:
    """The values that changed by enough to matter, where they are learned."""
    if known.definition.values != "learned":
        return {}
    items = [*known.numbers]
    values, before = values_of(known.definition, items, known.brought.values()), known.learner.values
    return {
        item: value
        for item, value in zip(items, values.tolist(), strict=True)
        if abs(value - before[item]) > MIN_CHANGE * before[item]
    }
