"""Who may ask: whoever has the key; where there is none, only this machine."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import logging
from functools import lru_cache
from typing import Final
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from slotwise.service.http.error_responses import problem
from slotwise.service.http.routes.placement_routes import OUTCOMES
from slotwise.service.service_settings import is_loopback

#: the dashboard's page of a placement is below it
PLACEMENT_PAGES: Final = "/placements/"
#: nothing of anybody's is there: the dashboard asks people for the key, and the API for the rest
OPEN: Final = frozenset(
    {OUTCOMES, "/", "/healthz", "/readyz", "/docs", "/openapi.json", "/favicon.ico", "/slotwise.js"}
)
OPEN_FOLDERS: Final = ("/static/", PLACEMENT_PAGES)
#: read by people in a browser, which asks them for a name and a password: any name, and the key
PAGES: Final = frozenset({"/metrics"})
#: what proxies add to requests that they pass on
FORWARDED: Final = frozenset(
    {"forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"}
)

log = logging.getLogger("slotwise.service")


class RequireKey:
    """ASGI middleware: without the key, only what is open is answered."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self._app, self._key = app, _digest(key)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _is_open(scope["path"]) or self._has_key(scope):
            return await self._app(scope, receive, send)
        if "authorization" in Headers(scope=scope):
            log.warning("wrong key", extra=_who(scope))
        challenge = 'Basic realm="slotwise", charset="UTF-8"' if scope["path"] in PAGES else 'Bearer realm="slotwise"'
        detail = "the request must carry Authorization: Bearer KEY, with the right key"
        return await problem(401, detail, {"WWW-Authenticate": challenge})(scope, receive, send)

    def _has_key(self, scope: Scope) -> bool:
        scheme, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
        if scheme.lower() == "basic":
            # a browser sends what it was once told with every request, also of other sites' pages: to look, and no more
            if scope["path"] not in PAGES or scope["method"] not in ("GET", "HEAD"):
                return False
            try:
                given = base64.b64decode(given).decode().partition(":")[2]
            except (binascii.Error, ValueError):
                return False
        elif scheme.lower() != "bearer":
            return False
        return hmac.compare_digest(_digest(given.strip()), self._key)


class ThisMachineOnly:
    """ASGI middleware for a service without a key: no page but its own may ask for anything but to report outcomes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] != OUTCOMES and _asks_from_elsewhere(Headers(scope=scope)):
            detail = (
                "without a key, only programs on this machine and the service's own pages may ask: "
                "set SLOTWISE_SERVER_KEY, and send it as Authorization: Bearer KEY"
            )
            return await problem(403, detail)(scope, receive, send)
        return await self._app(scope, receive, send)


def _is_open(path: str) -> bool:
    return path in OPEN or path.startswith(OPEN_FOLDERS)


def _asks_from_elsewhere(headers: Headers) -> bool:
    """A proxy says that it passes something on for others; for the rest see below."""
    is_passed_on = not FORWARDED.isdisjoint(headers.keys())
    return is_passed_on or _is_elsewhere(headers.get("origin"), headers.get("host", "").lower())


# the same few come again and again
@lru_cache(maxsize=256)
def _is_elsewhere(origin: str | None, host: str) -> bool:
    """A page that somebody on this machine happens to visit can reach loopback, too.

    Its origin tells: another machine's, or another port's of this one. Where a name of its owner's was made to point
    here, so does the name that it asks for. Programs name no origin, and the simplest of them no host.
    """
    try:
        if origin is not None and urlsplit(origin.lower()).netloc != host:
            return True
        name = urlsplit(f"//{host}").hostname or ""
        return host != "" and not is_loopback(name.rstrip("."))
    except ValueError:
        return True


def _who(scope: Scope) -> dict[str, str]:
    """Who asked, and for what; through a proxy that is trusted, those it asked for."""
    return {
        "client": scope["client"][0] if scope["client"] else "",
        "scheme": scope["scheme"],
        "host": Headers(scope=scope).get("host", ""),
        "path": quote(scope["path"]),
    }


def _digest(key: str) -> bytes:
    # of one length, so that comparing tells nothing of it
    return hashlib.sha256(key.encode(errors="replace")).digest()
