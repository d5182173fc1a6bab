"""Documents that many people look at: made once for all of them, and not again before that is affordable."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Final, NamedTuple

#: between two makings of the same document: at least, at most, and as many times as long as the last one took
LEAST_SECONDS: Final = 2.0
MOST_SECONDS: Final = 30.0
TIMES_COST: Final = 50.0
#: documents that are kept, and how large all of them may be
MOST_KEPT: Final = 64
MOST_BYTES: Final = 32 * 1024 * 1024


class Pinned(NamedTuple):
    """A document as JSON, and a tag that is the same as long as the document is."""

    tag: str
    content: bytes


class _Kept(NamedTuple):
    pinned: Pinned
    #: what it was made from
    version: Hashable
    moment: Hashable
    #: until when it is shown, whatever changes
    until: float


class Pinboard:
    """Whoever asks gets what is pinned, or waits with all others for the one that is being made."""

    def __init__(self, timer: Callable[[], float] = time.monotonic) -> None:
        self._timer = timer
        self._kept: dict[Hashable, _Kept] = {}
        self._making: dict[Hashable, asyncio.Task[Pinned]] = {}

    async def get(
        self, asked: Hashable, moment: Hashable, make: Callable[[], Awaitable[bytes]], *, version: Hashable = None
    ) -> Pinned:
        """The document that `make` makes: a new one only if `moment` is another, and the last one was long enough ago.

        Of another `version` it is made at once, as whoever changed something wants to see that it was done.

        Two makings are apart by at least 2 seconds, and by 50 times as long as one of them takes, so that a document
        takes no more than a fiftieth of a worker's time, however many look at it; but by no more than 30 seconds.
        """
        kept = self._kept.get(asked)
        if kept is not None and kept.version == version and (kept.moment == moment or self._timer() < kept.until):
            return kept.pinned
        making = asked, version
        task = self._making.get(making)
        if task is None:
            task = self._making[making] = asyncio.create_task(self._make(asked, version, moment, make))
            task.add_done_callback(lambda _: self._making.pop(making, None))
        # whoever asked first may go before it is done
        return await asyncio.shield(task)

    async def _make(
        self, asked: Hashable, version: Hashable, moment: Hashable, make: Callable[[], Awaitable[bytes]]
    ) -> Pinned:
        began = self._timer()
        content = await make()
        now = self._timer()
        pinned = Pinned(f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"', content)
        wait = min(MOST_SECONDS, max(LEAST_SECONDS, TIMES_COST * (now - began)))
        self._kept.pop(asked, None)
        self._kept[asked] = _Kept(pinned, version, moment, now + wait)
        while len(self._kept) > MOST_KEPT or (len(self._kept) > 1 and self._bytes() > MOST_BYTES):
            del self._kept[next(iter(self._kept))]
        return pinned

    def _bytes(self) -> int:
        return sum(len(kept.pinned.content) for kept in self._kept.values())
