"""The owner's overview of a placement, from estimates, counters and history."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from slotwise.service.learning.period_counts import PeriodCounts
from slotwise.service.placements.placement_registry import Placements
from slotwise.service.reports.drift_view import BEFORE_DAYS, RECENT_DAYS, DriftReport, find_drift
from slotwise.service.reports.guardrails import read_guardrails
from slotwise.service.reports.health_checks import Observed, checks_of
from slotwise.service.reports.learning_status import QUIET_SECONDS, Facts, state
from slotwise.service.reports.lru_cache import LruCache
from slotwise.service.reports.model_fit_view import ModelFit, fit
from slotwise.service.reports.placement_estimates import EstimatesView, ForOwner, PlacementEstimates
from slotwise.service.reports.uplift import Span, pays
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.schemas.item_schema import ItemLabel, label_of
from slotwise.service.schemas.overview_schemas import (
    GuardrailDocument,
    ItemNow,
    ItemsPage,
    OverviewCounts,
    OverviewDocument,
    SlotBias,
    SlotNow,
)
from slotwise.service.schemas.report_schemas import EstimatesDocument, ItemEstimateDocument
from slotwise.service.schemas.timestamps import rfc3339
from slotwise.service.storage import Store
from slotwise.service.storage.count_rows import Counters
from slotwise.service.storage.decision_types import DAY, HOUR
from slotwise.service.storage.placements_table import Version

#: items and segments in an overview
MAX_ITEMS: Final = 50
MAX_SEGMENTS: Final = 50
#: days that are searched for the time since which a list has been best
BEST_DAYS: Final = 90
#: placements with a cached hourly summary
MAX_BY_HOUR: Final = 64


class _ByHour(NamedTuple):
    """Results that are computed once an hour, because reading their inputs is slow."""

    hour: int
    version: int
    drift: DriftReport
    #: starts of hours and the best list at their ends
    ends: list[tuple[int, list[str]]]


@dataclass(frozen=True)
class OverviewRequest:
    """An overview request: placement, segment filters and uplift period."""

    name: str
    segment: tuple[str, ...] = ()
    period: str = "7d"


class Overviews:
    """Builds overviews; callers limit how often."""

    def __init__(self, placements: Placements, estimates: PlacementEstimates) -> None:
        self._placements, self._estimates = placements, estimates
        self._by_hour = LruCache[str, _ByHour](MAX_BY_HOUR)

    async def document(self, request: OverviewRequest, now: float, staleness: float = 0.0) -> OverviewDocument:
        """The overview, from the store as it is now."""
        span = Span.parse(now, period=request.period)
        recent = (await self._estimates.look(request.name, request.segment, span, for_owner=True)).document["uplift"]
        view = await self._estimates.look(request.name, request.segment, for_owner=True)
        overall = view if not request.segment else await self._estimates.look(request.name, for_owner=True)
        by_hour = await self._of_this_hour(overall, now)
        last = await self._placements.read(lambda store: _last_hour(store, request.name, now))
        guardrails = await self._placements.read(
            lambda store: read_guardrails(store, request.name, view.definition) if view.definition.guardrails else []
        )
        estimates, definition, details = view.document, view.definition, view.for_owner
        assert details is not None
        assert overall.for_owner is not None
        has_counts = _has_counts(view.counters)
        best_list = _best_list(definition, details, has_counts)
        items = relevant(estimates["items"], details.values, details.shown_list, has_counts=has_counts)[:MAX_ITEMS]
        names = {item.id: item.name for item in definition.items if item.name is not None}
        model_fit = fit(overall.document, overall.for_owner.slot_shows) if definition.half_life is None else None
        observed = Observed(
            overall.counters,
            overall.document["decisions"]["reported_until"],
            staleness,
            overall.document["model_check"],
            by_hour.drift,
            estimates["half_life"],
            definition.half_life == "auto",
            names,
            definition.max_items,
            estimates["candidate_items"],
        )
        return {
            "name": request.name,
            "version": view.version.version,
            "mode": definition.mode,
            "exploring": definition.exploring,
            "slots": definition.slots,
            "item_count": len(definition.items),
            "holdout": definition.holdout,
            "window_seconds": estimates["window_seconds"],
            "segments": definition.segments,
            "segment": list(request.segment),
            "state": state(_facts(view, overall, by_hour, last, now, names, guardrails)),
            "guardrails": guardrails,
            "uplift": estimates["uplift"],
            "uplift_in_period": recent,
            "pays": pays(estimates["uplift"], definition.holdout),
            "pays_in_period": pays(recent, definition.holdout),
            "period": request.period,
            "best_list": best_list,
            "items": items,
            "labels": labels(
                definition,
                {item["id"] for item in items} | {id for slot in best_list for id in (slot["item"], slot["runner_up"])},
            ),
            "position_bias": _slots(view, model_fit if not request.segment else None, details),
            "decisions": _counts(view.counters, estimates),
            "by_segment": sorted(estimates["by_segment"], key=lambda counts: -counts["decisions"]["issued"])[
                :MAX_SEGMENTS
            ],
            "checks": checks_of(observed),
            # without counted views it would be the prior's
            "shadow": estimates["shadow"] if has_counts else None,
            "half_life": estimates["half_life"],
            "last_active": None if last is None else rfc3339(last),
        }

    async def items(self, name: str, search: str, offset: int, limit: int) -> ItemsPage:
        """A page of the items whose ids or names contain the text, ignoring case, the most relevant first."""
        view = await self._estimates.look(name, for_owner=True)
        assert view.for_owner is not None
        text = search.casefold()
        named = {item.id for item in view.definition.items if item.name is not None and text in item.name.casefold()}
        matching = [item for item in view.document["items"] if text in item["id"].casefold() or item["id"] in named]
        details = view.for_owner
        ordered = relevant(matching, details.values, details.shown_list, has_counts=_has_counts(view.counters))
        page = ordered[offset : offset + limit]
        return {
            "items": page,
            "labels": labels(view.definition, {item["id"] for item in page}),
            "found": len(matching),
            "of": len(view.document["items"]),
        }

    async def _of_this_hour(self, view: EstimatesView, now: float) -> _ByHour:
        version, hour = view.version, self._placements.hour()
        cached = self._by_hour.get(version.placement)
        if cached is not None and (cached.hour, cached.version) == (hour, version.version):
            return cached
        bias = [slot["estimate"] for slot in view.document["position_bias"]]
        alpha = {item["id"]: item["attractiveness"] for item in view.document["items"]}
        by_hour = await self._placements.read(lambda store: _read_by_hour(store, version, bias, alpha, hour, now))
        self._by_hour.put(version.placement, by_hour)
        return by_hour


def _read_by_hour(
    store: Store, version: Version, bias: Sequence[float], alpha: Mapping[str, float], hour: int, now: float
) -> _ByHour:
    name = version.placement
    counts = PeriodCounts.of_columns(store.period_columns(name, since=int(now) - (RECENT_DAYS + BEFORE_DAYS) * DAY))
    ends = store.hourly_summaries(name, int(now) - BEST_DAYS * DAY)
    lists = [(start, json.loads(text)["best_list"]) for start, text in ends]
    return _ByHour(hour, version.version, find_drift(counts, bias, now, alpha), lists)


def labels(definition: PlacementDefinition, ids: Collection[str | None]) -> dict[str, ItemLabel]:
    """Names, addresses and pictures of these items, as far as they have any."""
    found = ((item.id, label_of(item)) for item in definition.items if item.id in ids)
    return {id: label for id, label in found if label}


def _facts(
    view: EstimatesView,
    overall: EstimatesView,
    by_hour: _ByHour,
    last_hour: int | None,
    now: float,
    names: Mapping[str, str],
    guardrails: Sequence[GuardrailDocument],
) -> Facts:
    definition = view.definition
    assert overall.for_owner is not None
    return Facts(
        now,
        definition.slots,
        view.document["window_seconds"],
        definition.mode,
        overall.counters,
        overall.document["items"],
        overall.document["best_list"],
        overall.for_owner.values,
        by_hour.ends,
        last_hour,
        by_hour.drift.clearest,
        definition.half_life is not None,
        definition.exploring,
        names,
        next((guardrail["sentence"] for guardrail in guardrails if guardrail["state"] == "broken"), None),
    )


def _last_hour(store: Store, name: str, now: float) -> int | None:
    """The start of the last hour, or of the last day if it is longer ago, in which a decision was issued."""
    rows_today = store.period_counters(name, int(now - QUIET_SECONDS) // HOUR * HOUR - HOUR)
    rows = rows_today or store.period_counters(name, int(now) - BEST_DAYS * DAY, int(now), by_day=True)
    return max((row.period.start for row in rows if row.counters.issued and row.period.hours), default=None)


def relevant(
    items: Sequence[ItemEstimateDocument],
    values: dict[str, float],
    shown_list: Sequence[str],
    *,
    has_counts: bool = True,
) -> list[ItemNow]:
    """The current list, then items by their probability of being in the best list, and then by attractiveness.

    Without `has_counts` there are no probabilities yet.
    """
    slots = {item: slot for slot, item in enumerate(shown_list)}
    after = len(slots)
    ordered = sorted(
        items,
        key=lambda item: (
            slots.get(item["id"], after),
            -item["probability_in_best_list"],
            -item["attractiveness"],
            item["id"],
        ),
    )
    return [_item(item, values, has_counts) for item in ordered]


def _has_counts(counters: Counters) -> bool:
    """Whether a decision that was seen is counted."""
    return counters.clicked + counters.no_click > 0


def _item(item: ItemEstimateDocument, values: dict[str, float], has_counts: bool) -> ItemNow:
    was_shown = item["shown"] > 0
    return {
        "id": item["id"],
        "attractiveness": item["attractiveness"] if was_shown else None,
        "low": item["low"] if was_shown else None,
        "high": item["high"] if was_shown else None,
        "value": values.get(item["id"]),
        "probability_in_best_list": item["probability_in_best_list"] if has_counts else None,
        "shown": item["shown"],
        "clicks": item["clicks"],
    }


def _best_list(definition: PlacementDefinition, details: ForOwner, has_counts: bool) -> list[SlotNow]:
    listed: list[SlotNow] = []
    for number, (item, chances) in enumerate(zip(details.shown_list, details.slot_chances, strict=False), start=1):
        others = [(chance, other) for other, chance in chances.items() if other != item]
        runner_up = max(others, default=None) if has_counts else None
        listed.append(
            {
                "slot": number,
                "item": item,
                "pinned": item in definition.pin,
                "probability": chances.get(item, 0.0) if has_counts else None,
                "runner_up": None if runner_up is None else runner_up[1],
                "runner_up_probability": None if runner_up is None else runner_up[0],
            }
        )
    return listed


def _slots(view: EstimatesView, model_fit: ModelFit | None, details: ForOwner) -> list[SlotBias]:
    slots: list[SlotBias] = []
    clicks = view.document["tally"]["clicks"]
    given = view.definition.position_bias is not None
    for number, slot in enumerate(view.document["position_bias"]):
        shown, clicked = details.slot_shows[number], sum(clicks[number])
        is_known = given or shown > 0
        slots.append(
            {
                "slot": slot["slot"],
                "bias": slot["estimate"] if is_known else None,
                "low": slot["low"] if is_known else None,
                "high": slot["high"] if is_known else None,
                "given": given,
                "shown": shown,
                "clicks": clicked,
                "observed": clicked / shown if shown else None,
                "fitted": model_fit.fitted[number] / shown if model_fit is not None and shown else None,
            }
        )
    return slots


def _counts(total: Counters, estimates: EstimatesDocument) -> OverviewCounts:
    return {
        **estimates["decisions"],
        "silent": total.silent,
        "duplicates": total.duplicates,
        "conflicts": total.conflicts,
    }
