"""Requests to the service, as a shop's page and its owner send them: over HTTP, on connections that stay open."""

from __future__ import annotations

import json
from typing import Any, Final

from slotwise.client import ServiceProblem, ServiceUnreachable
from slotwise.loadtest.http_connection import Address, Connection, Unanswered

#: marks what nobody at a browser sent
HEADER: Final = "X-Slotwise-Demo"
TIMEOUT_SECONDS: Final = 30.0


class Calls:
    """As many connections as there are requests at a time."""

    def __init__(self, url: str) -> None:
        self._address = Address(url)
        self._idle: list[Connection] = []
        #: how many requests wait for their answers
        self.unanswered = 0

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        """What is answered; a refusal is an error."""
        connection = self._idle.pop() if self._idle else Connection(self._address, TIMEOUT_SECONDS)
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
        """Let go of all connections that nobody is using."""
        for connection in self._idle:
            connection.close()
