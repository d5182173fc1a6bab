"""Authentication by API key; without one, only requests of this machine are allowed."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import logging
from collections.abc import Mapping
from functools import lru_cache
from typing import Final
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from slotwise.service.http.error_responses import problem
from slotwise.service.http.routes.decision_routes import OUTCOMES
from slotwise.service.schemas.network_rules import is_loopback

#: prefix of the dashboard's pages of placements
PLACEMENT_PAGES: Final = "/placements/"
#: public paths: they hold no user data
OPEN: Final = frozenset(
    {OUTCOMES, "/", "/healthz", "/readyz", "/docs", "/openapi.json", "/favicon.ico", "/slotwise.js"}
)
OPEN_FOLDERS: Final = ("/static/", PLACEMENT_PAGES)
READING: Final = ("GET", "HEAD")
#: paths that also accept HTTP basic authentication, with any user name and the API key as password
BASIC_AUTH_PATHS: Final = frozenset({"/metrics"})
#: the header of responses to the read key, by which the dashboard knows that it cannot change anything
ACCESS: Final = (b"slotwise-access", b"read")
#: headers that proxies add to forwarded requests
FORWARDED: Final = frozenset(
    {b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-real-ip"}
)

log = logging.getLogger("slotwise.service")


class RequireKey:
    """ASGI middleware: rejects requests without an API key, except to public paths, and changes with the read key."""

    def __init__(self, app: ASGIApp, key: str, read_key: str | None = None) -> None:
        self._app, self._key = app, _digest(key)
        self._read_key = None if read_key is None else _digest(read_key)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _is_open(scope["path"]):
            return await self._app(scope, receive, send)
        given = _given_key(scope)
        if given is not None and hmac.compare_digest(given, self._key):
            return await self._app(scope, receive, send)
        if given is not None and self._read_key is not None and hmac.compare_digest(given, self._read_key):
            return await self._read(scope, receive, send)
        if "authorization" in Headers(scope=scope):
            log.warning("wrong key", extra=_request_details(scope))
        challenge = (
            'Basic realm="slotwise", charset="UTF-8"'
            if scope["path"] in BASIC_AUTH_PATHS
            else 'Bearer realm="slotwise"'
        )
        detail = "the request must have the header Authorization: Bearer KEY, with the right API key"
        return await problem(401, detail, {"WWW-Authenticate": challenge})(scope, receive, send)

    async def _read(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], ACCESS]
            await send(message)

        if scope["method"] in READING:
            return await self._app(scope, receive, send_marked)
        detail = f"{scope['method']} needs the key SLOTWISE_SERVER_KEY: SLOTWISE_READ_KEY can read, and change nothing"
        return await problem(403, detail)(scope, receive, send_marked)


def _given_key(scope: Scope) -> bytes | None:
    """Return the hash of the API key of a request, or None if it has none."""
    scheme, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
    if scheme.lower() == "basic":
        # a browser sends basic credentials with requests of other sites' pages, too: allow only reading
        if scope["path"] not in BASIC_AUTH_PATHS or scope["method"] not in READING:
            return None
        try:
            given = base64.b64decode(given).decode().partition(":")[2]
        except (binascii.Error, ValueError):
            return None
    elif scheme.lower() != "bearer":
        return None
    return _digest(given.strip())


class ThisMachineOnly:
    """ASGI middleware for a service without an API key: rejects requests of other machines and other sites' pages."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] != OUTCOMES and _is_from_elsewhere(dict(scope["headers"])):
            detail = (
                "without an API key, only programs on this machine and the service's own pages are allowed: "
                "set SLOTWISE_SERVER_KEY, and send it as Authorization: Bearer KEY"
            )
            return await problem(403, detail)(scope, receive, send)
        return await self._app(scope, receive, send)


def _is_open(path: str) -> bool:
    return path in OPEN or path.startswith(OPEN_FOLDERS)


def _is_from_elsewhere(headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a proxy forwarded the request, or another site's page sent it."""
    is_forwarded = not FORWARDED.isdisjoint(headers)
    return is_forwarded or _is_elsewhere(headers.get(b"origin"), headers.get(b"host", b""))


# there are few different values
@lru_cache(maxsize=256)
def _is_elsewhere(sent_origin: bytes | None, sent_host: bytes) -> bool:
    """Return whether a page of another site sent a request.

    Any page that is open on this machine can send requests to loopback. Its `Origin` differs from the `Host`. If an
    attacker's name resolves to loopback (DNS rebinding), the `Host` is not a loopback name. Programs send no origin,
    and some no host.
    """
    host = sent_host.decode("latin-1").lower()
    try:
        if sent_origin is not None and urlsplit(sent_origin.decode("latin-1").lower()).netloc != host:
            return True
        name = urlsplit(f"//{host}").hostname or ""
        return host != "" and not is_loopback(name.rstrip("."))
    except ValueError:
        return True


def _request_details(scope: Scope) -> dict[str, str]:
    """Return the client and the address of a request for the log."""
    return {
        "client": scope["client"][0] if scope["client"] else "",
        "scheme": scope["scheme"],
        "host": Headers(scope=scope).get("host", ""),
        "path": quote(scope["path"]),
    }


def _digest(key: str) -> bytes:
    # all of one length, so that the comparison does not reveal the key's length
    return hashlib.sha256(key.encode(errors="replace")).digest()
