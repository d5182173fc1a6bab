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
#: heads, body pieces and request ends cost about 1 µs each regardless of their size: a connection that sends more of
#: them in one read, or more small pieces in one request, waits for its turn to be read again
MAX_EVENTS: Final = 64
#: the bytes of one read; and those of a small piece, and of one read of a connection that waits for its turns
READ_BYTES: Final = 16 * 1024
SMALL_BYTES: Final = 1024
#: the share of the time in which all of these connections together are read
TURN_SHARE: Final = 0.1
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


class ReadingTurns:
    """When to read again from connections that send many small pieces, so that all of them together take little time.

    Each read takes its time divided by `TURN_SHARE` out of a schedule that all connections of the process share.
    """

    def __init__(self) -> None:
        self._free_at = 0.0

    def next_after(self, now: float, seconds: float) -> float:
        """Return when to read again from a connection whose last read took some seconds."""
        self._free_at = max(now, self._free_at) + seconds / TURN_SHARE
        return self._free_at


class Connection(HttpToolsProtocol):
    """One connection, which closes itself once it takes longer than the limits allow."""

    def __init__(
        self,
        limits: Limits,
        turns: ReadingTurns,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._limits, self._turns = limits, turns
        #: heads, pieces of bodies and ends of requests in the last read, and the bytes of the reads since without any
        self._events = self._unparsed = 0
        #: small pieces of the body, and bytes of the head, of the current request
        self._pieces = self._head_bytes = 0
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
        self._events, started = 0, self.loop.time()
        super().data_received(data)
        self._unparsed = 0 if self._events else self._unparsed + len(data)
        if self.transport.is_closing():
            return
        if self._unparsed > self._limits.header_bytes:
            self.send_400_response("")
        elif len(self.pipeline) > MAX_PIPELINED:
            self.transport.abort()
        elif self._events > MAX_EVENTS or self._pieces > MAX_EVENTS:
            self.transport.pause_reading()
            self.transport.max_size = SMALL_BYTES  # type: ignore[attr-defined]
            now = self.loop.time()
            self.loop.call_at(self._turns.next_after(now, now - started), self._read_on)

    def send_400_response(self, msg: str) -> None:
        limit = self._limits.header_bytes
        is_long = max(self._unparsed, self._head_bytes) > limit
        self._refuse(400, f"the head of the request must be at most {limit} bytes" if is_long else msg)

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
        self._pieces = self._head_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count_head(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count_head(len(name) + len(value))
        super().on_header(name, value)

    def _count_head(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > self._limits.header_bytes:
            raise ValueError("the parser stops at an error, and the request is refused")

    def on_headers_complete(self) -> None:
        self._events += 1
        self._reads_head, self._reads_body, self._discarded = False, True, 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._events += 1
        self._pieces += len(body) < SMALL_BYTES
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
