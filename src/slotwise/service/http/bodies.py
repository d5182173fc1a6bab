"""Bodies of requests: never more of them than is allowed, and not for longer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from starlette.datastructures import Headers
from starlette.types import Receive, Scope

from slotwise.service.http.problems import Refusal

#: what a server puts into the scope of a request whose body takes too long, and then sends an empty part of it
TOO_SLOW: Final = "slotwise.too_slow"
#: the rest of the body is not wanted
_CLOSE: Final = {"Connection": "close"}


@dataclass(frozen=True)
class BodyLimits:
    """The most bytes of a body, by what it says."""

    #: or an item
    outcome: int = 64 * 1024
    decision: int = 4 * 1024 * 1024
    placement: int = 32 * 1024 * 1024


async def read_body(scope: Scope, receive: Receive, at_most: int) -> bytes:
    """The whole body; 413 as soon as it is too large, and 408 where it takes too long."""
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise Refusal(400, "the body ended before it was whole")
        part, more = message.get("body", b""), message.get("more_body", False)
        parts.append(part)
        size += len(part)
        if size > at_most or (more and _announced(scope) > at_most):
            raise Refusal(413, f"the body must be at most {at_most} bytes here", _CLOSE)
        if more and TOO_SLOW in scope:
            raise Refusal(408, f"the body must be whole within {scope[TOO_SLOW]:g} seconds", _CLOSE)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _announced(scope: Scope) -> int:
    length = Headers(scope=scope).get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else 0
