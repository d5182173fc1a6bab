"""One request to a service, repeated where that is worth another try and does no harm."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import time
from collections.abc import Mapping
from typing import Any, Final, TypedDict, Unpack
from urllib.parse import urlsplit

from slotwise.client.connection_pool import Answer, Connections, NotConnected
from slotwise.core.errors import InvalidInput, ServiceProblem, ServiceUnreachable

#: the service says that nothing was done, or that too much is asked of it: the same may be asked again
_NOTHING_DONE: Final = frozenset({429, 503})
#: somebody in between gave up; what was asked may have been done
_UNSURE: Final = frozenset({502, 504})
#: seconds before the first repetition, on average; doubled for each further one
FIRST_WAIT, MAX_WAIT = 0.1, 5.0


class How(TypedDict, total=False):
    """How to ask."""

    #: whether what was asked may be done a second time, which it may where nothing is said
    again: bool
    headers: Mapping[str, str]


class Asking:
    """How to ask one service: where it is, with which key, and how often to try."""

    def __init__(self, url: str, key: str | None, timeout: float, retries: int) -> None:
        parts = urlsplit(url if isinstance(url, str) else "")
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in ("http", "https") or not parts.hostname or port == -1 or parts.query or parts.fragment:
            raise InvalidInput(f"url must be http://HOST:PORT or https://HOST, got {url!r}")
        if key is not None and (not key.isascii() or not key.isprintable() or " " in key):
            raise InvalidInput("key must be printable ASCII without spaces")
        if not timeout > 0:
            raise InvalidInput(f"timeout must be positive, got {timeout!r}")
        if retries < 0:
            raise InvalidInput(f"retries must be at least 0, got {retries!r}")
        self.url = url.rstrip("/")
        self._path = parts.path.rstrip("/")
        self._retries = retries
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"
        self._connections = Connections(parts.scheme, parts.hostname, port, timeout)

    def ask(self, method: str, path: str, content: Any = None, **how: Unpack[How]) -> dict[str, Any]:
        """The JSON object that the service answers with."""
        answer = self.answer(method, path, content, **how)
        with contextlib.suppress(ValueError):
            found = json.loads(answer.body)
            if isinstance(found, dict):
                return found
        raise ServiceUnreachable(f"{self.url} does not answer as slotwise does")

    def answer(self, method: str, path: str, content: Any = None, **how: Unpack[How]) -> Answer:
        """The same as it comes, once it is no failure."""
        again, headers = how.get("again", True), {**self._headers, **how.get("headers", {})}
        body = None if content is None else json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
        for attempt in range(self._retries + 1):
            wait = min(MAX_WAIT, FIRST_WAIT * 2**attempt) * 2 * random.random()
            last = attempt == self._retries
            try:
                answer = self._connections.ask(method, self._path + path, body, headers)
            except NotConnected as failure:
                if last:
                    raise ServiceUnreachable(f"{self.url} cannot be reached: {failure}") from failure
            except (OSError, http.client.HTTPException) as failure:
                if last or not again:
                    why = str(failure) or type(failure).__name__
                    raise ServiceUnreachable(f"{self.url} did not answer: {why}") from failure
            else:
                if 200 <= answer.status < 300:
                    return answer
                if last or not (answer.status in _NOTHING_DONE or (again and answer.status in _UNSURE)):
                    raise ServiceProblem(answer.status, _problem(answer))
                wait = max(wait, min(MAX_WAIT, answer.retry_after))
            time.sleep(wait)
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Close the connections that nobody uses at the moment."""
        self._connections.close()


def _problem(answer: Answer) -> Mapping[str, Any]:
    """The document, or one made of what somebody in between answered."""
    with contextlib.suppress(ValueError):
        found = json.loads(answer.body)
        if isinstance(found, dict):
            return {"title": answer.reason, **found}
    return {"title": answer.reason, "status": answer.status, "detail": answer.body[:200].decode(errors="replace")}
