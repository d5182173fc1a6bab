"""Routes of the API: placements, decisions, outcomes, estimates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple, TypeVar, cast

from pydantic import Discriminator, Field, Tag

from slotwise.service.http.conditional_headers import IdempotencyKey, IfMatch, IfNoneMatch, etag, expected
from slotwise.service.http.endpoint import JSON, BodyLimit, Handler, InQuery, Operation, Written
from slotwise.service.http.error_responses import Refusal
from slotwise.service.http.http_schemas import (
    BrokenSummary,
    BrowserEvents,
    BrowserOutcome,
    ChangeList,
    DecisionDocument,
    DecisionList,
    DeletedDocument,
    LaterEvents,
    LoggedDocument,
    OutcomeDocument,
    OutcomeList,
    PlacementDocument,
    PlacementList,
    PlacementPatch,
    PlacementSummary,
    ReportedOutcome,
    VerdictList,
)
from slotwise.service.placements.definition_edits import patched, with_item, without_item
from slotwise.service.placements.placement_state import Placement
from slotwise.service.runtime import Worker
from slotwise.service.runtime.worker import NO_CONSTRAINTS
from slotwise.service.schemas.decision_request import DecisionRequest
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.schemas.item_schema import Item, ItemDocument, ItemSettings, document_of
from slotwise.service.schemas.report_schemas import EstimatesDocument, HistoryDocument
from slotwise.service.schemas.segment_rules import context_of
from slotwise.service.schemas.timestamps import rfc3339
from slotwise.service.storage.decision_types import IssuedDecision, LoggedDecision, Outcome, Receipt

#: browsers report outcomes here, with a token instead of an API key
OUTCOMES = "/v1/outcomes"

NameInPath = Annotated[str, Field(description="The placement's name.", examples=["home"])]
IdInPath = Annotated[str, Field(description="The decision's id.", examples=["0" * 32])]
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
BrowserReport = Annotated[
    Annotated[BrowserOutcome, Tag("=outcome")] | Annotated[BrowserEvents, Tag("=events")],
    # events without an outcome are later ones; any other body is an outcome, and so are its faults
    Discriminator(lambda body: "=events" if isinstance(body, dict) and _has_events_only(body) else "=outcome"),
]


def _has_events_only(body: Mapping[str, object]) -> bool:
    return "events" in body and not body.keys() & {"clicked", "shown"}


class BodyLimits(NamedTuple):
    """Limits of request bodies, by content."""

    #: or an item
    outcome: BodyLimit = BodyLimit(64 * 1024)
    decision: BodyLimit = BodyLimit(4 * 1024 * 1024)
    placement: BodyLimit = BodyLimit(32 * 1024 * 1024)


DEFAULT_BODY_LIMITS = BodyLimits()


class Api:
    """The requests that a worker answers under /v1."""

    def __init__(self, worker: Worker, bodies: BodyLimits = DEFAULT_BODY_LIMITS) -> None:
        self._worker, self._bodies = worker, bodies

    def operations(self) -> list[Operation]:
        """Return the operations, the most frequent first: a router tries them in order."""
        bodies, one = self._bodies, "/v1/placements/{name}"
        item = f"{one}/items/{{id:path}}"
        decided = {
            201: "The items to show, by slot.",
            200: "The earlier decision with the same idempotency key.",
        }
        recorded, changed = {200: "The outcome is recorded."}, {200: "Changed, or unchanged."}
        created, added = {**changed, 201: "Created."}, {**changed, 201: "Added."}
        merge_patch = ("application/merge-patch+json", JSON)
        return [
            Operation("POST", f"{one}/decisions", self.decide, answers=decided, body_limit=bodies.decision),
            Operation(
                "PUT",
                "/v1/decisions/{id}/outcome",
                self.report,
                answers=recorded,
                refuses=(409, 410),
                body_limit=bodies.outcome,
            ),
            Operation(
                "POST",
                "/v1/decisions/{id}/events",
                self.add_events,
                answers={200: "The events are recorded."},
                refuses=(409, 410),
                body_limit=bodies.outcome,
            ),
            Operation(
                "POST",
                "/v1/decisions/outcomes",
                self.report_several,
                answers={200: "A verdict on each outcome."},
                body_limit=bodies.decision,
            ),
            Operation(
                "POST",
                OUTCOMES,
                self.report_by_token,
                answers=recorded,
                refuses=(403, 404, 409),
                is_public=True,
                body_limit=bodies.outcome,
            ),
            _read("/v1/decisions/{id}", self.decision, "The decision and its outcome so far."),
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

    async def decide(
        self, name: NameInPath, request: DecisionRequest = NO_CONSTRAINTS, key: IdempotencyKey = None
    ) -> tuple[int, DecisionDocument | DecisionList]:
        """Choose a list for one view, or with `count` for several.

        A repeated Idempotency-Key, with the same count, returns the same decisions.
        """
        if request.count is None:
            decision = await self._worker.decide(name, request, key)
            return 200 if decision.fate == "repeated" else 201, self._decided(decision)
        decisions = await self._worker.decide_several(name, request, request.count, key)
        status = 200 if all(decision.fate == "repeated" for decision in decisions) else 201
        return status, {"decisions": [self._decided(decision) for decision in decisions]}

    def _decided(self, decision: IssuedDecision) -> DecisionDocument:
        return {
            "id": decision.id,
            "placement": decision.placement,
            "items": decision.items,
            "arm": decision.arm,
            "expires": rfc3339(decision.deadline),
            "token": self._worker.token(decision),
        }

    async def report(self, id: IdInPath, reported: ReportedOutcome) -> tuple[int, OutcomeDocument]:
        """Report the outcome of a decision."""
        outcome = reported.outcome()
        receipt = await self._worker.report(id, outcome)
        if receipt.verdict == "late":
            raise Refusal(410, "the decision's deadline has passed; the outcome is recorded as late and not learned")
        return 200, _taken(repr(id), outcome, receipt)

    async def add_events(self, id: IdInPath, reported: LaterEvents) -> tuple[int, OutcomeDocument]:
        """Add events to a decision, such as a purchase two days after the click, within its `reward_days`."""
        receipt = await self._worker.add_events(id, [event.event() for event in reported.events])
        if receipt.verdict == "late":
            raise Refusal(410, "the decision's reward_days have passed; the events are not counted")
        return 200, _added(repr(id), receipt)

    async def report_several(self, reported: OutcomeList) -> tuple[int, VerdictList]:
        """Report the outcomes of many decisions at once. Each gets a verdict; one that is refused changes no other."""
        outcomes = [(each.id, each.outcome()) for each in reported.outcomes]
        receipts = await self._worker.report_several(outcomes)
        return 200, {
            "outcomes": [
                {"id": id, "verdict": receipt.verdict} for (id, _), receipt in zip(outcomes, receipts, strict=True)
            ]
        }

    async def report_by_token(self, reported: BrowserReport) -> tuple[int, OutcomeDocument]:
        """Report the outcome of a decision from a browser, or later events, with its token instead of an API key.

        Any content type is accepted.
        """
        if isinstance(reported, BrowserEvents):
            events = [event.event() for event in reported.events]
            receipt = await self._worker.report_by_token(reported.token, None, events)
            if receipt.verdict == "late":
                raise Refusal(403, "the token has expired with its decision's deadline: add events with an API key")
            return 200, _added("of this token", receipt)
        outcome = reported.outcome()
        receipt = await self._worker.report_by_token(reported.token, outcome)
        if receipt.verdict == "late":
            raise Refusal(403, "the token has expired with its decision's deadline; the outcome is recorded as late")
        return 200, _taken("of this token", outcome, receipt)

    async def decision(self, id: IdInPath) -> tuple[int, LoggedDocument]:
        """Return a decision with its outcome so far."""
        decision = await self._worker.logged(id)
        if decision is None:
            raise Refusal(404, f"there is no decision {id!r}")
        return 200, _logged(decision)

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


def _added(which: str, receipt: Receipt) -> OutcomeDocument:
    if receipt.verdict == "unknown_decision":
        raise Refusal(404, f"there is no decision {which}")
    if receipt.verdict == "invalid_event":
        raise Refusal(422, receipt.why or "")
    if receipt.verdict == "conflict":
        raise Refusal(409, f"event_id {receipt.why!r} was reported before with another name or value, which counts")
    return {"duplicate": receipt.verdict == "duplicate"}


def _taken(which: str, outcome: Outcome, receipt: Receipt) -> OutcomeDocument:
    if receipt.verdict == "unknown_decision":
        raise Refusal(404, f"there is no decision {which}")
    if receipt.verdict == "invalid_event":
        raise Refusal(422, receipt.why or "")
    if receipt.verdict == "unknown_item":
        unknown = next(item for item in outcome.clicks if item not in receipt.items)
        raise Refusal(422, f"clicked must be one of the items shown, {list(receipt.items)}, got {unknown!r}")
    if receipt.verdict == "conflict":
        raise Refusal(409, f"the outcome was reported before as {_describe(receipt.recorded)}, which counts")
    return {"duplicate": receipt.verdict == "duplicate"}


def _describe(outcome: Outcome | None) -> str:
    if outcome is None or outcome.kind == "no_click":
        return "no click"
    if outcome.kind == "not_shown":
        return "not shown"
    clicks = f"a click on {outcome.item!r}" + "".join(f", then on {item!r}" for item in outcome.then)
    clicks += "" if outcome.value is None else f" with value {outcome.value:g}"
    return clicks + "".join(f" and {event.name!r}" for event in outcome.events)


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


def _logged(found: LoggedDecision) -> LoggedDocument:
    decision, outcome = found.decision, found.outcome
    return {
        "id": decision.id,
        "placement": decision.placement,
        "issued": rfc3339(decision.issued),
        "expires": rfc3339(decision.deadline),
        "context": context_of(decision.segment),
        "arm": decision.arm,
        "items": decision.items,
        "propensities": found.propensities,
        "final": found.final,
        "outcome": None if outcome is None else outcome.kind,
        "clicked": [] if outcome is None else [*outcome.clicks],
        "value": found.value,
        "events": [
            {"name": event.name, "value": event.value, "event_id": event.event_id}
            for event in (*(() if outcome is None else outcome.events), *found.events)
        ],
        "late": found.late,
        "capped": decision.capped,
    }
