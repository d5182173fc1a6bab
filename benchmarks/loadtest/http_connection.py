"""A minimal HTTP/1.1 client with a persistent connection, which costs less CPU time than the service."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Address:
    """Address of a service, and its API key."""

    url: str
    key: str | None = None

    def head(self, method: str, path: str, *headers: str) -> bytes:
        """Return a request up to the length of its body; each of `headers` is a line."""
        parts = urlsplit(self.url)
        key = f"Authorization: Bearer {self.key}\r\n" if self.key else ""
        lines = "".join(f"{header}\r\n" for header in headers)
        return (
            f"{method} {parts.path.rstrip('/')}{path} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
            f"Content-Type: application/json\r\n{key}{lines}Content-Length: "
        ).encode()


class Unanswered(Exception):
    """There was no connection, it was lost, or the response timed out."""

    #: whether the request was sent
    sent = True


class NotSent(Unanswered):
    """There was no connection."""

    sent = False


class HttpConnection:
    """One visitor's connection, opened on first use and again after a loss."""

    def __init__(self, address: Address, timeout: float) -> None:
        self._address, self._timeout = address, timeout
        self._wire: _Wire | None = None

    async def ask(self, head: bytes, body: bytes = b"") -> tuple[int, bytes]:
        """Send a request with an `Address.head`, and return the status and body of the response."""
        connected = False
        try:
            async with asyncio.timeout(self._timeout):
                if self._wire is None or self._wire.transport.is_closing():
                    self._wire = await self._connect()
                connected = True
                return await self._wire.ask(b"%b%d\r\n\r\n%b" % (head, len(body), body))
        except (OSError, ValueError) as failure:
            # TimeoutError is an OSError
            self.close()
            raise (Unanswered if connected else NotSent)(str(failure) or type(failure).__name__) from failure
        except asyncio.CancelledError:
            self.close()
            raise

    def close(self) -> None:
        if self._wire is not None:
            self._wire.transport.abort()
            self._wire = None

    async def _connect(self) -> _Wire:
        parts = urlsplit(self._address.url)
        secure = ssl.create_default_context() if parts.scheme == "https" else None
        port = parts.port or (443 if secure else 80)
        _, wire = await asyncio.get_running_loop().create_connection(_Wire, str(parts.hostname), port, ssl=secure)
        return wire


class _Wire(asyncio.Protocol):
    def __init__(self) -> None:
        self._answered: asyncio.Future[tuple[int, bytes]] | None = None
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def ask(self, request: bytes) -> asyncio.Future[tuple[int, bytes]]:
        self._answered = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return self._answered

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, separator, body = self._buffer.partition(b"\r\n\r\n")
        if not separator:
            return None
        lowered = head.lower()
        length = lowered.partition(b"content-length:")[2].partition(b"\r\n")[0].strip()
        if not length.isdigit():
            return self._end(ValueError("a response without a content length"))
        if len(body) < int(length):
            return None
        self._buffer = b""
        if self._answered is not None and not self._answered.done():
            self._answered.set_result((int(head[9:12]), body))
        if b"connection: close" in lowered:
            self.transport.close()
        return None

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(exc if isinstance(exc, OSError) else ConnectionResetError("the connection was closed"))

    def _end(self, failure: Exception) -> None:
        if self._answered is not None and not self._answered.done():
            self._answered.set_exception(failure)
        self.transport.abort()
