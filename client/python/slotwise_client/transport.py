"""Requests to one service, with retries."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import time
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from slotwise_client.client_errors import InvalidRequest, ServiceProblem, ServiceUnreachable
from slotwise_client.connection_pool import ConnectionPool, NotConnected, Response

#: the service did nothing: any request may be retried
_NOTHING_DONE: Final = frozenset({429, 503})
#: a proxy gave up; the service may have done the request
_UNSURE: Final = frozenset({502, 504})
#: seconds before the first retry, on average, which double for each further one
FIRST_WAIT, MAX_WAIT = 0.1, 5.0

#: what `json` reads and writes
JsonValue = Any
JsonObject = dict[str, Any]
_NO_HEADERS: Final[Mapping[str, str]] = {}


class Transport:
    """Sends requests to one service, with its API key, and retries failed ones."""

    def __init__(self, url: str, key: str | None, timeout: float, retries: int) -> None:
        parts = urlsplit(url if isinstance(url, str) else "")
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in ("http", "https") or not parts.hostname or port == -1 or parts.query or parts.fragment:
            raise InvalidRequest(f"url must be http://HOST:PORT or https://HOST, got {url!r}")
        if key is not None and (not key.isascii() or not key.isprintable() or " " in key):
            raise InvalidRequest("key must be printable ASCII without spaces")
        if not timeout > 0:
            raise InvalidRequest(f"timeout must be positive, got {timeout!r}")
        if retries < 0:
            raise InvalidRequest(f"retries must be at least 0, got {retries!r}")
        self.url = url.rstrip("/")
        self._path = parts.path.rstrip("/")
        self._retries = retries
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"
        self._connections = ConnectionPool(parts.scheme, parts.hostname, port, timeout)

    def request(
        self,
        method: str,
        path: str,
        content: JsonValue = None,
        *,
        is_idempotent: bool = True,
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> JsonObject:
        """Send a request, and return the JSON object of its response."""
        response = self.response(method, path, content, is_idempotent=is_idempotent, headers=headers)
        document = _json_object(response.body)
        if document is None:
            raise ServiceUnreachable(f"{self.url} does not respond as slotwise does")
        return document

    def response(
        self,
        method: str,
        path: str,
        content: JsonValue = None,
        *,
        is_idempotent: bool = True,
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> Response:
        """Send a request with retries, and return its successful response."""
        sent = {**self._headers, **headers}
        body = None if content is None else json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
        for attempt in range(self._retries + 1):
            wait = min(MAX_WAIT, FIRST_WAIT * 2**attempt) * 2 * random.random()
            last = attempt == self._retries
            try:
                response = self._connections.request(method, self._path + path, body, sent)
            except NotConnected as failure:
                if last:
                    raise ServiceUnreachable(f"{self.url} cannot be reached: {failure}") from failure
            except (OSError, http.client.HTTPException) as failure:
                if last or not is_idempotent:
                    why = str(failure) or type(failure).__name__
                    raise ServiceUnreachable(f"{self.url} did not respond: {why}") from failure
            else:
                if 200 <= response.status < 300:
                    return response
                if last or not (response.status in _NOTHING_DONE or (is_idempotent and response.status in _UNSURE)):
                    raise ServiceProblem(response.status, _error_document(response))
                wait = max(wait, min(MAX_WAIT, response.retry_after))
            time.sleep(wait)
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Close the idle connections."""
        self._connections.close()


def _error_document(response: Response) -> JsonObject:
    """Return the error document of a response, or one for the response of a proxy."""
    document = _json_object(response.body)
    if document is not None:
        return {"title": response.reason, **document}
    detail = response.body[:200].decode(errors="replace")
    return {"title": response.reason, "status": response.status, "detail": detail}


def _json_object(body: bytes) -> JsonObject | None:
    with contextlib.suppress(ValueError):
        document = json.loads(body)
        if isinstance(document, dict):
            return document
    return None
