"""Connections that hold nobody else up: capped in number, limited in time, and read no faster than others can wait.

uvicorn bounds the size of a request's head. The rest is here: connections that idle, heads and bodies that never end,
answers that nobody reads, bodies in tiny chunks, more connections than there are files for.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

import h11
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol

from slotwise.service.http.bodies import TOO_SLOW
from slotwise.service.http.problems import problem

#: under which a connection finds `Connections` in the state of the application
STATE: Final = "connections"
#: between two looks at what takes too long
LOOK_SECONDS: Final = 0.5
#: pieces of a body that are parsed before others have their turn, and how long that turn is: parsing a piece takes
#: about 20 µs, however few bytes are in it
PIECES_AT_ONCE: Final = 64
PAUSE_SECONDS: Final = 0.05
#: what is read, and thrown away, of a body that was refused: its sender would not see the answer otherwise
LINGER_SECONDS: Final = 3.0
MOST_DISCARDED: Final = 64 * 1024 * 1024
#: files that the process needs for anything else
OTHER_FILES: Final = 64
#: between two lines in the log about the same trouble
QUIET_SECONDS: Final = 60.0

log = logging.getLogger("slotwise.service")


@dataclass(frozen=True)
class Limits:
    """What connections are allowed."""

    connections: int = 1000
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    send_seconds: float = 30.0


class Connections:
    """All connections of a process; within its block, those that take too long are closed.

    One look at all of them twice a second, instead of a timer for each request: a request costs nothing more.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._most = _affordable(limits.connections)
        #: in the order in which they came
        self._open: dict[Connection, None] = {}
        self._told = -QUIET_SECONDS

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._on_problem)
        self._watching = loop.create_task(self._watch())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._watching

    def let_in(self, new: Connection) -> bool:
        """Whether there is room; where there is not, whoever has waited longest without asking makes room."""
        if len(self._open) >= self._most:
            waiting = next((one for one in self._open if one.is_waiting()), None)
            self._tell("too many connections", open=len(self._open))
            if waiting is None:
                return False
            waiting.end()
        self._open[new] = None
        return True

    def forget(self, connection: Connection) -> None:
        """It is closed."""
        self._open.pop(connection, None)

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            for connection in list(self._open):
                connection.look(loop.time())

    def _on_problem(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        # asyncio says this up to a thousand times a second, and tries again a second later
        if "out of system resource" in context["message"]:
            self._tell("no files are left for connections", problem=str(context.get("exception")))
        else:
            loop.default_exception_handler(context)

    def _tell(self, event: str, **details: object) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._told >= QUIET_SECONDS:
            self._told = now
            log.error(event, extra=details)


def _affordable(wanted: int) -> int:
    """As many as wanted, or as there are files for; this process takes as many of those as it may."""
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + OTHER_FILES
    if files == resource.RLIM_INFINITY or files >= needed:
        return wanted
    with contextlib.suppress(ValueError, OSError):
        more = needed if most == resource.RLIM_INFINITY else min(needed, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (more, most))
        files = more
    return max(1, files - OTHER_FILES)


class Connection(H11Protocol):
    """One connection, of a server whose application has `Connections` in its state."""

    def __init__(self, config: Any, server_state: Any, app_state: Any, _loop: Any = None) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._all: Connections = app_state[STATE]
        self.conn = self._parser = _Parser(h11.SERVER, config.h11_max_incomplete_event_size or 16 * 1024)
        self.lingers = False
        self._discarded = 0
        #: what it was seen doing, for which request, and since when
        self._seen: tuple[str, Any, float] = ("", None, 0.0)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        if self._all.let_in(self):
            super().connection_made(_Lingering(transport, self))  # type: ignore[arg-type]
            self.flow = self._flow = _Flow(transport)
        else:
            self.transport, self.lingers = transport, True
            transport.write(_FULL)
            transport.close()

    def on_response_complete(self) -> None:
        """Be ready for the next request; `look` closes what idles, without a timer that is set for each."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.conn.our_state is h11.DONE and self.conn.their_state is h11.DONE:
            self.conn.start_next_cycle()
            self.handle_events()

    def connection_lost(self, exc: Exception | None) -> None:
        self._all.forget(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self.lingers:
            super().data_received(data)
            return
        self._discarded += len(data)
        if self._discarded > MOST_DISCARDED:
            self.transport.abort()

    def handle_events(self) -> None:
        self._parser.pieces_left = PIECES_AT_ONCE
        super().handle_events()
        if self._parser.pieces_left < 0:
            self._flow.hold()
            self.loop.call_later(PAUSE_SECONDS, self._go_on)

    def _go_on(self) -> None:
        self._flow.held = False
        if self.transport.is_closing():
            return
        self.handle_events()
        if len(self.cycle.body) <= HIGH_WATER_LIMIT:
            self.flow.resume_reading()

    def is_waiting(self) -> bool:
        """Whether nothing is being asked."""
        return self._parser.their_state is h11.IDLE and not self.transport.is_closing()

    def end(self) -> None:
        """Close it, politely if that has not been tried."""
        if self.transport.is_closing():
            self.transport.abort()
        else:
            self.transport.close()

    def linger(self, transport: asyncio.Transport) -> None:
        """Close what it is written to, and go on reading for a while, so that whoever still sends gets to see why."""
        self.lingers = True
        self._flow.held = False
        if transport.can_write_eof():
            transport.write_eof()
        self.flow.resume_reading()

    @property
    def asks(self) -> bool:
        """Whether a request has begun to come in whose body is not whole yet."""
        return self._parser.their_state is h11.SEND_BODY

    def look(self, now: float) -> None:
        """Close it if it has been doing the same for too long."""
        doing, seconds = self._doing()
        known, request, since = self._seen
        if doing != known or request is not self.cycle:
            self._seen = doing, self.cycle, now
        elif now - since >= seconds:
            if doing == "body" and not self.cycle.response_started:
                self._give_up_body()
            else:
                self.end()

    def _give_up_body(self) -> None:
        """Let whoever waits for it answer."""
        self.scope[TOO_SLOW] = self._all.limits.body_seconds  # type: ignore[typeddict-unknown-key]
        self.cycle.message_event.set()

    def _doing(self) -> tuple[str, float]:
        """What it is doing now, and how long that may take."""
        limits = self._all.limits
        if self.transport.is_closing():
            return "closing", LINGER_SECONDS
        if self.flow.write_paused:
            return "sending", limits.send_seconds
        if self.asks:
            return "body", limits.body_seconds
        if self._parser.their_state is h11.IDLE:
            if self.cycle is None or self._parser.trailing_data[0]:
                return "head", limits.header_seconds
            return "idle", self.timeout_keep_alive
        return "answering", float("inf")


class _Parser(h11.Connection):
    """Reads only so many pieces of a body before it asks for a pause."""

    pieces_left = PIECES_AT_ONCE

    def next_event(self) -> Any:
        if self.pieces_left <= 0:
            self.pieces_left = -1
            return h11.NEED_DATA
        event = super().next_event()
        if type(event) is h11.Data:
            self.pieces_left -= 1
        return event


class _Flow(FlowControl):
    """Nothing is read as long as it is held."""

    held = False

    def hold(self) -> None:
        self.held = True
        self.pause_reading()

    def resume_reading(self) -> None:
        if not self.held:
            super().resume_reading()


class _Lingering:
    """A transport that is closed only when the other side had the chance to read what it was sent.

    It keeps the head of an answer until there is something of its body, and sends both at once: sending costs as much
    as all else that is done for a small answer, here and where it is read.
    """

    def __init__(self, transport: asyncio.Transport, connection: Connection) -> None:
        self._transport, self._connection = transport, connection
        #: the request whose answer has begun, and what is kept of that
        self._answered: Any = None
        self._head = b""
        self.get_extra_info = transport.get_extra_info
        self.pause_reading, self.resume_reading = transport.pause_reading, transport.resume_reading
        self.abort = transport.abort
        self.set_protocol = transport.set_protocol

    def write(self, data: bytes) -> None:
        cycle = self._connection.cycle
        if cycle is not self._answered and cycle.response_started:
            self._answered, self._head = cycle, data
        elif self._head:
            self._send_head(data)
        else:
            self._transport.write(data)

    def _send_head(self, data: bytes = b"") -> None:
        head, self._head = self._head, b""
        self._transport.write(head + data)

    def is_closing(self) -> bool:
        return self._connection.lingers or self._transport.is_closing()

    def close(self) -> None:
        if self.is_closing():
            return
        if self._head:
            self._send_head()
        if self._connection.asks:
            self._connection.linger(self._transport)
        else:
            self._transport.close()


def _refusal(status: int, detail: str, headers: Mapping[str, str]) -> bytes:
    """A whole answer, for those who are not let in."""
    answer = problem(status, detail, {**headers, "Connection": "close"})
    head = b"".join(b"%s: %s\r\n" % header for header in answer.raw_headers)
    return b"HTTP/1.1 %d Service Unavailable\r\n%s\r\n%s" % (status, head, answer.body)


_FULL: Final = _refusal(503, "there are too many connections at the moment", {"Retry-After": "1"})
