"""A cache of responses: each is built once for all who ask, and rebuilt at a rate that its cost allows."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Final, NamedTuple

from slotwise.service.reports.lru_cache import LruCache, SingleFlight

#: seconds between two builds of the same response, and their lower bound as a multiple of the time that a build takes
MIN_SECONDS: Final = 2.0
MAX_SECONDS: Final = 30.0
TIMES_COST: Final = 50.0
#: responses in the cache, and their size together
MAX_RESPONSES: Final = 64
MAX_BYTES: Final = 32 * 1024 * 1024


class CachedResponse(NamedTuple):
    """A document as JSON, and a tag that changes with the document."""

    tag: str
    content: bytes


class _Entry(NamedTuple):
    response: CachedResponse
    #: the state that it was built from
    version: Hashable
    moment: Hashable
    #: when it may be built again
    until: float


class ResponseCache:
    """Callers get the cached response, or wait together for the one that is being built."""

    def __init__(self, timer: Callable[[], float] = time.monotonic) -> None:
        self._timer = timer
        self._entries = LruCache[Hashable, _Entry](MAX_RESPONSES, MAX_BYTES, lambda entry: len(entry.response.content))
        self._builds = SingleFlight[Hashable, CachedResponse]()

    async def get(
        self, request: Hashable, moment: Hashable, build: Callable[[], Awaitable[bytes]], *, version: Hashable = None
    ) -> CachedResponse:
        """The response to a request; built again if `moment` has changed and the last build is long enough ago.

        With another `version` it is built at once, because the user who changed something wants to see the change.

        Two builds are at least 2 seconds apart, and at least 50 times as long as a build takes: a response takes at
        most a fiftieth of a worker's time, for any number of viewers. They are at most 30 seconds apart.
        """
        entry = self._entries.get(request)
        if entry is not None and entry.version == version and (entry.moment == moment or self._timer() < entry.until):
            return entry.response

        async def build_and_store() -> CachedResponse:
            began = self._timer()
            content = await build()
            now = self._timer()
            response = CachedResponse(f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"', content)
            wait = min(MAX_SECONDS, max(MIN_SECONDS, TIMES_COST * (now - began)))
            self._entries.put(request, _Entry(response, version, moment, now + wait))
            return response

        return await self._builds.run((request, version), build_and_store)
