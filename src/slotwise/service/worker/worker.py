"""The service without HTTP: its stores, its thread that writes, and the tasks that go on by themselves."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Final

from slotwise.errors import SlotwiseError, StoreUnavailable
from slotwise.service.settings import Settings
from slotwise.service.store import open_store
from slotwise.service.worker.definition import Definition
from slotwise.service.worker.estimates import EstimateDesk
from slotwise.service.worker.learning import learner_of
from slotwise.service.worker.metrics import Metrics
from slotwise.service.worker.placements import Placement, Placements
from slotwise.service.worker.tokens import Signer
from slotwise.service.worker.writer import Writer

Clock = Callable[[], float]
#: between two looks for decisions past their deadline
FINALISE_SECONDS: Final = 0.1
#: what is finalised in one transaction; decisions wait for it, so it is kept short
FINALISE_AT_ONCE: Final = 100
PROBE_SECONDS: Final = 2.0
#: a worker that has not seen the store for so long is not ready
LONGEST_STALENESS: Final = 5.0

log = logging.getLogger("slotwise.service")


class Service:
    """Everything that a worker runs."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        url = settings.store.get_secret_value()
        self.settings = settings
        self.clock = clock
        # a connection for each thread: a read does not wait for a write
        writing, reading = open_store(url), open_store(url)
        self.signer = Signer(writing.secret())
        self.placements = Placements(reading)
        self.estimates = EstimateDesk(self.placements)
        self.metrics = Metrics(lambda: self.placements.counted, self.placements.staleness)
        self.writer = Writer(writing, self.metrics.committed)
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Put the placements of the settings where they are missing, read all, and begin to finalise."""
        self.writer.start()
        for name, definition in self.settings.placements.items():
            if await self.placements.find(name) is None:
                await self.put(name, definition)
        await self.placements.refresh()
        self._tasks = [asyncio.create_task(self._finalise()), asyncio.create_task(self.placements.keep_fresh())]

    async def stop(self) -> None:
        """Finish what was taken in, and let go of the store."""
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await self.writer.close()
        await self.placements.close()

    async def put(self, name: str, definition: Definition) -> tuple[Placement, bool]:
        """Create or change; whether it is new."""
        # in another thread, as it may take seconds
        await asyncio.to_thread(_try, definition)
        new = await self.writer.call(lambda store: store.put_placement(name, definition.text()))
        placement = await self.placements.find(name)
        assert placement is not None
        log.info("placement put", extra={"placement": name, "new": new, "items": len(definition.items)})
        return placement, new

    async def probe(self) -> None:
        """Raise unless the store takes a write and the snapshot is fresh."""
        await asyncio.wait_for(self.writer.call(lambda store: store.probe()), PROBE_SECONDS)
        if self.placements.staleness() > LONGEST_STALENESS:
            raise StoreUnavailable(f"the snapshot is {self.placements.staleness():.0f} seconds old")

    async def _finalise(self) -> None:
        while True:
            try:
                while True:
                    counted = await self.writer.call(lambda store: store.finalise(self.clock(), FINALISE_AT_ONCE))
                    if counted < FINALISE_AT_ONCE:
                        break
            except SlotwiseError as problem:
                log.warning("cannot finalise now", extra={"problem": str(problem)})
                await asyncio.sleep(1.0)
            except Exception:
                log.exception("finalising failed")
                await asyncio.sleep(1.0)
            await asyncio.sleep(FINALISE_SECONDS)


def _try(definition: Definition) -> None:
    """Refuse what no learner takes, and compile what was never used here."""
    learner = learner_of(definition)
    learner.choose()
    learner.choose_several(1)
