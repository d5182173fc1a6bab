"""From the store to a worker's memory: a new placement, or new counts for a known one."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from pydantic import ValidationError

from slotwise.core.errors import SlotwiseError, StoreUnavailable
from slotwise.core.tally import Tally
from slotwise.core.types import FloatArray, IntArray
from slotwise.service.learning.click_values import values_of
from slotwise.service.learning.decay import RecentCounts
from slotwise.service.learning.half_life_selection import decayed_counts, read_periods, read_recent
from slotwise.service.learning.learner_factory import by_segment, learner_of, matrices, numbered, read_candidates
from slotwise.service.learning.outcome_window import window_now
from slotwise.service.placements.placement_state import NewCounts, Placement
from slotwise.service.schemas.definition import MAX_CANDIDATES, PlacementDefinition
from slotwise.service.schemas.segment_rules import VisitorSegments
from slotwise.service.schemas.validation_errors import faults
from slotwise.service.storage import Store
from slotwise.service.storage.candidate_items import CandidateItem
from slotwise.service.storage.count_rows import PeriodRow, TallyRow
from slotwise.service.storage.placements_table import Version

#: smaller relative changes of a learned value are ignored
MIN_CHANGE: Final = 0.001

log = logging.getLogger("slotwise.service")


@dataclass(frozen=True)
class UnreadablePlacement:
    """A placement that cannot be read, the reason, and when that was noticed."""

    version: Version
    why: str
    noticed: float = field(default_factory=time.monotonic)


def read_changes(
    store: Store, version: Version, earlier: Placement | None, hour: int
) -> Placement | NewCounts | UnreadablePlacement:
    """The changes of a placement since it was last read, given the hour that has begun."""
    try:
        return _changed(store, version, earlier, hour)
    except StoreUnavailable:
        raise
    except Exception as problem:
        return _unreadable(version, problem)


def with_counts(new_counts: NewCounts) -> Placement | UnreadablePlacement:
    """The placement after it has learned new counts; a copy of a large one, which decides meanwhile."""
    placement = new_counts.placement
    try:
        if placement.is_large:
            placement = replace(placement, learner=placement.learner.copy(), drawn={})
        placement.learn(new_counts)
        if placement.is_large:
            placement.learner.start(best_lists=not placement.definition.exploring)
    except Exception as problem:
        return _unreadable(Version(placement.name, placement.version, new_counts.revision), problem)
    return placement


def _unreadable(version: Version, problem: Exception) -> UnreadablePlacement:
    # a placement that cannot be read must not delay the others
    log.error("placement cannot be followed", extra={"placement": version.placement}, exc_info=problem)
    return UnreadablePlacement(version, _why(problem))


def _why(problem: Exception) -> str:
    """The reason, without internals."""
    if isinstance(problem, ValidationError):
        fault = faults(problem, whole="the definition")[0]
        return f"{fault['field']}: {fault['detail']}" + (f", got {fault['value']}" if "value" in fault else "")
    return str(problem) if isinstance(problem, SlotwiseError) else "an internal error, which was logged"


def _changed(store: Store, version: Version, earlier: Placement | None, hour: int) -> Placement | NewCounts:
    name = version.placement
    if (
        earlier is not None
        and earlier.version == version.version
        and (new_counts := _new_counts(store, version, earlier, hour))
    ):
        return new_counts
    definition = PlacementDefinition.model_validate_json(store.definition(name))
    with store.snapshot():
        rows, candidates = store.tally(name), read_candidates(store, name, definition)
        periods = read_periods(store, name, definition)
        recent = read_recent(store, name, definition, hour)
    decayed = decayed_counts(definition, periods, hour)
    learner, segments = learner_of(definition, rows, None, decayed, candidates), VisitorSegments(definition.segments)
    # here and not at the first decision, which others would wait for
    learner.start(best_lists=not definition.exploring)
    numbers = numbered(learner.items)
    outdated = by_segment(segments, [row for row in rows if not segments.is_current(row.segment)])
    return Placement(
        name,
        definition,
        learner,
        numbers,
        version.version,
        version.revision,
        segments,
        {segment: Tally(*matrices(group, numbers, definition.slots)) for segment, group in outdated.items()},
        _valued_rows(rows),
        window_now(store, name, definition),
        None if decayed is None else RecentCounts.of(recent, decayed.decay, definition.longest_window),
    )


def _new_counts(store: Store, version: Version, earlier: Placement, hour: int) -> NewCounts | None:
    """The new counts of a placement; None if it has to be rebuilt."""
    name, recent = version.placement, earlier.recent
    admitted = admit(earlier, read_candidates(store, name, earlier.definition, earlier.revision))
    if admitted is None:
        return None
    rows = store.tally(name, since=earlier.revision)
    periods: list[PeriodRow] = []
    counts: Mapping[int, tuple[IntArray, IntArray] | tuple[FloatArray, FloatArray]] | None
    if recent is None:
        counts = earlier.new_counts(rows, admitted.numbers)
    elif recent.decay.hour != hour:
        return None
    else:
        periods = store.period_tally(name, after=earlier.revision)
        counts = earlier.new_weighted_counts(recent, periods, admitted.numbers)
    if counts is None:
        return None
    earlier.valued_rows.update(_valued_rows(rows))
    window = window_now(store, name, earlier.definition)
    return NewCounts(earlier, counts, _new_values(earlier), window, version.revision, *admitted, periods)


class _Admitted(NamedTuple):
    #: the learner's items, and those that are new in it
    numbers: Mapping[str, int]
    items: Sequence[CandidateItem] = ()


def admit(placement: Placement, candidates: Sequence[CandidateItem]) -> _Admitted | None:
    """The columns of candidate items that were learned since; None if the learner has to be rebuilt.

    It is rebuilt when too few columns are left for new candidates of a decision, and for an item that was dropped and
    is learned again.
    """
    new = [candidate for candidate in candidates if candidate.since > placement.revision]
    if not new:
        return _Admitted(placement.numbers)
    spare = placement.learner.spare
    if len(spare) - len(new) < MAX_CANDIDATES or any(candidate.item in placement.numbers for candidate in new):
        return None
    numbers = dict(placement.numbers)
    for candidate, id in zip(new, spare, strict=False):
        numbers[candidate.item] = numbers.pop(id)
    return _Admitted(numbers, new)


def _valued_rows(rows: Iterable[TallyRow]) -> dict[tuple[str, int, str], TallyRow]:
    return {(row.segment, row.slot, row.item): row for row in rows if row.valued}


def _new_values(placement: Placement) -> dict[str, float]:
    """Changed values of clicks, if they are learned."""
    if not placement.definition.learns_values:
        return {}
    items = [*placement.numbers]
    values, before = values_of(placement.definition, items, placement.valued_rows.values()), placement.learner.values
    return {
        item: value
        for item, value in zip(items, values.tolist(), strict=True)
        if abs(value - before[item]) > MIN_CHANGE * before[item]
    }
