"""Ends the demo if nobody looks at it."""

from __future__ import annotations

import time
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from slotwise.demo.service_calls import HEADER

_MARK = HEADER.lower().encode()


class Presence:
    """Tracks the requests of browsers: those that simulated visitors did not send."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = clock()
        self._open = 0

    def alone_for(self) -> float:
        """Return the seconds since the last response to a browser; 0 during a request."""
        return 0.0 if self._open else self._clock() - self._last

    def came(self) -> None:
        """Count a request that begins."""
        self._open += 1

    def went(self) -> None:
        """Count a request that ends."""
        self._open -= 1
        self._last = self._clock()


class NotesPresence:
    """ASGI middleware that reports requests to a `Presence`."""

    def __init__(self, app: ASGIApp, presence: Presence) -> None:
        self._app, self._presence = app, presence

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or any(name == _MARK for name, _ in scope["headers"]):
            return await self._app(scope, receive, send)
        self._presence.came()
        try:
            return await self._app(scope, receive, send)
        finally:
            self._presence.went()
