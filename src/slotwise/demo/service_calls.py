"""HTTP requests to the service, on persistent connections."""

from __future__ import annotations

import json
from typing import Any, Final

from slotwise.client import ServiceProblem, ServiceUnreachable
from slotwise.demo.http_connection import Address, HttpConnection, Unanswered

#: header of requests that no browser sent
HEADER: Final = "X-Slotwise-Demo"
TIMEOUT_SECONDS: Final = 30.0


class Calls:
    """A pool of connections, one for each concurrent request."""

    def __init__(self, url: str) -> None:
        self._address = Address(url)
        self._idle: list[HttpConnection] = []
        #: number of requests without a response yet
        self.unanswered = 0

    async def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send a request, and return the document of the response; an error response raises `ServiceProblem`."""
        connection = self._idle.pop() if self._idle else HttpConnection(self._address, TIMEOUT_SECONDS)
        head = self._address.head(method, path, f"{HEADER}: 1")
        self.unanswered += 1
        try:
            status, content = await connection.ask(head, b"" if body is None else json.dumps(body).encode())
        except Unanswered as failure:
            raise ServiceUnreachable(f"{method} {path}: {failure}") from None
        finally:
            self.unanswered -= 1
            self._idle.append(connection)
        answer = json.loads(content)
        if status >= 400:
            raise ServiceProblem(status, answer)
        return answer

    def close(self) -> None:
        """Close the idle connections."""
        for connection in self._idle:
            connection.close()
