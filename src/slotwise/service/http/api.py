"""The contract over HTTP: placements, decisions, outcomes, estimates.

Bodies are read and written by hand, as it is done thousands of times a second; `described` tells OpenAPI what they are.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.routing import Route

from slotwise.service.http import described
from slotwise.service.http.bodies import MOST_FOR_DECISION, MOST_FOR_OUTCOME, MOST_FOR_PLACEMENT, body_of
from slotwise.service.http.problems import Problem
from slotwise.service.store.contract import Outcome, Receipt, Report
from slotwise.service.worker.deciding import decide as decide_on
from slotwise.service.worker.definition import BrowserOutcome, Definition, ReportedOutcome, Wish, checked_name, is_name
from slotwise.service.worker.placements import Placement
from slotwise.service.worker.worker import Service

_ID: Final = re.compile(r"[0-9a-f]{32}", re.ASCII)
_NO_WISH: Final = Wish()
_JSON: Final = "application/json"


def install(app: FastAPI, service: Service) -> None:
    """Every route under /v1; those that are asked most come first, as they are tried in order."""

    async def placement_of(name: str) -> Placement:
        placement = service.placements.get(name)
        if placement is None and is_name(name):
            placement = await service.placements.find(name)
        if placement is None:
            raise Problem(404, f"there is no placement {name!r}")
        return placement

    @app.post("/v1/placements/{name}/decisions", **described.decide)
    async def decide(name: str, request: Request) -> Response:
        """Choose what to show to one visitor."""
        placement = service.placements.get(name) or await placement_of(name)
        body = await body_of(request, MOST_FOR_DECISION)
        wish = _NO_WISH if body in (b"", b"{}") else Wish.model_validate_json(body)
        decision = await service.writer.issue(decide_on(placement, wish, service.clock()))
        expires = datetime.fromtimestamp(decision.deadline, UTC).isoformat(timespec="milliseconds")
        return _json(
            {
                "id": decision.id,
                "placement": name,
                "items": decision.items,
                "arm": decision.arm,
                "expires": expires.replace("+00:00", "Z"),
                "token": service.signer.sign(decision.id, decision.deadline),
            },
            201,
        )

    async def decide_at_once(request: Request) -> Response:
        return await decide(request.path_params["name"], request)

    # past FastAPI's reading of arguments, of which there is nothing to read: that takes longer than the decision
    app.router.routes.insert(0, Route("/v1/placements/{name}/decisions", decide_at_once, methods=["POST"]))

    async def record(id: str, outcome: Outcome) -> Receipt:
        if not _ID.fullmatch(id):
            raise Problem(404, f"there is no decision {id!r}")
        receipt = await service.writer.record(Report(id, outcome, service.clock()))
        service.metrics.reports.labels(receipt.verdict).inc()
        if receipt.verdict == "unknown_decision":
            raise Problem(404, f"there is no decision {id!r}")
        if receipt.verdict == "unknown_item":
            raise Problem(422, f"clicked must be one of the items shown, {list(receipt.items)}, got {outcome.item!r}")
        if receipt.verdict == "conflict":
            raise Problem(409, f"the outcome was reported before as {_words(receipt.recorded)}, and that stands")
        return receipt

    @app.put("/v1/decisions/{id}/outcome", **described.report)
    async def report(id: str, request: Request) -> Response:
        """Report what came of a decision."""
        body = await body_of(request, MOST_FOR_OUTCOME)
        receipt = await record(id, ReportedOutcome.model_validate_json(body).outcome())
        if receipt.verdict == "late":
            raise Problem(410, "the decision's deadline has passed; the outcome is counted as late and not learned")
        return _duplicate(receipt)

    @app.post("/v1/outcomes", **described.report_by_token)
    async def report_by_token(request: Request) -> Response:
        """Report what came of a decision from a browser: its token is enough, whatever the content type says."""
        body = BrowserOutcome.model_validate_json(await body_of(request, MOST_FOR_OUTCOME))
        token = service.signer.read(body.token)
        expired = Problem(403, "the token has expired with its decision's deadline; the outcome is counted as late")
        try:
            receipt = await record(token.decision, body.outcome())
        except Problem as problem:
            raise expired if service.clock() >= token.deadline else problem from None
        if receipt.verdict == "late":
            raise expired
        return _duplicate(receipt)

    @app.get("/v1/placements", **described.placements)
    async def placements() -> Response:
        """Every placement, without its items."""
        found = []
        for name in service.placements.names():
            known = service.placements.get(name)
            if known is not None:
                summary = known.definition.model_dump(exclude={"items"})
                found.append({"name": name, **summary, "item_count": len(known.definition.items)})
        return _json({"placements": found})

    @app.get("/v1/placements/{name}", **described.placement)
    async def placement(name: str) -> Response:
        """A placement as it was put."""
        found = await placement_of(name)
        # what another worker was told a moment ago, too
        found = await service.placements.find(name) or found
        return _json({"name": name, **found.definition.document()})

    @app.put("/v1/placements/{name}", **described.put_placement)
    async def put_placement(name: str, request: Request) -> Response:
        """Create or change a placement. Items that are left out are retired: what was learned of them stays."""
        body = await body_of(request, MOST_FOR_PLACEMENT)
        checked = checked_name(name)
        found, new = await service.put(checked, Definition.model_validate_json(body))
        return _json({"name": name, **found.definition.document()}, 201 if new else 200)

    @app.get("/v1/placements/{name}/estimates", **described.estimates)
    async def estimates(name: str) -> Response:
        """What is known of a placement's items and slots."""
        await placement_of(name)
        return Response(await service.estimates.text(name), media_type=_JSON)


def _duplicate(receipt: Receipt) -> Response:
    return _json({"duplicate": receipt.verdict == "duplicate"})


def _words(outcome: Outcome | None) -> str:
    if outcome is None or outcome.kind == "no_click":
        return "no click"
    return "not shown" if outcome.kind == "not_shown" else f"a click on {outcome.item!r}"


def _json(content: Any, status: int = 200) -> Response:
    return Response(json.dumps(content, ensure_ascii=False, allow_nan=False).encode(), status, media_type=_JSON)
