"""Limits of connections: their number, and how long each may idle, send its head and take its answer.

uvicorn limits the time between two requests alone. `endpoint.BodyLimit` limits the size and the time of a body.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from slotwise.service.http.error_responses import problem

#: seconds between two checks of the limits
CHECK_SECONDS: Final = 0.5
#: maximum number of heads, body pieces and request ends in one read, about 1 µs each regardless of their size; after
#: more of them, other connections have their turn first
MAX_EVENTS: Final = 64
READ_BYTES: Final = 16 * 1024
PAUSE_SECONDS: Final = 0.05
#: requests that wait for the answer to one before: uvicorn would keep any number of them in memory
MAX_PIPELINED: Final = 500
#: the rest of a body whose request is answered already is read and discarded: its sender would not see the answer
#: otherwise
DISCARD_SECONDS: Final = 3.0
MAX_DISCARDED: Final = 64 * 1024 * 1024
#: files that the process needs for anything else
OTHER_FILES: Final = 64
#: seconds between two lines in the log about the same trouble
LOG_SECONDS: Final = 60.0
NO_HEADERS: Final[Mapping[str, str]] = {}

log = logging.getLogger("slotwise.service")


@dataclass(frozen=True)
class Limits:
    """Limits of the connections of one process."""

    connections: int = 1000
    header_bytes: int = 16 * 1024
    header_seconds: float = 10.0
    send_seconds: float = 30.0


class Connection(HttpToolsProtocol):
    """One connection, which closes itself once it takes longer than the limits allow."""

    def __init__(
        self,
        limits: Limits,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._limits = limits
        #: heads, pieces of bodies and ends of requests in the last read, and the bytes of the reads since without any
        self._events = self._unparsed = 0
        #: bytes of a body that came after the answer
        self._discarded = 0
        self._reads_head, self._reads_body = True, False
        #: since when it does the same for the same request
        self._activity: tuple[str, RequestResponseCycle | None] = ("head", None)
        self._since = self.loop.time()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        if not self._make_room():
            self.transport = transport
            self._refuse(503, "there are too many connections at the moment", {"Retry-After": "1"})
            return
        transport.max_size = READ_BYTES  # type: ignore[attr-defined]
        super().connection_made(transport)
        self.loop.call_later(CHECK_SECONDS, self._check_regularly)

    def _make_room(self) -> bool:
        """Whether there is room for this connection; the one that has waited longest without a request makes room."""
        if len(self.connections) < self._limits.connections:
            return True
        _log_rarely("too many connections", open=len(self.connections))
        others = [other for other in self.connections if isinstance(other, Connection) and other.is_waiting()]
        if not others:
            return False
        min(others, key=lambda other: other._since).transport.close()
        return True

    def data_received(self, data: bytes) -> None:
        self._events = 0
        super().data_received(data)
        self._unparsed = 0 if self._events else self._unparsed + len(data)
        if self.transport.is_closing():
            return
        if self._unparsed > self._limits.header_bytes:
            self.send_400_response(f"the head of the request must be at most {self._limits.header_bytes} bytes")
        elif len(self.pipeline) > MAX_PIPELINED:
            self.transport.abort()
        elif self._events > MAX_EVENTS:
            self.transport.pause_reading()
            self.loop.call_later(PAUSE_SECONDS, self._read_on)

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, msg)

    def _refuse(self, status: int, detail: str, headers: Mapping[str, str] = NO_HEADERS) -> None:
        """Answer without a request, and close the connection."""
        answer = problem(status, detail, {**headers, "Connection": "close"})
        head = b"".join(b"%s: %s\r\n" % header for header in answer.raw_headers)
        self.transport.write(STATUS_LINE[status] + head + b"\r\n" + bytes(answer.body))
        self.transport.close()

    def _read_on(self) -> None:
        if not self.flow.read_paused:
            self.transport.resume_reading()

    def on_message_begin(self) -> None:
        self._reads_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._events += 1
        self._reads_head, self._reads_body, self._discarded = False, True, 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._events += 1
        if self.cycle.response_complete:
            self._discarded += len(body)
            if self._discarded > MAX_DISCARDED:
                self.transport.abort()
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._events += 1
        self._reads_body = False
        super().on_message_complete()

    def is_waiting(self) -> bool:
        """Whether no request is being read or answered."""
        return self.activity()[0] in ("head", "idle")

    def activity(self) -> tuple[str, float]:
        """The current activity, and how many seconds it may take."""
        if self.transport.is_closing():
            return "closing", DISCARD_SECONDS
        if self.flow.write_paused:
            return "sending", self._limits.send_seconds
        if self._reads_head:
            return "head", self._limits.header_seconds
        if not self.cycle.response_complete:
            return "answering", float("inf")
        if self._reads_body:
            return "discarding", DISCARD_SECONDS
        return "idle", self.timeout_keep_alive

    def check(self, now: float) -> None:
        """Close the connection if it has done the same for too long."""
        name, seconds = self.activity()
        if self._activity != (name, self.cycle):
            self._activity, self._since = (name, self.cycle), now
        elif now - self._since >= seconds:
            if self.transport.is_closing():
                self.transport.abort()
            else:
                self.transport.close()

    def _check_regularly(self) -> None:
        if self in self.connections:
            self.check(self.loop.time())
            self.loop.call_later(CHECK_SECONDS, self._check_regularly)


def affordable(connections: int) -> int:
    """Return the number of connections that the process has files for, at most `connections`.

    It raises the limit of open files as far as needed and allowed.
    """
    files, max_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = connections + OTHER_FILES
    if files == resource.RLIM_INFINITY or files >= needed:
        return connections
    with contextlib.suppress(ValueError, OSError):
        raised = needed if max_files == resource.RLIM_INFINITY else min(needed, max_files)
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, max_files))
        files = raised
    return max(1, files - OTHER_FILES)


def log_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Handle an error of the event loop: log one about missing files once a minute only.

    asyncio reports it up to a thousand times a second, and tries to accept again a second later.
    """
    if "out of system resource" in context["message"]:
        _log_rarely("no files are left for connections", problem=str(context.get("exception")))
    else:
        loop.default_exception_handler(context)


_logged_at: dict[str, float] = {}


def _log_rarely(event: str, **details: object) -> None:
    now = time.monotonic()
    if now - _logged_at.get(event, -LOG_SECONDS) >= LOG_SECONDS:
        _logged_at[event] = now
        log.error(event, extra=details)
