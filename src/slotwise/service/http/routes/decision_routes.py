"""Routes of decisions, their outcomes and later events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Discriminator, Field, Tag

from slotwise.service.http.conditional_headers import IdempotencyKey
from slotwise.service.http.endpoint import Operation
from slotwise.service.http.error_responses import Refusal
from slotwise.service.http.http_schemas import DecisionDocument, DecisionList, LoggedDocument
from slotwise.service.http.outcome_schemas import (
    BrowserEvents,
    BrowserOutcome,
    LaterEvents,
    OutcomeDocument,
    OutcomeList,
    ReportedOutcome,
    VerdictList,
)
from slotwise.service.http.routes.placement_routes import DEFAULT_BODY_LIMITS, BodyLimits, NameInPath
from slotwise.service.runtime import Worker
from slotwise.service.runtime.worker import NO_CONSTRAINTS
from slotwise.service.schemas.decision_request import DecisionRequest
from slotwise.service.schemas.segment_rules import context_of
from slotwise.service.schemas.timestamps import rfc3339
from slotwise.service.storage.decision_types import IssuedDecision, LoggedDecision, Outcome, Receipt

#: browsers report outcomes here, with a token instead of an API key
OUTCOMES = "/v1/outcomes"

IdInPath = Annotated[str, Field(description="The decision's id.", examples=["0" * 32])]
BrowserReport = Annotated[
    Annotated[BrowserOutcome, Tag("=outcome")] | Annotated[BrowserEvents, Tag("=events")],
    # events without an outcome are later ones; any other body is an outcome, and so are its faults
    Discriminator(lambda body: "=events" if isinstance(body, dict) and _has_events_only(body) else "=outcome"),
]


def _has_events_only(body: Mapping[str, object]) -> bool:
    return "events" in body and not body.keys() & {"clicked", "shown"}


class DecisionApi:
    """Requests on decisions: the most frequent ones."""

    def __init__(self, worker: Worker, bodies: BodyLimits = DEFAULT_BODY_LIMITS) -> None:
        self._worker, self._bodies = worker, bodies

    def operations(self) -> list[Operation]:
        """Return the operations, the most frequent first: a router tries them in order."""
        bodies = self._bodies
        decided = {
            201: "The items to show, by slot.",
            200: "The earlier decision with the same idempotency key.",
        }
        recorded = {200: "The outcome is recorded."}
        return [
            Operation(
                "POST", "/v1/placements/{name}/decisions", self.decide, answers=decided, body_limit=bodies.decision
            ),
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
            Operation(
                "GET",
                "/v1/decisions/{id}",
                self.decision,
                answers={200: "The decision and its outcome so far."},
            ),
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
