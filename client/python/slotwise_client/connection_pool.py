"""A thread-safe pool of persistent connections to one service."""

from __future__ import annotations

import http.client
import os
import select
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass


class NotConnected(Exception):
    """There is no connection, so nothing was sent."""


@dataclass(frozen=True, slots=True)
class Response:
    """A response of any status."""

    status: int
    reason: str
    body: bytes
    retry_after: float
    etag: str = ""


class ConnectionPool:
    """The idle connections; there are as many as threads that sent requests at the same time."""

    def __init__(self, scheme: str, host: str, port: int | None, timeout: float) -> None:
        self._host, self._port, self._timeout = host, port, timeout
        self._tls = ssl.create_default_context() if scheme == "https" else None
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()
        self._process = os.getpid()

    def request(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Response:
        """Send one request, and return its complete response."""
        connection = self._take()
        try:
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            content = response.read()
        except BaseException:
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            with self._lock:
                self._idle.append(connection)
        try:
            retry_after = float(response.headers.get("Retry-After", 0))
        except ValueError:
            retry_after = 0.0
        return Response(response.status, response.reason, content, retry_after, response.headers.get("ETag", ""))

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()

    def _take(self) -> http.client.HTTPConnection:
        if self._process != os.getpid():
            # a forked child must not use its parent's connections
            self._lock, self._process = threading.Lock(), os.getpid()
            self.close()
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                break
            if not _is_readable(connection):
                return connection
            # the service has closed it
            connection.close()
        if self._tls is not None:
            connection = http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout, context=self._tls)
        else:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
        try:
            connection.connect()
        except OSError as failure:
            connection.close()
            raise NotConnected(failure.strerror or str(failure)) from failure
        return connection


def _is_readable(connection: http.client.HTTPConnection) -> bool:
    if connection.sock is None:
        return True
    # not select(), which fails for file numbers of 1,024 and more
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return bool(poll.poll(0))
