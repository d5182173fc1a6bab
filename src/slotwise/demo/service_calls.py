"""HTTP requests to the service, on persistent connections."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from slotwise_client.transport import Transport

#: header of requests that no browser sent
HEADER: Final = "X-Slotwise-Demo"
TIMEOUT_SECONDS: Final = 30.0
#: concurrent requests
MAX_REQUESTS: Final = 20


class Calls:
    """Requests of an event loop, each in a thread: the default threads of the loop answer them."""

    def __init__(self, url: str) -> None:
        self._transport = Transport(url, None, TIMEOUT_SECONDS, retries=0)
        self._threads = ThreadPoolExecutor(MAX_REQUESTS, "slotwise-demo")
        #: number of requests without a response yet
        self.unanswered = 0
        self._is_closed = False

    async def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send a request, and return the document of the response; an error response raises `ServiceProblem`."""
        self._is_closed = False
        self.unanswered += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._send, method, path, body)
        finally:
            self.unanswered -= 1

    def _send(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        try:
            return self._transport.request(method, path, body, headers={HEADER: "1"})
        finally:
            # the caller may have been cancelled, and the others closed meanwhile
            if self._is_closed:
                self._transport.close()

    def close(self) -> None:
        """Close the connections; those of pending requests after their response."""
        self._is_closed = True
        self._transport.close()
