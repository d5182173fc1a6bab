"""Every refusal is a problem document (RFC 9457) that names the field and the value; none shows the inside."""

from __future__ import annotations

import http
import json
import logging
from collections.abc import Mapping
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from slotwise.errors import SlotwiseError, StoreRefused, StoreUnavailable
from slotwise.service.worker.definition import faults
from slotwise.service.worker.tokens import ForgedToken

MEDIA_TYPE: Final = "application/problem+json"

log = logging.getLogger("slotwise.service")


class Problem(Exception):
    """A refusal with a status of its own."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None, **more: Any) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers, self.more = status, detail, headers, more


def respond(status: int, detail: str, headers: Mapping[str, str] | None = None, **more: Any) -> Response:
    """The document."""
    title = http.HTTPStatus(status).phrase
    content = {"type": "about:blank", "title": title, "status": status, "detail": detail, **more}
    return Response(json.dumps(content, ensure_ascii=False).encode(errors="replace"), status, headers, MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Turn whatever is raised into a document."""
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(ValidationError, _invalid)
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(ForgedToken, _forged)
    app.add_exception_handler(StoreUnavailable, _unavailable)
    app.add_exception_handler(StoreRefused, _unavailable)
    app.add_exception_handler(SlotwiseError, _refused)


def _problem(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, Problem)
    return respond(problem.status, problem.detail, problem.headers, **problem.more)


def _http(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    detail = {404: f"there is nothing at {request.url.path}", 405: f"{request.method} is not allowed here"}
    return respond(problem.status_code, detail.get(problem.status_code, str(problem.detail)), problem.headers)


def _invalid(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, ValidationError)
    errors = faults(problem)
    first = errors[0]
    got = f", got {first['value']}" if "value" in first else ""
    return respond(422, f"{first['field']}: {first['detail']}{got}", errors=errors)


def _invalid_request(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, RequestValidationError)
    return respond(422, "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in problem.errors()))


def _forged(_: Request, problem: Exception) -> Response:
    return respond(403, str(problem))


def _unavailable(_: Request, problem: Exception) -> Response:
    # where the store is, is the operator's business
    log.error("store unavailable", extra={"problem": str(problem)})
    return respond(503, "the store cannot be used at the moment; nothing was written", {"Retry-After": "1"})


def _refused(_: Request, problem: Exception) -> Response:
    return respond(422, str(problem))


def unexpected(method: str, path: str, problem: Exception) -> Response:
    """What a caller sees of a fault of ours."""
    log.error("unexpected error", extra={"path": path, "method": method}, exc_info=problem)
    return respond(500, "something went wrong here; it was logged")
