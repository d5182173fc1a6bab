"""What is remembered of callers and visitors without being kept: digests that only the store's secret makes."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any, Final

#: half of a SHA-256 in hexadecimal digits: two texts have the same with a probability of 2⁻¹²⁸
_DIGITS: Final = 32


class Digests:
    """Keyed digests of texts, lists and objects, each for a purpose of its own.

    >>> digests = Digests(b"secret")
    >>> digests.of("visitor", "home", "Ada") == digests.of("visitor", "home", "Ada")
    True
    >>> digests.of("visitor", "home", "Ada") == digests.of("visitor", "shop", "Ada")
    False
    >>> digests.of("visitor", "home", "Ada") == Digests(b"another").of("visitor", "home", "Ada")
    False
    """

    def __init__(self, secret: bytes) -> None:
        # a key of its own, so that nothing here can be taken for a token's signature
        self._key = hmac.new(hmac.digest(secret, b"digests", "sha256"), digestmod=hashlib.sha256)

    def of(self, *parts: Any) -> str:
        """The same parts have the same digest; the order of an object's fields is nothing."""
        digest = self._key.copy()
        digest.update(json.dumps(parts, sort_keys=True).encode())
        return digest.hexdigest()[:_DIGITS]
