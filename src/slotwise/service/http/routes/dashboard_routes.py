"""Routes of the dashboard: documents with an ETag, so that an unchanged document is not sent again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar, cast

from pydantic import Field

from slotwise.service.http.conditional_headers import IfNew, is_new
from slotwise.service.http.endpoint import Handler, InQuery, Operation, Written
from slotwise.service.http.routes.placement_routes import NO_SEGMENT, ByInQuery, NameInPath, SegmentInQuery, TimeInQuery
from slotwise.service.reports.dashboard_queries import Dashboard
from slotwise.service.reports.response_cache import CachedResponse
from slotwise.service.runtime import Worker
from slotwise.service.schemas.definition import MAX_ITEMS
from slotwise.service.schemas.name_rules import MAX_NAME
from slotwise.service.schemas.overview_schemas import ItemsPage, NamedState, OverviewDocument, TimelineDocument

Answer = TypeVar("Answer")
#: status, response body, and ETag
Tagged = tuple[int, Answer, Mapping[str, str]]

OverPeriod = Annotated[
    str,
    InQuery(),
    Field(
        description="Period of the uplift, up to now, in addition to the uplift since the start.",
        examples=["7d"],
        max_length=10,
    ),
]
Search = Annotated[
    str,
    InQuery(),
    Field(
        description="Substring of the items' names; upper and lower case match.",
        examples=["te"],
        max_length=MAX_NAME,
    ),
]
Offset = Annotated[int, InQuery(), Field(description="Number of items to skip.", examples=[0], ge=0, le=MAX_ITEMS)]
Limit = Annotated[int, InQuery(), Field(description="Maximum number of items.", examples=[50], ge=1, le=500)]

_UNCHANGED = "Unchanged since the ETag of If-None-Match."


class DashboardApi:
    """Overviews, states, timelines and items of placements; each is computed once for all viewers."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    @property
    def _dashboard(self) -> Dashboard:
        return self._worker.dashboard

    def operations(self) -> list[Operation]:
        """Return the operations; all of them only read."""

        def reading(path: str, handler: Handler, answer: str) -> Operation:
            answers = {200: answer, 304: _UNCHANGED}
            return Operation("GET", f"/v1/placements/{{name}}/{path}", handler, answers=answers)

        return [
            reading("overview", self.overview, "A summary for the placement's owner."),
            reading("state", self.state, "The state in one sentence."),
            reading("timeline", self.timeline, "Counts by period, as columns."),
            Operation(
                "GET", "/v1/placements/{name}/items", self.items, answers={200: "Items, the most relevant first."}
            ),
        ]

    async def overview(
        self,
        name: NameInPath,
        segment: SegmentInQuery = NO_SEGMENT,
        period: OverPeriod = "7d",
        if_none_match: IfNew = None,
    ) -> Tagged[OverviewDocument]:
        """Return a placement's state, uplift, best list and estimates.

        The document is cached for 2 to 30 seconds, depending on the time that it takes to compute.
        """
        return _response(await self._dashboard.overview(name, segment, period), if_none_match)

    async def state(self, name: NameInPath, if_none_match: IfNew = None) -> Tagged[NamedState]:
        """Return a placement's state in one sentence."""
        return _response(await self._dashboard.state(name), if_none_match)

    async def timeline(
        self,
        name: NameInPath,
        by: ByInQuery = "day",
        since: TimeInQuery = None,
        until: TimeInQuery = None,
        if_none_match: IfNew = None,
    ) -> Tagged[TimelineDocument]:
        """Return a placement's counts by hour or by day for charts, with the five items that were shown most."""
        return _response(await self._dashboard.timeline(name, by, since, until), if_none_match)

    async def items(
        self, name: NameInPath, search: Search = "", offset: Offset = 0, limit: Limit = 50
    ) -> tuple[int, ItemsPage]:
        """Search the items of a placement by name."""
        return 200, await self._dashboard.items(name, search, offset, limit)


def _response(document: CachedResponse, if_none_match: str | None) -> Tagged[Any]:
    headers = {"ETag": document.tag, "Cache-Control": "no-cache"}
    if is_new(if_none_match, document.tag):
        return 200, cast(Any, Written(document.content)), headers
    return 304, cast(Any, Written(b"")), headers
