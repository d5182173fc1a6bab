"""Bodies of requests, never more of them than is allowed.

By hand, because Starlette's own limit answers while the body is still being sent: whoever sends megabytes then sees a
broken connection, and not why it was refused.
"""

from __future__ import annotations

from typing import Final

from starlette.datastructures import Headers
from starlette.types import Receive, Scope

from slotwise.service.http.problems import Refusal

#: bytes
MOST_FOR_OUTCOME: Final = 16 * 1024
MOST_FOR_DECISION: Final = 4 * 1024 * 1024
MOST_FOR_PLACEMENT: Final = 32 * 1024 * 1024
#: what is read of a body that is too large, so that its sender gets to see the refusal
MOST_DISCARDED: Final = 64 * 1024 * 1024


async def read_body(scope: Scope, receive: Receive, at_most: int) -> bytes:
    """The whole body, or 413."""
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise Refusal(400, "the body ended before it was whole")
        part, more = message.get("body", b""), message.get("more_body", False)
        size += len(part)
        if size <= at_most:
            parts.append(part)
            continue
        parts.clear()
        if max(size, _announced(scope)) > MOST_DISCARDED:
            break
    if size > at_most:
        raise Refusal(413, f"the body must be at most {at_most} bytes here", {"Connection": "close"})
    return b"".join(parts)


def _announced(scope: Scope) -> int:
    length = Headers(scope=scope).get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else 0
