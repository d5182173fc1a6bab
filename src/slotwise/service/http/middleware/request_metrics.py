"""How long requests take, and how many are refused."""

from __future__ import annotations

import time
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from slotwise.service.metrics import SECONDS


class Watch:
    """ASGI middleware, outside of all that may refuse."""

    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        self._app = app
        self._seconds = Histogram(
            "slotwise_request_seconds",
            "Time to answer, to disk where something is written.",
            ["request"],
            registry=registry,
            buckets=SECONDS,
        )
        self._refusals = Counter(
            "slotwise_refusals", "Requests that were refused, by status.", ["status"], registry=registry
        )
        #: by endpoint, as looking a label up takes longer than counting
        self._watches: dict[Any, Any] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        began = time.perf_counter()
        # what is raised is answered further out
        status = 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            if status >= 400:
                self._refusals.labels(status).inc()
            endpoint = scope.get("endpoint")
            if endpoint is not None:
                watch = self._watches.get(endpoint) or self._watch(endpoint)
                watch.observe(time.perf_counter() - began)
        return None

    def _watch(self, endpoint: Any) -> Any:
        name = getattr(endpoint, "__name__", type(endpoint).__name__)
        return self._watches.setdefault(endpoint, self._seconds.labels(name))
