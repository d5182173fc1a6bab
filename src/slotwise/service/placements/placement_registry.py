"""The placements in a worker's memory, with tallies at most a second behind the store's."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import Final, TypeVar

from slotwise.core.errors import SlotwiseError, StoreUnavailable
from slotwise.service.placements.admission import Admission
from slotwise.service.placements.placement_state import NewCounts, Placement
from slotwise.service.placements.propensities import Propensities
from slotwise.service.placements.store_sync import UnreadablePlacement, read_changes, with_counts
from slotwise.service.schemas.name_rules import is_name
from slotwise.service.storage import Store
from slotwise.service.storage.count_rows import Counters
from slotwise.service.storage.decision_types import Arm, hour_of
from slotwise.service.storage.placements_table import Version

Answer = TypeVar("Answer")
CountersByPlacement = Mapping[str, Mapping[Arm, Counters]]
#: items of the placements that are updated in one turn
MAX_TOGETHER: Final = 2_000
#: with more items, a decision takes more than a few milliseconds in plain Python
MAX_PLAIN_ITEMS: Final = 200
#: between two refreshes; with the refresh itself well below the published bound
REFRESH_SECONDS: Final = 0.4
#: reads that wait for the reading thread
MAX_READS: Final = 200
#: how long a decision waits for a placement that is not in memory yet
FIND_SECONDS: Final = 1.5
#: when an unreadable placement is tried again without a change
RETRY_SECONDS: Final = 30.0

log = logging.getLogger("slotwise.service")


class UnknownPlacement(SlotwiseError, LookupError):
    """There is no placement of that name."""


class BrokenPlacement(SlotwiseError):
    """The stored placement cannot be read; other placements are not affected."""


class Placements:
    """All placements: decisions read them, and one task at a time updates them from the store."""

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
        self._broken: dict[str, UnreadablePlacement] = {}
        self._thread = ThreadPoolExecutor(1, "slotwise-reader")
        #: for requests: updates of the placements take turns, so they need no bound
        self._admission = Admission(MAX_READS, "reads")
        self._turn = asyncio.Lock()
        self._refreshed = time.monotonic()
        #: set after every refresh
        self.was_refreshed = asyncio.Event()
        #: as of the last refresh
        self.counters: CountersByPlacement = {}

    def get(self, name: str) -> Placement | None:
        """A placement from memory, or None."""
        return self._known.get(name)

    def hour(self) -> int:
        """The start of the current hour, from which ages are counted."""
        return hour_of(self._clock())

    def names(self) -> list[str]:
        """The names, in order."""
        return sorted(self._known)

    def all(self) -> list[Placement]:
        """The placements, in order of name."""
        return [self._known[name] for name in self.names()]

    def broken(self) -> dict[str, str]:
        """Unreadable placements with reasons, in order of name."""
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
        """Raise `BrokenPlacement` with the reason if a placement is unreadable."""
        if name in self._broken:
            raise BrokenPlacement(f"the placement {name!r} cannot be read: {self._broken[name].why}")

    def staleness(self) -> float:
        """Seconds since the last refresh."""
        return time.monotonic() - self._refreshed

    async def read(self, work: Callable[[Store], Answer]) -> Answer:
        """The result of `work` on the store, in the reading thread; refused if too many callers wait for it."""
        with self._admission:
            return await self._read(work)

    async def _read(self, work: Callable[[Store], Answer]) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, self._store)

    async def find(self, name: str) -> Placement | None:
        """A placement from the store: it may have been put a moment ago, here or by another worker."""
        async with self._turn:
            version = await self._read(lambda store: store.version(name))
            if version is None:
                self._forget(name)
            elif self._is_new(version):
                await self._follow([version])
        return self._known.get(name)

    async def refresh(self) -> None:
        """Update all placements from the store once."""
        async with self._turn:
            began = time.monotonic()
            versions = await self._read(lambda store: store.versions())
            for gone in {*self._known, *self._broken} - {version.placement for version in versions}:
                self._forget(gone)
            for together in self._in_turns(version for version in versions if self._is_new(version)):
                await self._follow(together)
            self.counters = await self._read(lambda store: store.counters())
            self._refreshed = began
            self.was_refreshed.set()

    async def load(self) -> None:
        """Load the kernels of all placements; wait for those of placements that are slow without them."""

        def load(placements: Sequence[Placement]) -> None:
            for placement in placements:
                if len(placement.numbers) > MAX_PLAIN_ITEMS:
                    placement.learner.kernels.wait()
                placement.learner.kernels.load()

        await asyncio.to_thread(load, self.all())

    async def keep_fresh(self) -> None:
        """Refresh forever; while the store does not answer, decisions use the last state."""
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
        """Close the connection to the store."""
        await self._read(lambda store: store.close())
        self._thread.shutdown()

    def _forget(self, name: str) -> None:
        self._known.pop(name, None)
        self._broken.pop(name, None)

    def _is_new(self, version: Version) -> bool:
        broken = self._broken.get(version.placement)
        if broken is not None:
            return broken.version != version or time.monotonic() - broken.noticed > RETRY_SECONDS
        placement = self._known.get(version.placement)
        if placement is None or (placement.version, placement.revision) != (version.version, version.revision):
            return True
        return placement.recent is not None and placement.recent.decay.hour != self.hour()

    def _in_turns(self, versions: Iterable[Version]) -> Iterator[list[Version]]:
        """Groups of versions: many small placements together to save round trips, large ones alone to save memory."""
        together: list[Version] = []
        items = 0
        for version in versions:
            placement = self._known.get(version.placement)
            size = MAX_TOGETHER if placement is None else len(placement.numbers)
            if together and items + size > MAX_TOGETHER:
                yield together
                together, items = [], 0
            together.append(version)
            items += size
        if together:
            yield together

    async def _follow(self, versions: Sequence[Version]) -> None:
        earlier, hour = [self._known.get(version.placement) for version in versions], self.hour()
        for old, change in zip(
            earlier,
            await self._read(lambda store: [*map(read_changes, repeat(store), versions, earlier, repeat(hour))]),
            strict=True,
        ):
            if isinstance(change, NewCounts) and change.placement.is_large:
                change = await asyncio.get_running_loop().run_in_executor(self._thread, with_counts, change)
            if self._propensities is not None and old is not None and change is not None:
                await self._propensities.settle(old)
            # learners change only here, between two decisions and never during one
            if isinstance(change, NewCounts):
                change = with_counts(change)
            if isinstance(change, UnreadablePlacement):
                self._broken[change.version.placement] = change
                self._known.pop(change.version.placement, None)
            else:
                self._known[change.name] = change
                self._broken.pop(change.name, None)
