"""Routes of placements: definitions, items, estimates, history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple, TypeVar, cast

from pydantic import Field

from slotwise.service.http.conditional_headers import IfMatch, IfNoneMatch, etag, expected
from slotwise.service.http.endpoint import JSON, BodyLimit, Handler, InQuery, Operation, Written
from slotwise.service.http.error_responses import Refusal
from slotwise.service.http.http_schemas import (
    BrokenSummary,
    ChangeList,
    DeletedDocument,
    PlacementDocument,
    PlacementList,
    PlacementPatch,
    PlacementSummary,
)
from slotwise.service.placements.definition_edits import patched, with_item, without_item
from slotwise.service.placements.placement_state import Placement
from slotwise.service.runtime import Worker
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.schemas.item_schema import Item, ItemDocument, ItemSettings, document_of
from slotwise.service.schemas.report_schemas import EstimatesDocument, HistoryDocument

NameInPath = Annotated[str, Field(description="The placement's name.", examples=["home"])]
SegmentInQuery = Annotated[
    list[str],
    InQuery(),
    Field(
        description="KEY:VALUE of the placement's segments; repeat it to combine several keys.",
        examples=[["device:mobile"]],
        max_length=100,
    ),
]
NO_SEGMENT: list[str] = []
SinceInQuery = Annotated[
    str | None,
    InQuery(),
    Field(description="Uplift: only decisions issued from this time on.", examples=["2026-11-01"]),
]
UntilInQuery = Annotated[
    str | None,
    InQuery(),
    Field(description="Uplift: only decisions issued before this time.", examples=["2026-11-08T12:00Z"]),
]
PeriodInQuery = Annotated[
    str | None,
    InQuery(),
    Field(description="Uplift: only the last hours, days or weeks.", examples=["24h", "7d", "4w"]),
]
ByInQuery = Annotated[
    Literal["hour", "day"],
    InQuery(),
    Field(description="Length of a period; hours that were merged into days stay days.", examples=["day"]),
]
TimeInQuery = Annotated[
    str | None,
    InQuery(),
    Field(description="A date or a time; UTC if it has no time zone.", examples=["2026-11-01"], max_length=100),
]
ItemInPath = Annotated[str, Field(description="The item's id.", examples=["tea"])]
Confirmation = Annotated[
    str, InQuery(), Field(description="The placement's name again: a deletion cannot be undone.", examples=["home"])
]
Answer = TypeVar("Answer")
#: status, response body, and the placement's ETag
Tagged = tuple[int, Answer, Mapping[str, str]]
NO_SETTINGS = ItemSettings()


class BodyLimits(NamedTuple):
    """Limits of request bodies, by content."""

    #: or an item
    outcome: BodyLimit = BodyLimit(64 * 1024)
    decision: BodyLimit = BodyLimit(4 * 1024 * 1024)
    placement: BodyLimit = BodyLimit(32 * 1024 * 1024)


DEFAULT_BODY_LIMITS = BodyLimits()


class PlacementApi:
    """Requests on placements."""

    def __init__(self, worker: Worker, bodies: BodyLimits = DEFAULT_BODY_LIMITS) -> None:
        self._worker, self._bodies = worker, bodies

    def operations(self) -> list[Operation]:
        """Return the operations."""
        bodies, one = self._bodies, "/v1/placements/{name}"
        item = f"{one}/items/{{id:path}}"
        changed = {200: "Changed, or unchanged."}
        created, added = {**changed, 201: "Created."}, {**changed, 201: "Added."}
        merge_patch = ("application/merge-patch+json", JSON)
        return [
            Operation("PUT", one, self.put_placement, answers=created, body_limit=bodies.placement),
            Operation(
                "PATCH",
                one,
                self.patch_placement,
                answers=changed,
                body_limit=bodies.placement,
                media_types=merge_patch,
            ),
            Operation("DELETE", one, self.delete_placement, answers={200: "Deleted."}),
            Operation("PUT", item, self.put_item, answers=added, body_limit=bodies.outcome),
            Operation("DELETE", item, self.retire_item, answers={200: "Retired."}),
            _read(f"{one}/changes", self.changes, "Changes with their times, newest first."),
            _read(one, self.placement, "The current definition."),
            _read("/v1/placements", self.placements, "Names and settings of all placements."),
            _read(f"{one}/estimates", self.estimates, "Estimates by item and by slot, with intervals."),
            _read(f"{one}/history", self.history, "Counts by period, in order."),
        ]

    async def put_placement(
        self,
        name: NameInPath,
        definition: PlacementDefinition,
        if_match: IfMatch = None,
        if_none_match: IfNoneMatch = None,
    ) -> Tagged[PlacementDocument]:
        """Create a placement, or replace its definition.

        Omitted fields get their defaults. Omitted items are retired; their counts are kept.
        """
        changed = await self._worker.changing.put(name, definition, expected(if_match, if_none_match))
        return 201 if changed.is_new else 200, _placement(changed.placement), etag(changed.placement)

    async def patch_placement(
        self, name: NameInPath, patch: PlacementPatch, if_match: IfMatch = None
    ) -> Tagged[PlacementDocument]:
        """Change the fields of the body, and keep the others."""
        changed = await self._worker.changing.change(name, patched(patch.root), expected(if_match))
        return 200, _placement(changed.placement), etag(changed.placement)

    async def delete_placement(
        self, name: NameInPath, confirm: Confirmation, if_match: IfMatch = None
    ) -> tuple[int, DeletedDocument]:
        """Delete a placement permanently, with its decisions, its tally and its counters."""
        if confirm != name:
            raise Refusal(422, f"confirm must be the name of the placement, {name!r}, got {confirm!r}")
        await self._worker.changing.delete(name, expected(if_match))
        return 200, {"name": name}

    async def put_item(
        self, name: NameInPath, id: ItemInPath, settings: ItemSettings = NO_SETTINGS, if_match: IfMatch = None
    ) -> Tagged[ItemDocument]:
        """Add an item at the end of the control order, or replace an item's settings."""
        changed = await self._worker.changing.change(name, with_item(id, settings), expected(if_match))
        was_there = changed.before is not None and changed.before.item(id) is not None
        item = changed.placement.definition.item(id) or Item(id=id)
        return 200 if was_there else 201, document_of(item), etag(changed.placement)

    async def retire_item(self, name: NameInPath, id: ItemInPath, if_match: IfMatch = None) -> Tagged[ItemDocument]:
        """Retire an item: it is no longer shown. Its counts are kept, and used again if it comes back."""
        changed = await self._worker.changing.change(name, without_item(name, id), expected(if_match))
        item = changed.before.item(id) if changed.before is not None else None
        return 200, document_of(item or Item(id=id)), etag(changed.placement)

    async def changes(self, name: NameInPath) -> tuple[int, ChangeList]:
        """Return the changes of a placement's definition."""
        return 200, {"changes": await self._worker.changing.changes(name)}

    async def placement(self, name: NameInPath) -> Tagged[PlacementDocument]:
        """Return a placement's definition."""
        placement = await self._worker.newest(name)
        return 200, _placement(placement), etag(placement)

    async def placements(self) -> tuple[int, PlacementList]:
        """Return all placements, without their items."""
        broken: list[BrokenSummary] = [{"name": name, "detail": why} for name, why in self._worker.broken().items()]
        return 200, {"placements": [_summary(placement) for placement in self._worker.placements()], "broken": broken}

    async def estimates(
        self,
        name: NameInPath,
        segment: SegmentInQuery = NO_SEGMENT,
        since: SinceInQuery = None,
        until: UntilInQuery = None,
        period: PeriodInQuery = None,
    ) -> tuple[int, EstimatesDocument]:
        """Return the estimates of a placement's items and slots, for all visitors or for a segment."""
        written = await self._worker.written_estimates(name, segment, since=since, until=until, period=period)
        return 200, cast(EstimatesDocument, Written(written))

    async def history(
        self, name: NameInPath, by: ByInQuery = "day", since: TimeInQuery = None, until: TimeInQuery = None
    ) -> tuple[int, HistoryDocument]:
        """Return a placement's counts by hour or by day."""
        return 200, await self._worker.history(name, by, since, until)


def _read(path: str, handler: Handler, answer: str) -> Operation:
    return Operation("GET", path, handler, answers={200: answer})


def _placement(placement: Placement) -> PlacementDocument:
    return PlacementDocument.of(placement.name, placement.definition)


def _summary(placement: Placement) -> PlacementSummary:
    definition = placement.definition
    return {
        "name": placement.name,
        "slots": definition.slots,
        "policy": definition.policy,
        "window_seconds": definition.window_seconds,
        "holdout": definition.holdout,
        "position_bias": definition.position_bias,
        "mode": definition.mode,
        "exploring": definition.exploring,
        "item_count": len(definition.items),
    }
