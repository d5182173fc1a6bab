"""Keyed hashes of visitors and requests, stored in their place; the key is derived from the store's secret."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Final

#: half of a SHA-256 in hexadecimal digits: two texts have the same hash with a probability of 2⁻¹²⁸
_DIGITS: Final = 32


class Digests:
    """Keyed hashes of texts, lists and objects; the first part names the purpose.

    >>> digests = Digests(b"secret")
    >>> digests.of("visitor", "home", "Ada") == digests.of("visitor", "home", "Ada")
    True
    >>> digests.of("visitor", "home", "Ada") == digests.of("visitor", "shop", "Ada")
    False
    >>> digests.of("visitor", "home", "Ada") == Digests(b"another").of("visitor", "home", "Ada")
    False
    """

    def __init__(self, secret: bytes) -> None:
        # a key of its own, so that no hash is a valid signature of a token
        self._key = hmac.new(hmac.digest(secret, b"digests", "sha256"), digestmod=hashlib.sha256)

    def of(self, *parts: object) -> str:
        """The hash of the parts. Equal parts have equal hashes; the order of an object's keys does not matter."""
        digest = self._key.copy()
        digest.update(json.dumps(parts, sort_keys=True).encode())
        return digest.hexdigest()[:_DIGITS]
