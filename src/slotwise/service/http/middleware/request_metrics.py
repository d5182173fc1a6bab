"""The outermost middleware: responses to exceptions, and metrics of requests."""

from __future__ import annotations

import time

from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from slotwise.service.http.error_responses import respond_to
from slotwise.service.metrics import SECONDS


class Watch:
    """ASGI middleware that measures requests and answers exceptions; it must be outside of all other middleware."""

    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        self._app = app
        self._seconds = Histogram(
            "slotwise_request_seconds",
            "Time to respond, including the write to disk.",
            ["request"],
            registry=registry,
            buckets=SECONDS,
        )
        self._refusals = Counter("slotwise_refusals", "Error responses, by status.", ["status"], registry=registry)
        #: by endpoint: a look-up of a label takes longer than an increment
        self._watches: dict[object, Histogram] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        began = time.perf_counter()
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            try:
                await self._app(scope, receive, watched)
            except Exception as fault:
                if status:
                    # the response has begun: the server closes the connection
                    raise
                await respond_to(fault, scope, receive, watched)
        finally:
            if status >= 400:
                self._refusals.labels(status).inc()
            endpoint = scope.get("endpoint")
            if endpoint is not None:
                watch = self._watches.get(endpoint) or self._watch(endpoint)
                watch.observe(time.perf_counter() - began)
        return None

    def _watch(self, endpoint: object) -> Histogram:
        name = getattr(endpoint, "__name__", type(endpoint).__name__)
        return self._watches.setdefault(endpoint, self._seconds.labels(name))
