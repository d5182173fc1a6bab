"""What the dashboard asks for, over HTTP: documents with a tag, so that nothing is sent that is known already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar, cast

from pydantic import Field

from slotwise.service.http.conditional_headers import IfNew, is_new
from slotwise.service.http.endpoint import InQuery, Operation, Written
from slotwise.service.http.routes.placement_routes import NO_SEGMENT, ByInQuery, NameInPath, SegmentInQuery, TimeInQuery
from slotwise.service.reports.dashboard_queries import Dashboard
from slotwise.service.reports.response_cache import CachedResponse
from slotwise.service.runtime import Worker
from slotwise.service.schemas.definition import MAX_ITEMS
from slotwise.service.schemas.name_rules import MAX_NAME
from slotwise.service.schemas.overview_schemas import ItemsPage, NamedState, OverviewDocument, TimelineDocument

Answer = TypeVar("Answer")
#: a status, an answer, and its tag
Tagged = tuple[int, Answer, Mapping[str, str]]

OverPeriod = Annotated[
    str,
    InQuery(),
    Field(description="Over which time, up to now, to say besides whether it pays.", examples=["7d"], max_length=10),
]
Search = Annotated[
    str,
    InQuery(),
    Field(description="What names of items must have in them.", examples=["te"], max_length=MAX_NAME),
]
Offset = Annotated[
    int, InQuery(), Field(description="How many to leave out, from the first on.", examples=[0], ge=0, le=MAX_ITEMS)
]
Limit = Annotated[int, InQuery(), Field(description="How many at most.", examples=[50], ge=1, le=500)]

_REFUSES = (401, 404, 422, 503)
_AS_IT_WAS = "As it was at the tag of If-None-Match."


class DashboardApi:
    """Overviews, states, timelines and items of placements; each is made once for all who look."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    @property
    def _dashboard(self) -> Dashboard:
        return self._worker.dashboard

    def operations(self) -> list[Operation]:
        """All of them read, and none is for the hot path."""

        def reading(path: str, handler: Any, answer: str) -> Operation:
            answers = {200: answer, 304: _AS_IT_WAS}
            return Operation("GET", f"/v1/placements/{{name}}/{path}", handler, answers=answers, refuses=_REFUSES)

        return [
            reading("overview", self.overview, "All that its owner wants to know first."),
            reading("state", self.state, "One sentence."),
            reading("timeline", self.timeline, "By column."),
            Operation(
                "GET",
                "/v1/placements/{name}/items",
                self.items,
                answers={200: "The most relevant first."},
                refuses=_REFUSES,
            ),
        ]

    async def overview(
        self,
        name: NameInPath,
        segment: SegmentInQuery = NO_SEGMENT,
        period: OverPeriod = "7d",
        if_none_match: IfNew = None,
    ) -> Tagged[OverviewDocument]:
        """What the owner of a placement wants to know: how it stands, whether it pays, what is shown, how sure that is.

        It is up to a few seconds old, and up to 30 where it takes long to make.
        """
        return _told(await self._dashboard.overview(name, segment, period), if_none_match)

    async def state(self, name: NameInPath, if_none_match: IfNew = None) -> Tagged[NamedState]:
        """How it stands with a placement, in one sentence."""
        return _told(await self._dashboard.state(name), if_none_match)

    async def timeline(
        self,
        name: NameInPath,
        by: ByInQuery = "day",
        since: TimeInQuery = None,
        until: TimeInQuery = None,
        if_none_match: IfNew = None,
    ) -> Tagged[TimelineDocument]:
        """What happened to a placement by hour or by day, made for drawing; the five items that were shown most."""
        return _told(await self._dashboard.timeline(name, by, since, until), if_none_match)

    async def items(
        self, name: NameInPath, search: Search = "", offset: Offset = 0, limit: Limit = 50
    ) -> tuple[int, ItemsPage]:
        """Search the items of a placement by name, whatever the case."""
        return 200, await self._dashboard.items(name, search, offset, limit)


def _told(found: CachedResponse, if_none_match: str | None) -> Tagged[Any]:
    headers = {"ETag": found.tag, "Cache-Control": "no-cache"}
    if is_new(if_none_match, found.tag):
        return 200, cast(Any, Written(found.content)), headers
    return 304, cast(Any, Written(b"")), headers
