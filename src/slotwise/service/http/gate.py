"""What every request passes: the key, a watch, and the headers that a browser on another origin needs."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from slotwise.service.http.problems import respond, unexpected
from slotwise.service.settings import is_loopback
from slotwise.service.worker.metrics import Metrics

#: reported by browsers, which hold a token and no key
OUTCOMES: Final = "/v1/outcomes"
#: nothing of anybody's is there
OPEN: Final = frozenset({OUTCOMES, "/healthz", "/readyz", "/docs", "/openapi.json", "/favicon.ico", "/slotwise.js"})
#: read by people in a browser, which asks them for a name and a password: any name, and the key
PAGES: Final = frozenset({"/", "/metrics"})


class Gate:
    """ASGI middleware, outermost."""

    def __init__(self, app: ASGIApp, *, key: str | None, metrics: Metrics) -> None:
        self._app = app
        self._key = None if key is None else _digest(key)
        self._metrics = metrics
        self._watches: dict[Any, Any] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        began = time.perf_counter()
        path = scope["path"]
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if path == OUTCOMES:
                    _allow_origin(Headers(scope=scope), MutableHeaders(scope=message))
            await send(message)

        if path == OUTCOMES and scope["method"] == "OPTIONS":
            await watched({"type": "http.response.start", "status": 204, "headers": []})
            await watched({"type": "http.response.body", "body": b""})
        elif self._key is None and path != OUTCOMES and _is_elsewhere(Headers(scope=scope)):
            await respond(403, "without a key, no page of another machine may ask")(scope, receive, watched)
        elif self._key is not None and path not in OPEN and not self._has_key(scope):
            await _refuse(path)(scope, receive, watched)
        else:
            try:
                await self._app(scope, receive, watched)
            except Exception as problem:
                if status:
                    raise
                await unexpected(scope["method"], path, problem)(scope, receive, watched)
        if status >= 400:
            self._metrics.refusals.labels(status).inc()
        endpoint = scope.get("endpoint")
        if endpoint is not None:
            watch = self._watches.get(endpoint)
            if watch is None:
                watch = self._watches[endpoint] = self._metrics.requests.labels(
                    endpoint.__name__.removesuffix("_at_once")
                )
            watch.observe(time.perf_counter() - began)
        return None

    def _has_key(self, scope: Scope) -> bool:
        assert self._key is not None
        scheme, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
        if scheme.lower() == "basic":
            # a browser sends what it was once told with every request, also of other sites' pages: to look, and no more
            if scope["path"] not in PAGES or scope["method"] not in ("GET", "HEAD"):
                return False
            try:
                given = base64.b64decode(given).decode().partition(":")[2]
            except (binascii.Error, ValueError):
                return False
        elif scheme.lower() != "bearer":
            return False
        return hmac.compare_digest(_digest(given.strip()), self._key)


def _is_elsewhere(headers: Headers) -> bool:
    """A page that somebody on this machine happens to visit can reach loopback, too.

    Its origin tells; and where a name of its owner's was made to point here, the name that it asks for: it has a dot.
    """
    origin, host = headers.get("origin"), headers.get("host", "")
    try:
        if origin is not None and not is_loopback(urlsplit(origin).hostname or ""):
            return True
        name = urlsplit(f"//{host}").hostname or ""
        return "." in name and not is_loopback(name)
    except ValueError:
        return True


def _digest(key: str) -> bytes:
    # of one length, so that comparing tells nothing of it
    return hashlib.sha256(key.encode(errors="replace")).digest()


def _refuse(path: str) -> ASGIApp:
    challenge = 'Basic realm="slotwise", charset="UTF-8"' if path in PAGES else 'Bearer realm="slotwise"'
    return respond(
        401, "the request must carry Authorization: Bearer KEY, with the right key", {"WWW-Authenticate": challenge}
    )


def _allow_origin(asked: Headers, answer: MutableHeaders) -> None:
    # a beacon is sent with credentials, for which a browser does not take "*"; the token is all that counts here
    origin = asked.get("origin")
    if origin is not None:
        answer["Access-Control-Allow-Origin"] = origin
        answer["Access-Control-Allow-Credentials"] = "true"
        answer["Access-Control-Allow-Methods"] = "POST"
        answer["Access-Control-Allow-Headers"] = "content-type"
        answer["Access-Control-Max-Age"] = "86400"
    answer["Vary"] = "Origin"
