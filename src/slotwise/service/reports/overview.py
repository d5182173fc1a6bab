"""What the owner of a placement wants to know, in one document: put together from estimates, counters and history."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from slotwise.service.learning.period_counts import PeriodCounts
from slotwise.service.placements.placement_registry import Placements
from slotwise.service.reports.drift_view import BEFORE_DAYS, RECENT_DAYS, DriftReport, find_drift
from slotwise.service.reports.health_checks import Observed, checks_of
from slotwise.service.reports.learning_status import QUIET_SECONDS, Facts, state
from slotwise.service.reports.lru_cache import LruCache
from slotwise.service.reports.model_fit_view import ModelFit, fit
from slotwise.service.reports.placement_estimates import EstimatesView, ForOwner, PlacementEstimates
from slotwise.service.reports.uplift import Span
from slotwise.service.reports.uplift_sentence import pays
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.schemas.overview_schemas import (
    ItemNow,
    ItemsPage,
    OverviewCounts,
    OverviewDocument,
    SlotBias,
    SlotNow,
)
from slotwise.service.schemas.report_schemas import EstimatesDocument, ItemEstimateDocument
from slotwise.service.storage import Store
from slotwise.service.storage.count_rows import Counters
from slotwise.service.storage.decision_types import DAY, HOUR
from slotwise.service.storage.placements_table import Version

#: items and segments that an overview has
MAX_ITEMS: Final = 50
MAX_SEGMENTS: Final = 50
#: how far back a list is followed that has been the best
BEST_DAYS: Final = 90
#: placements with a cached hourly summary
MAX_BY_HOUR: Final = 64


class _ByHour(NamedTuple):
    """What is found out once an hour, as it takes a while to read."""

    hour: int
    version: int
    drift: DriftReport
    #: the best list at the ends of hours that began then
    ends: list[tuple[int, list[str]]]


@dataclass(frozen=True)
class OverviewRequest:
    """Whose overview, of whom, and over which time it is to be said whether it pays."""

    name: str
    segment: tuple[str, ...] = ()
    period: str = "7d"


class Overviews:
    """Puts overviews together; whoever asks sees to it that this is not too often."""

    def __init__(self, placements: Placements, estimates: PlacementEstimates) -> None:
        self._placements, self._estimates = placements, estimates
        self._by_hour = LruCache[str, _ByHour](MAX_BY_HOUR)

    async def document(self, asked: OverviewRequest, now: float, staleness: float = 0.0) -> OverviewDocument:
        """From the store as it is now."""
        span = Span.parse(now, period=asked.period)
        recent = (await self._estimates.look(asked.name, asked.segment, span, for_owner=True)).document["uplift"]
        look = await self._estimates.look(asked.name, asked.segment, for_owner=True)
        everybody = look if not asked.segment else await self._estimates.look(asked.name, for_owner=True)
        by_hour = await self._of_this_hour(everybody, now)
        last = await self._placements.read(lambda store: _last_hour(store, asked.name, now))
        found, definition, more = look.document, look.definition, look.for_owner
        assert more is not None
        assert everybody.for_owner is not None
        something = _is_known(look.counters)
        fitted = fit(everybody.document, everybody.for_owner.slot_shows) if definition.memory is None else None
        observed = Observed(
            everybody.counters,
            everybody.document["decisions"]["reported_until"],
            staleness,
            fitted,
            by_hour.drift,
            found["memory"],
        )
        facts = Facts(
            now,
            definition.slots,
            found["window_seconds"],
            definition.mode,
            everybody.counters,
            everybody.document["items"],
            everybody.document["best_list"],
            everybody.for_owner.values,
            by_hour.ends,
            last,
            by_hour.drift.clearest,
            definition.memory is not None,
        )
        return {
            "name": asked.name,
            "version": look.version.version,
            "mode": definition.mode,
            "slots": definition.slots,
            "item_count": len(definition.items),
            "holdout": definition.holdout,
            "window_seconds": found["window_seconds"],
            "segments": definition.segments,
            "segment": list(asked.segment),
            "state": state(facts),
            "uplift": found["uplift"],
            "uplift_in_period": recent,
            "pays": pays(found["uplift"], definition.holdout, every_day=True),
            "pays_in_period": pays(recent, definition.holdout, every_day=False),
            "period": asked.period,
            "best_list": _best_list(definition, more, something),
            "items": relevant(found["items"], more.values, more.shown_list, something=something)[:MAX_ITEMS],
            "position_bias": _slots(look, fitted if not asked.segment else None, more),
            "decisions": _counts(look.counters, found),
            "by_segment": sorted(found["by_segment"], key=lambda one: -one["decisions"]["issued"])[:MAX_SEGMENTS],
            "checks": checks_of(observed),
            "shadow": found["shadow"],
            "memory": found["memory"],
        }

    async def items(self, name: str, search: str, offset: int, limit: int) -> ItemsPage:
        """Items whose names have that in them, in whichever case, the most relevant first."""
        look = await self._estimates.look(name, for_owner=True)
        assert look.for_owner is not None
        wanted = search.casefold()
        matching = [item for item in look.document["items"] if wanted in item["id"].casefold()]
        more = look.for_owner
        ordered = relevant(matching, more.values, more.shown_list, something=_is_known(look.counters))
        return {
            "items": ordered[offset : offset + limit],
            "found": len(matching),
            "of": len(look.document["items"]),
        }

    async def _of_this_hour(self, look: EstimatesView, now: float) -> _ByHour:
        version, hour = look.version, self._placements.hour()
        known = self._by_hour.get(version.placement)
        if known is not None and (known.hour, known.version) == (hour, version.version):
            return known
        bias = [slot["estimate"] for slot in look.document["position_bias"]]
        found = await self._placements.read(lambda store: _read_by_hour(store, version, bias, hour, now))
        self._by_hour.put(version.placement, found)
        return found


def _read_by_hour(store: Store, version: Version, bias: Sequence[float], hour: int, now: float) -> _ByHour:
    name = version.placement
    counts = PeriodCounts.of_columns(store.period_columns(name, since=int(now) - (RECENT_DAYS + BEFORE_DAYS) * DAY))
    ends = store.period_ends(name, int(now) - BEST_DAYS * DAY)
    lists = [(start, json.loads(text)["best_list"]) for start, text in ends]
    return _ByHour(hour, version.version, find_drift(counts, bias, now), lists)


def _last_hour(store: Store, name: str, now: float) -> int | None:
    """The beginning of the last hour, or day where it is longer ago, in which a decision was issued."""
    recent = store.period_counters(name, int(now - QUIET_SECONDS) // HOUR * HOUR - HOUR)
    found = recent or store.history_counters(name, int(now) - BEST_DAYS * DAY, int(now), by_day=True)
    return max((one.period.start for one in found if one.counters.issued and one.period.hours), default=None)


def relevant(
    items: Sequence[ItemEstimateDocument],
    values: dict[str, float],
    shown_list: Sequence[str],
    *,
    something: bool = True,
) -> list[ItemNow]:
    """The list now, then those that are likeliest to belong to it, and then the most attractive.

    Unless `something` was counted, nothing is known of any.
    """
    place = {item: slot for slot, item in enumerate(shown_list)}
    last = len(place)
    ordered = sorted(
        items,
        key=lambda item: (
            place.get(item["id"], last),
            -item["probability_in_best_list"],
            -item["attractiveness"],
            item["id"],
        ),
    )
    return [_item(item, values, something) for item in ordered]


def _is_known(counters: Counters) -> bool:
    """Whether anything was counted that somebody saw."""
    return counters.clicked + counters.no_click > 0


def _item(item: ItemEstimateDocument, values: dict[str, float], something: bool) -> ItemNow:
    known = item["shown"] > 0
    return {
        "id": item["id"],
        "attractiveness": item["attractiveness"] if known else None,
        "low": item["low"] if known else None,
        "high": item["high"] if known else None,
        "value": values.get(item["id"]),
        "probability_in_best_list": item["probability_in_best_list"] if something else None,
        "shown": item["shown"],
        "clicks": item["clicks"],
    }


def _best_list(definition: PlacementDefinition, more: ForOwner, something: bool) -> list[SlotNow]:
    listed: list[SlotNow] = []
    for number, (item, chances) in enumerate(zip(more.shown_list, more.slot_chances, strict=False), start=1):
        others = [(chance, other) for other, chance in chances.items() if other != item]
        next = max(others, default=None) if something else None
        listed.append(
            {
                "slot": number,
                "item": item,
                "pinned": item in definition.pin,
                "probability": chances.get(item, 0.0) if something else None,
                "runner_up": None if next is None else next[1],
                "runner_up_probability": None if next is None else next[0],
            }
        )
    return listed


def _slots(look: EstimatesView, fitted: ModelFit | None, more: ForOwner) -> list[SlotBias]:
    found: list[SlotBias] = []
    clicks = look.document["tally"]["clicks"]
    given = look.definition.position_bias is not None
    for number, slot in enumerate(look.document["position_bias"]):
        shown, clicked = more.slot_shows[number], sum(clicks[number])
        known = given or shown > 0
        found.append(
            {
                "slot": slot["slot"],
                "bias": slot["estimate"] if known else None,
                "low": slot["low"] if known else None,
                "high": slot["high"] if known else None,
                "given": given,
                "shown": shown,
                "clicks": clicked,
                "observed": clicked / shown if shown else None,
                "fitted": fitted.fitted[number] / shown if fitted is not None and shown else None,
            }
        )
    return found


def _counts(total: Counters, found: EstimatesDocument) -> OverviewCounts:
    return {
        **found["decisions"],
        "silent": total.silent,
        "duplicates": total.duplicates,
        "conflicts": total.conflicts,
    }
