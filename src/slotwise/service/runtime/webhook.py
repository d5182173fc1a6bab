"""Webhooks: a signed JSON message, posted to a URL within a time limit."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ssl
from typing import Final
from urllib.parse import SplitResult, urlsplit

from slotwise.core import validation
from slotwise.core.errors import InvalidInput, SlotwiseError
from slotwise.service.schemas.network_rules import is_loopback

#: of one attempt, from resolving the name to the status of the response
SEND_SECONDS: Final = 10.0
#: the signature, and the time that is signed with the body
SIGNATURE: Final = "Slotwise-Signature"
_PORTS: Final = {"https": 443, "http": 80}


class NotDelivered(SlotwiseError):
    """The receiver did not accept a message."""


def checked_url(url: str, *, any_http: bool) -> SplitResult:
    """The parts of a URL; raises unless it is https, or http on this machine or by the operator's leave."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        parts, host = SplitResult("", "", "", "", ""), ""
    printable = url.isascii() and url.isprintable() and " " not in url
    if parts.scheme not in _PORTS or not host or not printable or parts.username is not None or parts.fragment:
        raise InvalidInput(f"alert_url must be an https address without user and fragment, got {validation.short(url)}")
    if parts.scheme == "http" and not (any_http or is_loopback(host)):
        raise InvalidInput(
            f"alert_url must be https, or http on this machine, got {validation.short(url)}: "
            "the setting SLOTWISE_ALERT_HTTP allows http elsewhere"
        )
    return parts


def signature(secret: str, time: int, body: bytes) -> str:
    """The value of the signature header: the time, and the HMAC-SHA256 of time, dot and body.

    >>> signature("secret", 7, b"{}")[:24]
    't=7,v1=76aad9429f4178829'
    """
    digest = hmac.new(secret.encode(), f"{time}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={time},v1={digest}"


async def post(url: str, body: bytes, secret: str, now: float, *, any_http: bool = False) -> None:
    """Post a message, and raise `NotDelivered` unless the response is a success; redirects are none."""
    parts = checked_url(url, any_http=any_http)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    head = (
        f"POST {parts.path or '/'}{'?' + parts.query if parts.query else ''} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
        f"{SIGNATURE}: {signature(secret, int(now), body)}\r\n\r\n"
    )
    tls = ssl.create_default_context() if parts.scheme == "https" else None
    try:
        async with asyncio.timeout(SEND_SECONDS):
            # a small limit: of the response, the first line is read and nothing else
            reader, writer = await asyncio.open_connection(host, port, ssl=tls, limit=4096)
            try:
                writer.write(head.encode() + body)
                await writer.drain()
                status = (await reader.readline()).split(b" ")[1:2]
            finally:
                writer.transport.abort()
    except (OSError, ValueError, TimeoutError) as problem:
        raise NotDelivered(f"{host}: {problem or type(problem).__name__}") from None
    if not status or not status[0].startswith(b"2"):
        raise NotDelivered(f"{host}: status {status[0].decode(errors='replace') if status else 'unknown'}")
