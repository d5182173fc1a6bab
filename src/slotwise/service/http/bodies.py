"""Bodies of requests, never more of them than is allowed."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request

from slotwise.service.http.problems import Problem

#: bytes
MOST_FOR_OUTCOME: Final = 16 * 1024
MOST_FOR_DECISION: Final = 4 * 1024 * 1024
MOST_FOR_PLACEMENT: Final = 32 * 1024 * 1024
#: what is read of a body that is too large, so that its sender gets to see the refusal
MOST_DISCARDED: Final = 64 * 1024 * 1024


async def body_of(request: Request, at_most: int) -> bytes:
    """The whole body, or 413."""
    announced = request.headers.get("content-length")
    if announced is not None and announced.isascii() and announced.isdigit() and int(announced) > MOST_DISCARDED:
        raise _too_large(at_most)
    parts: list[bytes] = []
    size, more = 0, True
    while more and size <= MOST_DISCARDED:
        message = await request.receive()
        if message["type"] != "http.request":
            raise Problem(400, "the body ended before it was whole")
        part, more = message.get("body", b""), message.get("more_body", False)
        size += len(part)
        if size <= at_most:
            parts.append(part)
        else:
            parts.clear()
    if size > at_most:
        raise _too_large(at_most)
    return b"".join(parts)


def _too_large(at_most: int) -> Problem:
    return Problem(413, f"the body must be at most {at_most} bytes here", {"Connection": "close"})
