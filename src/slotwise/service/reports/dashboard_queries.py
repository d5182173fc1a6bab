"""Queries of the dashboard; their responses are cached for all viewers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Hashable, Sequence
from typing import Final

from pydantic import TypeAdapter

from slotwise.service.metrics import STALENESS_BOUND_SECONDS
from slotwise.service.placements.placement_registry import Placements
from slotwise.service.placements.placement_state import Placement
from slotwise.service.reports.estimate_service import EstimateService
from slotwise.service.reports.history import By, HistorySpan
from slotwise.service.reports.overview import OverviewRequest
from slotwise.service.reports.response_cache import CachedResponse, ResponseCache
from slotwise.service.reports.timeline import timeline
from slotwise.service.schemas.overview_schemas import (
    ItemsPage,
    NamedState,
    OverviewDocument,
    TimelineDocument,
)
from slotwise.service.storage import open_store
from slotwise.service.storage.decision_types import hour_of

#: an outcome of a pending decision changes no counter: while decisions are pending, responses are renewed this often
PENDING_SECONDS: Final = 10.0

OVERVIEW: Final = TypeAdapter[OverviewDocument](OverviewDocument)
STATE: Final = TypeAdapter[NamedState](NamedState)
TIMELINE: Final = TypeAdapter[TimelineDocument](TimelineDocument)


class Dashboard:
    """Overviews, states, timelines and items of placements, as JSON."""

    def __init__(
        self,
        store: str,
        placements: Placements,
        estimates: EstimateService,
        clock: Callable[[], float],
    ) -> None:
        self._store, self._placements, self._estimates, self._clock = store, placements, estimates, clock
        self._responses = ResponseCache()

    async def overview(self, name: str, segment: Sequence[str] = (), period: str = "7d") -> CachedResponse:
        """The owner's overview of a placement, as JSON."""
        placement = await self._placements.placement(name)
        request = OverviewRequest(name, tuple(segment), period)

        async def build() -> bytes:
            now, staleness = self._clock(), self._placements.staleness()
            return OVERVIEW.dump_json(await self._estimates.of(placement).overview(request, now, staleness))

        return await self._responses.get(request, self._moment(placement), build, version=placement.version)

    async def state(self, name: str) -> CachedResponse:
        """The learning status of a placement, as JSON: from its overview, which the same user opens next."""
        overview = await self.overview(name)

        async def build() -> bytes:
            document: OverviewDocument = json.loads(overview.content)
            decisions = document["decisions"]
            views = decisions["clicked"] + decisions["no_click"]
            return STATE.dump_json(
                {
                    **document["state"],
                    "name": name,
                    "views": views,
                    "click_rate": decisions["clicked"] / views if views else None,
                    "uplift": document["uplift"],
                    "last_active": document["last_active"],
                }
            )

        return await self._responses.get(("state", name), overview.tag, build, version=overview.tag)

    async def timeline(
        self, name: str, by: By = "day", since: str | None = None, until: str | None = None
    ) -> CachedResponse:
        """The history by hour or by day for charts, as JSON."""
        placement = await self._placements.placement(name)
        span = HistorySpan.of(by, since, until, self._clock())

        async def build() -> bytes:
            return await asyncio.to_thread(_timeline, self._store, name, by, span)

        return await self._responses.get(
            ("timeline", name, by, span), self._moment(placement), build, version=placement.version
        )

    async def items(self, name: str, search: str = "", offset: int = 0, limit: int = 50) -> ItemsPage:
        """A page of the items whose names contain the text, the most relevant first."""
        placement = await self._placements.placement(name)
        return await self._estimates.of(placement).items(name, search, offset, limit)

    def _moment(self, placement: Placement) -> Hashable:
        """A key that changes when the document may change; from memory, because it is computed for every request."""
        counters = self._placements.counters.get(placement.name, {})
        now = self._clock()
        return (
            placement.revision,
            tuple(sorted(counters.items())),
            hour_of(now),
            self._placements.staleness() > STALENESS_BOUND_SECONDS,
            now // PENDING_SECONDS if any(counts.pending for counts in counters.values()) else None,
        )


def _timeline(store: str, name: str, by: By, span: HistorySpan) -> bytes:
    # a connection of its own: reading ninety days must not delay the refresh of placements
    connection = open_store(store)
    try:
        return TIMELINE.dump_json(timeline(connection, name, by, span))
    finally:
        connection.close()
