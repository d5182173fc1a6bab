"""What is known of a placement, as one document."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from slotwise.ranker import Learner
from slotwise.service.learning.click_values import values_of
from slotwise.service.learning.decay import DecayedCounts
from slotwise.service.learning.decay_selection import faded_counts, read_periods
from slotwise.service.learning.learner_factory import learner_of, matrices, numbered, shows
from slotwise.service.learning.outcome_window import window_now
from slotwise.service.learning.period_counts import PeriodCounts
from slotwise.service.placements.placement_registry import Placements, UnknownPlacement
from slotwise.service.reports.lru_cache import LruCache
from slotwise.service.reports.shadow_report import shadow_report
from slotwise.service.reports.uplift import ALWAYS, Span, UpliftEvidence, read_evidence, uplift
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.schemas.report_schemas import (
    DecisionCounts,
    EstimatesDocument,
    ItemEstimateDocument,
    MemoryDocument,
    ShadowDocument,
    SlotEstimateDocument,
    TallyDocument,
)
from slotwise.service.schemas.segment_rules import VisitorSegments
from slotwise.service.schemas.timestamps import rfc3339
from slotwise.service.storage import Store
from slotwise.service.storage.count_rows import Counters, TallyRow
from slotwise.service.storage.decision_types import Arm
from slotwise.service.storage.placements_table import Version

LEVEL: Final = 0.95
#: documents in the cache, and the items of all of them
MAX_KNOWN: Final = 64
MAX_KNOWN_ITEMS: Final = 128_000


class ForOwner(NamedTuple):
    """What else follows from definition and tally, and only the owner's overview asks for."""

    #: the best list with what is pinned for everybody, and per slot how likely each item is to be there in it
    shown_list: list[str]
    slot_chances: list[dict[str, float]]
    #: per slot, how often it was filled and somebody saw it
    slot_shows: list[int]
    #: what a click on each listed item is worth; empty where nothing is said of values
    values: dict[str, float]


class FromTally(NamedTuple):
    """The part of the document that follows from definition and tally."""

    items: list[ItemEstimateDocument]
    position_bias: list[SlotEstimateDocument]
    tally: TallyDocument
    best_list: list[str]
    shadow: ShadowDocument | None
    memory: MemoryDocument | None
    #: None where it was not asked for
    for_owner: ForOwner | None = None


class EstimatesView(NamedTuple):
    """A document, and what it was made from."""

    document: EstimatesDocument
    version: Version
    definition: PlacementDefinition
    #: of the decisions that the document is about
    counters: Counters
    for_owner: ForOwner | None


@dataclass(frozen=True)
class _Known:
    version: Version
    definition: PlacementDefinition
    #: the hour in which it was found, where what was counted fades
    hour: int | None
    from_tally: FromTally


class _Read(NamedTuple):
    """What the store says at one moment."""

    version: Version
    counters: Mapping[tuple[str, Arm], Counters]
    reported: tuple[int, float | None]
    window_seconds: float
    definition: PlacementDefinition
    evidence: UpliftEvidence
    #: None where the tally is as it was
    rows: list[TallyRow] | None
    #: None where nothing fades, or the tally is as it was
    periods: PeriodCounts | None


#: a placement, and the KEY:VALUE of the visitors that were asked for
_Asked = tuple[str, tuple[str, ...]]


#: the part of each document that follows from definition and tally
KnownEstimates = LruCache[_Asked, _Known]


def known_estimates(max_entries: int = MAX_KNOWN, max_items: int = MAX_KNOWN_ITEMS) -> KnownEstimates:
    """A cache of documents with at most so many items together."""
    return KnownEstimates(max_entries, max_items, lambda known: len(known.from_tally.items))


class PlacementEstimates:
    """Works out documents one after the other, in a thread, and again only when something changed."""

    def __init__(self, placements: Placements, known: KnownEstimates | None = None) -> None:
        self._placements = placements
        self._known = known_estimates() if known is None else known
        self._turn = asyncio.Lock()

    async def document(self, name: str, segment: Sequence[str] = (), span: Span = ALWAYS) -> EstimatesDocument:
        """From the store as it is now, of everybody or of the visitors that all of KEY:VALUE is true of.

        What pays is compared over a time, all else since the start.
        """
        return (await self.look(name, segment, span)).document

    async def look(
        self, name: str, segment: Sequence[str] = (), span: Span = ALWAYS, *, for_owner: bool = False
    ) -> EstimatesView:
        """The same, with what it was made from."""
        asked = name, tuple(segment)
        known: _Known | None = None
        hour = self._placements.hour()

        def read(store: Store) -> _Read:
            # of one moment: a document in which nothing is pending has everything in its tally
            with store.snapshot():
                version = store.version(name)
                if version is None:
                    raise UnknownPlacement(f"there is no placement {name!r}")
                same = known is not None and known.version == version and known.hour in (None, hour)
                same = same and (not for_owner or (known is not None and known.from_tally.for_owner is not None))
                definition = known.definition if known and same else _definition(store, name)
                return _Read(
                    version,
                    store.counters_of(name),
                    store.reported(name),
                    window_now(store, name, definition),
                    definition,
                    _evidence(store, name, definition, segment, span),
                    None if same else store.tally(name),
                    None if same else read_periods(store, name, definition),
                )

        async with self._turn:
            # whoever had their turn before may have asked for the same
            known = self._known.get(asked)
            found = await self._placements.read(read)
            segments = VisitorSegments(found.definition.segments)
            wanted = segments.matching(segment)
            if found.rows is None:
                assert known is not None
                from_tally = known.from_tally
            else:
                from_tally = await asyncio.to_thread(_estimated, found, found.rows, wanted, hour, for_owner)
                fades = None if found.definition.memory is None else hour
                self._known.put(asked, _Known(found.version, found.definition, fades, from_tally))
        by_segment = _by_segment(segments, wanted, found.counters)
        arms = _added(by_segment.values())
        waiting, until = found.reported
        total = sum(arms.values(), Counters())
        document: EstimatesDocument = {
            "items": from_tally.items,
            "position_bias": from_tally.position_bias,
            "tally": from_tally.tally,
            "best_list": from_tally.best_list,
            "decisions": {
                **counts(total),
                "reported": waiting,
                "reported_until": None if until is None else rfc3339(until),
            },
            "by_segment": [
                {"segment": segments.context(number), "decisions": counts(sum(counted.values(), Counters()))}
                for number, counted in sorted(by_segment.items())
            ],
            "window_seconds": found.window_seconds,
            "uplift": uplift(found.evidence),
            "shadow": from_tally.shadow,
            "memory": from_tally.memory,
        }
        return EstimatesView(document, found.version, found.definition, total, from_tally.for_owner)


def _definition(store: Store, name: str) -> PlacementDefinition:
    return PlacementDefinition.model_validate_json(store.definition(name))


def _evidence(
    store: Store, name: str, definition: PlacementDefinition, segment: Sequence[str], span: Span
) -> UpliftEvidence:
    if not segment:
        return read_evidence(store, name, definition, span)
    segments = VisitorSegments(definition.segments)
    wanted = set(segments.matching(segment))
    return read_evidence(store, name, definition, span, lambda text: segments.number(text) in wanted)


def _by_segment(
    segments: VisitorSegments, wanted: Collection[int], counters: Mapping[tuple[str, Arm], Counters]
) -> dict[int, dict[Arm, Counters]]:
    found: dict[int, dict[Arm, Counters]] = {}
    for (text, arm), counted in counters.items():
        number = segments.number(text)
        if number in wanted:
            arms = found.setdefault(number, {})
            arms[arm] = arms.get(arm, Counters()) + counted
    return found


def _added(all_arms: Iterable[Mapping[Arm, Counters]]) -> dict[Arm, Counters]:
    total: dict[Arm, Counters] = {}
    for arms in all_arms:
        for arm, counted in arms.items():
            total[arm] = total.get(arm, Counters()) + counted
    return total


def _estimated(found: _Read, rows: Sequence[TallyRow], wanted: Sequence[int], hour: int, for_owner: bool) -> FromTally:
    faded = faded_counts(found.definition, found.periods, hour)
    return estimated(found.definition, rows, wanted, faded, for_owner=for_owner)


def estimated(
    definition: PlacementDefinition,
    rows: Sequence[TallyRow],
    wanted: Sequence[int] = (0,),
    faded: DecayedCounts | None = None,
    *,
    for_owner: bool = False,
) -> FromTally:
    """Items, slots and tally, of the visitors of the wanted segments.

    Retired items are in the tally, which loses nothing, and not among the items. One segment is judged as the policy
    judges it, beside all others; several together beside the rest. Where counts have `faded`, what is believed rests on
    what is left of them, and whatever is counted here is still of all.
    """
    segments = VisitorSegments(definition.segments)
    everybody = len(wanted) == len(segments)
    one = not everybody and len(wanted) == 1
    learner = learner_of(definition, rows, None if everybody or one else frozenset(wanted), faded)
    number = None if everybody else wanted[0] if one else 1
    found = learner.estimates(LEVEL, number).as_dict()
    items, of_wanted = (
        found["items"][: len(definition.items)],
        [row for row in rows if segments.number(row.segment) in wanted],
    )
    if faded is not None:
        _count_whole(items, definition.slots, of_wanted)
    return FromTally(
        items,
        found["position_bias"],
        _whole_tally(definition, of_wanted),
        list(learner.best_list(number)),
        shadow_report(definition, learner, number),
        None if faded is None else {"half_life_hours": faded.fading.half_life_hours},
        _for_owner(definition, rows, of_wanted, learner, number) if for_owner else None,
    )


def _for_owner(
    definition: PlacementDefinition,
    rows: Sequence[TallyRow],
    wanted: Sequence[TallyRow],
    learner: Learner,
    segment: int | None,
) -> ForOwner:
    shown = [0] * definition.slots
    for row in wanted:
        if row.slot < definition.slots:
            shown[row.slot] += row.shows
    listed = [item.id for item in definition.items]
    has_values = definition.values is not None or any(item.value is not None for item in definition.items)
    values = values_of(definition, listed, rows).tolist() if has_values else []
    return ForOwner(
        list(learner.best_list(segment, definition.pin)),
        learner.slot_chances(segment, definition.pin),
        shown,
        dict(zip(listed, values, strict=False)),
    )


def _count_whole(items: list[ItemEstimateDocument], slots: int, rows: Sequence[TallyRow]) -> None:
    """Say how often items were shown and clicked, whatever that weighs by now."""
    numbers = numbered(item["id"] for item in items)
    clicks, shown = matrices(rows, numbers, slots)[0].sum(axis=0), shows(rows, numbers, slots)
    for number, item in enumerate(items):
        item["clicks"], item["shown"] = int(clicks[number]), int(shown[number])


def _whole_tally(definition: PlacementDefinition, rows: Sequence[TallyRow]) -> TallyDocument:
    names = dict.fromkeys(item.id for item in definition.items)
    names.update(dict.fromkeys(sorted({row.item for row in rows})))
    slots = max([definition.slots, *(row.slot + 1 for row in rows)])
    clicks, passes = matrices(rows, numbered(names), slots)
    return {"items": list(names), "clicks": clicks.tolist(), "passes": passes.tolist()}


def counts(total: Counters) -> DecisionCounts:
    """As a document."""
    return {
        "issued": total.issued,
        "final": total.final,
        "pending": total.pending,
        "clicked": total.clicked,
        "no_click": total.no_click,
        "not_shown": total.not_shown,
        "late": total.late,
        "several": total.several,
        "value": total.value,
    }
