"""What the owner's dashboard asks of a worker; whatever many look at is made for all of them at once."""

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
    StateDocument,
    TimelineDocument,
)
from slotwise.service.storage import open_store
from slotwise.service.storage.decision_types import hour_of

#: what is reported and waits changes no counter: while decisions wait, they are looked at again after so many seconds
PENDING_SECONDS: Final = 10.0

OVERVIEW: Final = TypeAdapter[OverviewDocument](OverviewDocument)
STATE: Final = TypeAdapter[NamedState](NamedState)
TIMELINE: Final = TypeAdapter[TimelineDocument](TimelineDocument)


class Dashboard:
    """Overviews, states, timelines and items of placements."""

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
        """What its owner wants to know of a placement, as JSON."""
        placement = await self._placements.placement(name)
        asked = OverviewRequest(name, tuple(segment), period)

        async def make() -> bytes:
            now, staleness = self._clock(), self._placements.staleness()
            return OVERVIEW.dump_json(await self._estimates.of(placement).overview(asked, now, staleness))

        return await self._responses.get(asked, self._moment(placement), make, version=placement.version)

    async def state(self, name: str) -> CachedResponse:
        """The one sentence of a placement, as JSON: from its overview, which whoever reads the sentence opens next."""
        overview = await self.overview(name)

        async def make() -> bytes:
            state: StateDocument = json.loads(overview.content)["state"]
            return STATE.dump_json({**state, "name": name})

        return await self._responses.get(("state", name), overview.tag, make, version=overview.tag)

    async def timeline(
        self, name: str, by: By = "day", since: str | None = None, until: str | None = None
    ) -> CachedResponse:
        """What happened by hour or by day, as JSON."""
        placement = await self._placements.placement(name)
        span = HistorySpan.of(by, since, until, self._clock())

        async def make() -> bytes:
            return await asyncio.to_thread(_timeline, self._store, name, by, span)

        return await self._responses.get(
            ("timeline", name, by, span), self._moment(placement), make, version=placement.version
        )

    async def items(self, name: str, search: str = "", offset: int = 0, limit: int = 50) -> ItemsPage:
        """Items whose names have that in them, the most relevant first."""
        placement = await self._placements.placement(name)
        return await self._estimates.of(placement).items(name, search, offset, limit)

    def _moment(self, placement: Placement) -> Hashable:
        """What, where it is the same, makes the same document; from memory, as it is asked for all the time."""
        counters = self._placements.counters.get(placement.name, {})
        now = self._clock()
        return (
            placement.revision,
            tuple(sorted(counters.items())),
            hour_of(now),
            self._placements.staleness() > STALENESS_BOUND_SECONDS,
            now // PENDING_SECONDS if any(one.pending for one in counters.values()) else None,
        )


def _timeline(store: str, name: str, by: By, span: HistorySpan) -> bytes:
    # a connection of its own: reading ninety days must not hold up those who follow the store
    reading = open_store(store)
    try:
        return TIMELINE.dump_json(timeline(reading, name, by, span))
    finally:
        reading.close()
