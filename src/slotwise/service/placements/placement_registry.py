"""What a worker holds in memory: every placement's learner, and a tally no more than a second behind the store's."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import Final, TypeVar

from slotwise.core.errors import SlotwiseError, StoreUnavailable
from slotwise.service.placements.placement_state import NewCounts, Placement
from slotwise.service.placements.propensities import Propensities
from slotwise.service.placements.store_sync import Broken, absorbing, look
from slotwise.service.schemas.name_rules import is_name
from slotwise.service.storage import Store
from slotwise.service.storage.count_rows import Counters
from slotwise.service.storage.decision_types import Arm, hour_of
from slotwise.service.storage.placements_table import Version

Answer = TypeVar("Answer")
CountersByPlacement = Mapping[str, Mapping[Arm, Counters]]
#: items of the placements that are brought up to date in one turn
MAX_TOGETHER: Final = 2_000
#: a decision among more items than this takes more than a few milliseconds as long as nothing is compiled
MAX_PLAIN_ITEMS: Final = 200
#: between two looks at the store; together with the look itself well below the bound
REFRESH_SECONDS: Final = 0.4
#: how long a decision waits for a placement that is not in memory yet
FIND_SECONDS: Final = 1.5
#: when a placement that could not be read is tried again, though nothing of it has changed
RETRY_SECONDS: Final = 30.0

log = logging.getLogger("slotwise.service")


class UnknownPlacement(SlotwiseError, LookupError):
    """There is none of that name."""


class BrokenPlacement(SlotwiseError):
    """What the store has of it cannot be worked with; the others go on."""


class Placements:
    """All placements; decisions read them, and one task at a time brings them up to date."""

    def __init__(
        self,
        store: Store,
        propensities: Propensities | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._clock = clock
        #: finds propensities of the decisions that a posterior made before that posterior changes
        self._propensities = propensities
        self._known: dict[str, Placement] = {}
        self._broken: dict[str, Broken] = {}
        self._thread = ThreadPoolExecutor(1, "slotwise-reader")
        self._turn = asyncio.Lock()
        self._refreshed = time.monotonic()
        #: set whenever the store was looked at
        self.was_refreshed = asyncio.Event()
        #: as the store had them at the last look
        self.counters: CountersByPlacement = {}

    def get(self, name: str) -> Placement | None:
        """From memory."""
        return self._known.get(name)

    def hour(self) -> int:
        """The beginning of this hour, from which ages are counted."""
        return hour_of(self._clock())

    def names(self) -> list[str]:
        """In order."""
        return sorted(self._known)

    def all(self) -> list[Placement]:
        """In order of name."""
        return [self._known[name] for name in self.names()]

    def broken(self) -> dict[str, str]:
        """Those that cannot be read, in order of name, and why."""
        return {name: self._broken[name].why for name in sorted(self._broken)}

    async def placement(self, name: str) -> Placement:
        """A placement from memory; if it is not there yet, from the store."""
        placement = self._known.get(name)
        if placement is None and is_name(name):
            try:
                placement = await asyncio.wait_for(self.find(name), FIND_SECONDS)
            except TimeoutError:
                raise StoreUnavailable(
                    f"the store does not answer in time whether there is a placement {name!r}"
                ) from None
        return self._existing(name, placement)

    async def newest(self, name: str) -> Placement:
        """A placement as the store has it, including changes that another worker made a moment ago."""
        return self._existing(name, await self.find(name) if is_name(name) else None)

    def _existing(self, name: str, placement: Placement | None) -> Placement:
        if placement is None:
            self.refuse_broken(name)
            raise UnknownPlacement(f"there is no placement {name!r}")
        return placement

    def refuse_broken(self, name: str) -> None:
        """Say why it cannot be read, if so."""
        if name in self._broken:
            raise BrokenPlacement(f"the placement {name!r} cannot be read: {self._broken[name].why}")

    def staleness(self) -> float:
        """Seconds since the store was last looked at."""
        return time.monotonic() - self._refreshed

    async def read(self, work: Callable[[Store], Answer]) -> Answer:
        """Something from the store, in the thread that reads it."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, self._store)

    async def find(self, name: str) -> Placement | None:
        """From the store, for it may have been put a moment ago, here or through another worker."""
        async with self._turn:
            version = await self.read(lambda store: store.version(name))
            if version is None:
                self._forget(name)
            elif self._is_new(version):
                await self._follow([version])
        return self._known.get(name)

    async def refresh(self) -> None:
        """Look at the store once."""
        async with self._turn:
            began = time.monotonic()
            versions = await self.read(lambda store: store.versions())
            for gone in {*self._known, *self._broken} - {version.placement for version in versions}:
                self._forget(gone)
            for together in self._in_turns(version for version in versions if self._is_new(version)):
                await self._follow(together)
            self.counters = await self.read(lambda store: store.counters())
            self._refreshed = began
            self.was_refreshed.set()

    async def load(self) -> None:
        """Have the kernels of all that is known at hand; wait for them where a decision without them is slow."""

        def load(placements: Sequence[Placement]) -> None:
            for placement in placements:
                if len(placement.numbers) > MAX_PLAIN_ITEMS:
                    placement.learner.kernels.wait()
                placement.learner.kernels.load()

        await asyncio.to_thread(load, self.all())

    async def keep_fresh(self) -> None:
        """Look at the store for ever; when it does not answer, decisions go on with what is known."""
        answered = True
        while True:
            try:
                await self.refresh()
                if not answered:
                    log.info("store answers again")
                answered = True
            except SlotwiseError as problem:
                if answered:
                    log.error("store does not answer", extra={"problem": str(problem)})
                answered = False
            except Exception:
                log.exception("refresh failed")
            await asyncio.sleep(REFRESH_SECONDS)

    async def close(self) -> None:
        """Let go of the store."""
        await self.read(lambda store: store.close())
        self._thread.shutdown()

    def _forget(self, name: str) -> None:
        self._known.pop(name, None)
        self._broken.pop(name, None)

    def _is_new(self, version: Version) -> bool:
        broken = self._broken.get(version.placement)
        if broken is not None:
            return broken.version != version or time.monotonic() - broken.found > RETRY_SECONDS
        known = self._known.get(version.placement)
        if known is None or (known.version, known.revision) != (version.version, version.revision):
            return True
        return known.recent is not None and known.recent.fading.hour != self.hour()

    def _in_turns(self, versions: Iterable[Version]) -> Iterator[list[Version]]:
        """Many small placements at once, as every turn is a wait; large ones by themselves, as they take room."""
        together: list[Version] = []
        items = 0
        for version in versions:
            known = self._known.get(version.placement)
            size = MAX_TOGETHER if known is None else len(known.numbers)
            if together and items + size > MAX_TOGETHER:
                yield together
                together, items = [], 0
            together.append(version)
            items += size
        if together:
            yield together

    async def _follow(self, versions: Sequence[Version]) -> None:
        known, hour = [self._known.get(version.placement) for version in versions], self.hour()
        for before, found in zip(
            known,
            await self.read(lambda store: [*map(look, repeat(store), versions, known, repeat(hour))]),
            strict=True,
        ):
            if self._propensities is not None and before is not None and found is not None:
                await self._propensities.settle(before)
            # learners change here only, between two decisions and never during one
            if isinstance(found, NewCounts):
                found = absorbing(found)
            if isinstance(found, Broken):
                self._broken[found.version.placement] = found
                self._known.pop(found.version.placement, None)
            else:
                self._known[found.name] = found
                self._broken.pop(found.name, None)
