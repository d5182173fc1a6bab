"""Error responses as RFC 9457 problem documents, which name the field and the value."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Final

from pydantic import TypeAdapter, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from slotwise.core.errors import SlotwiseError, StoreRefused, StoreUnavailable
from slotwise.service.decisions.outcome_tokens import ForgedToken
from slotwise.service.http.http_schemas import ProblemDocument
from slotwise.service.placements.admission import TooManyWaiting
from slotwise.service.placements.definition_edits import StaleVersion, UnknownItem
from slotwise.service.placements.placement_registry import BrokenPlacement, UnknownPlacement
from slotwise.service.schemas.report_schemas import FieldProblem
from slotwise.service.schemas.validation_errors import faults

MEDIA_TYPE: Final = "application/problem+json"
#: no response may be taken for another type than its own
NO_SNIFFING: Final = {"X-Content-Type-Options": "nosniff"}
#: descriptions of error statuses in the OpenAPI document
MEANINGS: Final = {
    400: "The body is incomplete.",
    401: "The API key is missing or wrong.",
    403: "The token is forged or has expired, or the API key can only read.",
    404: "The placement, item or decision does not exist.",
    408: "The body took too long to arrive.",
    409: "A different outcome was reported before.",
    410: "The deadline has passed.",
    412: "The placement does not have the expected version; nothing was changed.",
    413: "The body is too large.",
    422: "A field is invalid.",
    503: "The store is unavailable, or too many requests are waiting; nothing was written.",
}

DOCUMENT: Final = TypeAdapter[ProblemDocument](ProblemDocument)

log = logging.getLogger("slotwise.service")


class Refusal(Exception):
    """An error response with its status."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers


def problem(
    status: int, detail: str, headers: Mapping[str, str] | None = None, errors: list[FieldProblem] | None = None
) -> Response:
    """Return an error response."""
    # a path may hold lone surrogates
    text = detail.encode(errors="replace").decode()
    content: ProblemDocument = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": text,
    }
    if errors is not None:
        content["errors"] = errors
    return Response(DOCUMENT.dump_json(content), status, {**(headers or {}), **NO_SNIFFING}, MEDIA_TYPE)


async def _refused(_: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)
    return problem(refusal.status, refusal.detail, refusal.headers)


async def _no_route(request: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, HTTPException)
    detail = {404: f"there is nothing at {request.url.path}", 405: f"{request.method} is not allowed here"}
    headers = {"Allow": _allowed(request)} if refusal.status_code == 405 else refusal.headers
    return problem(refusal.status_code, detail.get(refusal.status_code, str(refusal.detail)), headers)


def _allowed(request: Request) -> str:
    """Return the methods of all routes at the path; the router names only those of the first."""
    methods = set[str]()
    for route in request.app.routes:
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
            methods |= route.methods or set()
    return ", ".join(sorted(methods or {"GET", "HEAD"}))


async def _invalid(_: Request, invalid: Exception) -> Response:
    assert isinstance(invalid, ValidationError)
    errors = faults(invalid)
    first = errors[0]
    got = f", got {first['value']}" if "value" in first else ""
    return problem(422, f"{first['field']}: {first['detail']}{got}", errors=errors)


def _with_status(status: int) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Return a handler that responds with the text of the exception."""

    async def respond(_: Request, refusal: Exception) -> Response:
        return problem(status, str(refusal))

    return respond


async def _unavailable(_: Request, unavailable: Exception) -> Response:
    # the store's address is for the log only
    log.error("store unavailable", extra={"problem": str(unavailable)})
    return problem(503, "the store is unavailable; nothing was written", {"Retry-After": "1"})


async def _overloaded(_: Request, refusal: Exception) -> Response:
    return problem(503, str(refusal), {"Retry-After": "1"})


async def _unexpected(request: Request, fault: Exception) -> Response:
    """Return the response to an internal error."""
    log.error("unexpected error", extra={"path": request.url.path, "method": request.method}, exc_info=fault)
    return problem(500, "internal error; the service logged it")


#: handlers of exceptions; the nearest class answers
_HANDLERS: Final[Mapping[type[Exception], Callable[[Request, Exception], Awaitable[Response]]]] = {
    Refusal: _refused,
    HTTPException: _no_route,
    ValidationError: _invalid,
    UnknownPlacement: _with_status(404),
    BrokenPlacement: _with_status(500),
    UnknownItem: _with_status(404),
    StaleVersion: _with_status(412),
    ForgedToken: _with_status(403),
    StoreUnavailable: _unavailable,
    TooManyWaiting: _overloaded,
    StoreRefused: _unavailable,
    SlotwiseError: _with_status(422),
    Exception: _unexpected,
}


async def respond_to(fault: Exception, scope: Scope, receive: Receive, send: Send) -> None:
    """Send the response to an exception."""
    handler = next(_HANDLERS[kind] for kind in type(fault).__mro__ if kind in _HANDLERS)
    response = await handler(Request(scope), fault)
    await response(scope, receive, send)
