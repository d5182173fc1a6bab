"""Signed tokens with which a browser reports the outcome of one decision, and nothing else."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import struct
from dataclasses import dataclass

from slotwise.core.errors import SlotwiseError

_CONTENT = struct.Struct(">16sd")
_SIGNATURE_BYTES = 32


class ForgedToken(SlotwiseError):
    """The token was not issued by this store."""


@dataclass(frozen=True, slots=True)
class Token:
    """The decision of a token, and its deadline."""

    decision: str
    deadline: float


class Signer:
    """Signs and reads tokens with the store's secret.

    >>> signer = Signer(b"secret")
    >>> text = signer.sign("0" * 32, 7.0)
    >>> signer.read(text)
    Token(decision='00000000000000000000000000000000', deadline=7.0)
    >>> Signer(b"another").read(text)
    Traceback (most recent call last):
    slotwise.service.decisions.outcome_tokens.ForgedToken: the token was not issued here
    """

    def __init__(self, secret: bytes) -> None:
        self._key = hmac.new(secret, digestmod=hashlib.sha256)

    def sign(self, decision: str, deadline: float) -> str:
        """The token of a decision, in characters that need no quoting."""
        content = _CONTENT.pack(bytes.fromhex(decision), deadline)
        return base64.urlsafe_b64encode(content + self._signature(content)).decode()

    def read(self, token: str) -> Token:
        """The content of a token; the caller checks whether it has expired."""
        try:
            raw = base64.b64decode(token, altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise ForgedToken("the token was not issued here") from None
        content, signature = raw[:-_SIGNATURE_BYTES], raw[-_SIGNATURE_BYTES:]
        if len(content) != _CONTENT.size or not hmac.compare_digest(signature, self._signature(content)):
            raise ForgedToken("the token was not issued here")
        id, deadline = _CONTENT.unpack(content)
        return Token(id.hex(), deadline)

    def _signature(self, content: bytes) -> bytes:
        signing = self._key.copy()
        signing.update(content)
        return signing.digest()
