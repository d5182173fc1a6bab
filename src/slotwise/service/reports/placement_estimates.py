"""The estimates of a placement, as one document."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from slotwise.core.types import FloatArray
from slotwise.ranker import Learner
from slotwise.service.learning.click_values import values_of
from slotwise.service.learning.decay import DecayedCounts
from slotwise.service.learning.half_life_selection import decayed_counts, read_periods
from slotwise.service.learning.learner_factory import learner_of, matrices, numbered, read_candidates, shows
from slotwise.service.learning.outcome_window import window_now
from slotwise.service.learning.period_counts import PeriodCounts
from slotwise.service.placements.admission import Admission
from slotwise.service.placements.placement_registry import Placements, UnknownPlacement
from slotwise.service.reports.lru_cache import LruCache
from slotwise.service.reports.uplift import ALWAYS, Span, UpliftEvidence, read_evidence, uplift
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.schemas.report_schemas import (
    DecisionCounts,
    EstimatesDocument,
    Expectation,
    ItemEstimateDocument,
    ModelCheckDocument,
    ShadowDocument,
    SlotEstimateDocument,
    TallyDocument,
)
from slotwise.service.schemas.segment_rules import VisitorSegments
from slotwise.service.schemas.timestamps import rfc3339
from slotwise.service.storage import Store
from slotwise.service.storage.candidate_items import CandidateItem, CandidateTotals
from slotwise.service.storage.count_rows import Counters, TallyRow
from slotwise.service.storage.decision_types import Arm
from slotwise.service.storage.placements_table import Version

LEVEL: Final = 0.95
#: percentiles of the 95 % credible interval
ENDS: Final = (2.5, 97.5)
#: documents in the cache, and the items of all of them
MAX_KNOWN: Final = 64
MAX_KNOWN_ITEMS: Final = 128_000

#: requests that wait for their turn; each turn takes milliseconds
MAX_ESTIMATES: Final = 200


class ForOwner(NamedTuple):
    """Further results from definition and tally, for the owner's overview only."""

    #: the best list with the placement's pins, and per slot the probability of each item
    shown_list: list[str]
    slot_chances: list[dict[str, float]]
    #: per slot, how often it was filled in a list that was seen
    slot_shows: list[int]
    #: the value of a click by item; empty if the placement has no values
    values: dict[str, float]


class FromTally(NamedTuple):
    """The part of the document that follows from definition and tally."""

    items: list[ItemEstimateDocument]
    position_bias: list[SlotEstimateDocument]
    tally: TallyDocument
    best_list: list[str]
    shadow: ShadowDocument | None
    half_life: float | None
    model_check: ModelCheckDocument
    #: None if it was not requested
    for_owner: ForOwner | None = None


class EstimatesView(NamedTuple):
    """A document with its inputs."""

    document: EstimatesDocument
    version: Version
    definition: PlacementDefinition
    #: counters of the decisions that the document is about
    counters: Counters
    for_owner: ForOwner | None


@dataclass(frozen=True)
class _Known:
    version: Version
    definition: PlacementDefinition
    #: the hour of the computation if counts decay, otherwise None
    hour: int | None
    from_tally: FromTally


class _Reading(NamedTuple):
    """A consistent reading of the store."""

    version: Version
    counters: Mapping[tuple[str, Arm], Counters]
    reported: tuple[int, float | None]
    window_seconds: float
    definition: PlacementDefinition
    evidence: UpliftEvidence
    #: None if the tally has not changed
    rows: list[TallyRow] | None
    #: None if counts do not decay, or the tally has not changed
    periods: PeriodCounts | None
    #: those that the estimates rest on, if the tally has changed
    candidates: Sequence[CandidateItem]
    candidate_totals: CandidateTotals


#: a placement and segment filters KEY:VALUE
_Key = tuple[str, tuple[str, ...]]


#: the part of each document that follows from definition and tally
KnownEstimates = LruCache[_Key, _Known]


def known_estimates(max_entries: int = MAX_KNOWN, max_items: int = MAX_KNOWN_ITEMS) -> KnownEstimates:
    """A cache of documents, with a maximum of their items together."""
    return KnownEstimates(max_entries, max_items, lambda known: len(known.from_tally.items))


class PlacementEstimates:
    """Computes documents one after the other, in a thread, and again only when something changed."""

    def __init__(self, placements: Placements, known: KnownEstimates | None = None) -> None:
        self._placements = placements
        self._known = known_estimates() if known is None else known
        self._turn = asyncio.Lock()
        self._admission = Admission(MAX_ESTIMATES, "estimates")

    async def document(self, name: str, segment: Sequence[str] = (), span: Span = ALWAYS) -> EstimatesDocument:
        """The estimates from the store as it is now, of all visitors or of those that match the filters KEY:VALUE.

        The uplift is over a time span, everything else since the start.
        """
        return (await self.look(name, segment, span)).document

    async def look(
        self, name: str, segment: Sequence[str] = (), span: Span = ALWAYS, *, for_owner: bool = False
    ) -> EstimatesView:
        """The document with its inputs; with `for_owner`, also the results for the overview."""
        with self._admission:
            return await self._look(name, segment, span, for_owner)

    async def _look(self, name: str, segment: Sequence[str], span: Span, for_owner: bool) -> EstimatesView:
        key, hour = (name, tuple(segment)), self._placements.hour()
        async with self._turn:
            # the request before this one may have been the same
            known = self._known.get(key)
            if for_owner and known is not None and known.from_tally.for_owner is None:
                known = None
            reading = await self._placements.read(lambda store: _read(store, name, segment, span, known, hour))
            matching = VisitorSegments(reading.definition.segments).matching(segment)
            if reading.rows is None:
                assert known is not None
                from_tally = known.from_tally
            else:
                from_tally = await asyncio.to_thread(_estimated, reading, reading.rows, matching, hour, for_owner)
                decay_hour = None if reading.definition.half_life is None else hour
                self._known.put(key, _Known(reading.version, reading.definition, decay_hour, from_tally))
        return _view(reading, from_tally, matching)


def _read(store: Store, name: str, segment: Sequence[str], span: Span, known: _Known | None, hour: int) -> _Reading:
    """Read a placement in one snapshot: a document without pending decisions has all of them in its tally."""
    with store.snapshot():
        version = store.version(name)
        if version is None:
            raise UnknownPlacement(f"there is no placement {name!r}")
        is_same = known is not None and known.version == version and known.hour in (None, hour)
        definition = known.definition if known and is_same else _definition(store, name)
        return _Reading(
            version,
            store.counters_of(name),
            store.reported(name),
            window_now(store, name, definition),
            definition,
            _evidence(store, name, definition, segment, span),
            None if is_same else store.tally(name),
            None if is_same else read_periods(store, name, definition),
            () if is_same else read_candidates(store, name, definition),
            store.candidate_totals(name),
        )


def _view(reading: _Reading, from_tally: FromTally, matching: Sequence[int]) -> EstimatesView:
    segments = VisitorSegments(reading.definition.segments)
    by_segment = _by_segment(segments, matching, reading.counters)
    reported, until = reading.reported
    totals = reading.candidate_totals
    total = sum(by_segment.values(), Counters())
    document: EstimatesDocument = {
        "items": from_tally.items,
        "position_bias": from_tally.position_bias,
        "tally": from_tally.tally,
        "best_list": from_tally.best_list,
        "decisions": {
            **counts(total),
            "reported": reported,
            "reported_until": None if until is None else rfc3339(until),
        },
        "by_segment": [
            {"segment": segments.context(number), "decisions": counts(counted)}
            for number, counted in by_segment.items()
        ],
        "window_seconds": reading.window_seconds,
        "uplift": uplift(reading.evidence),
        "shadow": from_tally.shadow,
        "half_life": from_tally.half_life,
        "candidate_items": {"learned": totals.learned, "dropped": totals.dropped},
        "model_check": from_tally.model_check,
    }
    return EstimatesView(document, reading.version, reading.definition, total, from_tally.for_owner)


def _definition(store: Store, name: str) -> PlacementDefinition:
    return PlacementDefinition.model_validate_json(store.definition(name))


def _evidence(
    store: Store, name: str, definition: PlacementDefinition, segment: Sequence[str], span: Span
) -> UpliftEvidence:
    if not segment:
        return read_evidence(store, name, definition, span)
    segments = VisitorSegments(definition.segments)
    matching = set(segments.matching(segment))
    return read_evidence(store, name, definition, span, lambda text: segments.number(text) in matching)


def _by_segment(
    segments: VisitorSegments, wanted: Collection[int], counters: Mapping[tuple[str, Arm], Counters]
) -> dict[int, Counters]:
    """The counters of all arms together, by the number of the segment and in order."""
    by_segment: dict[int, Counters] = {}
    for (text, _), counted in counters.items():
        number = segments.number(text)
        if number in wanted:
            by_segment[number] = by_segment.get(number, Counters()) + counted
    return dict(sorted(by_segment.items()))


def _estimated(
    reading: _Reading, rows: Sequence[TallyRow], chosen: Sequence[int], hour: int, for_owner: bool
) -> FromTally:
    decayed = decayed_counts(reading.definition, reading.periods, hour)
    return estimated(reading.definition, rows, chosen, decayed, reading.candidates, for_owner=for_owner)


def estimated(
    definition: PlacementDefinition,
    rows: Sequence[TallyRow],
    chosen: Sequence[int] = (0,),
    decayed: DecayedCounts | None = None,
    candidates: Sequence[CandidateItem] = (),
    *,
    for_owner: bool = False,
) -> FromTally:
    """Estimates of items and slots, and the tally, of some segments.

    Retired items are in the tally and not among the items. One segment is estimated as the policy does, pooled with the
    other segments; several segments are merged into one and pooled with the others. With `decayed` counts, the
    estimates rest on them, and the numbers of shows and clicks are still undecayed.
    """
    segments = VisitorSegments(definition.segments)
    is_all = len(chosen) == len(segments)
    is_single = not is_all and len(chosen) == 1
    learner = learner_of(definition, rows, None if is_all or is_single else frozenset(chosen), decayed, candidates)
    number = None if is_all else chosen[0] if is_single else 1
    found = learner.estimates(LEVEL, number)
    estimates, check = found.to_dict(), found.model_check
    items, of_chosen = (
        estimates["items"][: len(definition.items)],
        [row for row in rows if segments.number(row.segment) in chosen],
    )
    if decayed is not None:
        _restore_counts(items, definition.slots, of_chosen)
    return FromTally(
        items,
        [
            {"slot": row["slot"], "estimate": row["position_bias"], "low": row["low"], "high": row["high"]}
            for row in estimates["slots"]
        ],
        _tally(definition, of_chosen),
        list(learner.best_list(number)),
        _shadow_report(definition, learner, number),
        None if decayed is None else decayed.decay.half_life,
        {
            "is_tested": check.is_tested,
            "is_wrong": check.is_wrong,
            "evidence": check.evidence,
            "spread": check.spread,
            "sentence": check.sentence,
        },
        _for_owner(definition, rows, of_chosen, learner, number) if for_owner else None,
    )


def _for_owner(
    definition: PlacementDefinition,
    rows: Sequence[TallyRow],
    chosen: Sequence[TallyRow],
    learner: Learner,
    segment: int | None,
) -> ForOwner:
    shown = [0] * definition.slots
    for row in chosen:
        if row.slot < definition.slots:
            shown[row.slot] += row.shows
    ids = [item.id for item in definition.items]
    has_values = definition.learns_values or any(item.value is not None for item in definition.items)
    values = values_of(definition, ids, rows).tolist() if has_values else []
    return ForOwner(
        list(learner.best_list(segment, definition.pin)),
        learner.slot_chances(segment, definition.pin),
        shown,
        dict(zip(ids, values, strict=False)),
    )


def _shadow_report(definition: PlacementDefinition, learner: Learner, segment: int | None) -> ShadowDocument | None:
    """The best list compared with the control order, under the posterior; None unless the mode is `shadow`."""
    if definition.mode != "shadow":
        return None
    best, control = learner.best_list(segment), [item.id for item in definition.items[: definition.slots]]
    of_best, of_control = learner.list_values([best, control], segment)
    has_values = len(set(learner.values.values())) > 1
    return {
        "would_show": list(best),
        "shows": control,
        "measure": "value" if has_values else "click_rate",
        "would_bring": _expected(of_best),
        "brings": _expected(of_control),
        "difference": _expected(of_best - of_control),
    }


def _expected(draws: FloatArray) -> Expectation:
    low, high = np.percentile(draws, ENDS).tolist()
    return {"estimate": float(draws.mean()), "low": low, "high": high}


def _restore_counts(items: list[ItemEstimateDocument], slots: int, rows: Sequence[TallyRow]) -> None:
    """Replace decayed numbers of shows and clicks by undecayed ones."""
    numbers = numbered(item["id"] for item in items)
    clicks, shown = matrices(rows, numbers, slots)[0].sum(axis=0), shows(rows, numbers, slots)
    for number, item in enumerate(items):
        item["clicks"], item["shown"] = int(clicks[number]), int(shown[number])


def _tally(definition: PlacementDefinition, rows: Sequence[TallyRow]) -> TallyDocument:
    names = dict.fromkeys(item.id for item in definition.items)
    names.update(dict.fromkeys(sorted({row.item for row in rows})))
    slots = max([definition.slots, *(row.slot + 1 for row in rows)])
    clicks, passes = matrices(rows, numbered(names), slots)
    return {"items": list(names), "clicks": clicks.tolist(), "passes": passes.tolist()}


def counts(total: Counters) -> DecisionCounts:
    """Counters as a document."""
    return {
        "issued": total.issued,
        "final": total.final,
        "pending": total.pending,
        "clicked": total.clicked,
        "no_click": total.no_click,
        "not_shown": total.not_shown,
        "capped": total.capped,
        "late": total.late,
        "several": total.several,
        "value": total.value,
    }
