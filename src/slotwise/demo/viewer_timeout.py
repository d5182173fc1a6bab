"""Whether anybody is looking: a demo that was left alone ends."""

from __future__ import annotations

import time
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from slotwise.demo.service_calls import HEADER

_MARK = HEADER.lower().encode()


class Presence:
    """Notes the requests of browsers, which are all that the visitors of the shop did not send."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = clock()
        self._open = 0

    def alone_for(self) -> float:
        """Seconds since the last browser was answered; 0 while one is."""
        return 0.0 if self._open else self._clock() - self._last

    def came(self) -> None:
        """Somebody asks for something."""
        self._open += 1

    def went(self) -> None:
        """It was answered."""
        self._open -= 1
        self._last = self._clock()


class NotesPresence:
    """ASGI middleware that tells a `Presence` of each request."""

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
