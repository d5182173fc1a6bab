"""Background loops: they finalise decisions, store propensities and summaries, log failures and retry."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Final

from slotwise.core.errors import SlotwiseError
from slotwise.service.placements.placement_registry import Placements
from slotwise.service.placements.placement_state import Placement
from slotwise.service.placements.propensities import Propensities, Propensity
from slotwise.service.reports.estimate_service import EstimateService
from slotwise.service.storage import Store
from slotwise.service.storage.batch_writer import Writer
from slotwise.service.storage.decision_types import HOUR, hour_of

#: the pause after a failure
RECOVER_SECONDS: Final = 1.0
#: between two searches for decisions past their deadline
FINALISE_SECONDS: Final = 0.1
#: decisions that are finalised in one transaction; new decisions wait for it, so it is short
FINALISE_AT_ONCE: Final = 100
#: decisions whose propensities are written in one transaction, for the same reason
FILL_AT_ONCE: Final = 200
#: from a refresh, after which posteriors are new, until lists are drawn for propensities: under load the first
#: decisions have arrived by then, and the following ones are written together with their propensities
FILL_SECONDS: Final = 0.02
#: between two checks whether an hour has ended
END_SECONDS: Final = 1.0

log = logging.getLogger("slotwise.service")


async def again_and_again(
    work: Callable[[], Awaitable[object]], until_next: Callable[[], Awaitable[object]], what: str
) -> None:
    """Wait and work, forever.

    Parameters
    ----------
    work
        The task; its failures are logged.
    until_next
        Waits for the next turn.
    what
        A verb and its object, for the log.
    """
    while True:
        await until_next()
        try:
            await work()
        except SlotwiseError as problem:
            log.warning(f"cannot {what} now", extra={"problem": str(problem)})
            await asyncio.sleep(RECOVER_SECONDS)
        except Exception:
            log.exception(f"failed to {what}")
            await asyncio.sleep(RECOVER_SECONDS)


class BackgroundTasks:
    """Tasks of a worker between requests: count decisions, and store propensities and hourly summaries."""

    def __init__(
        self,
        placements: Placements,
        writer: Writer,
        propensities: Propensities,
        estimates: EstimateService,
        clock: Callable[[], float],
    ) -> None:
        self._placements, self._writer, self._estimates, self._clock = placements, writer, estimates, clock
        self._propensities, self._filling = propensities, asyncio.Lock()
        #: the start of the last hour that was noticed
        self._hour = 0

    def loops(self) -> tuple[Coroutine[None, None, None], ...]:
        """Return the loops, which run until they are cancelled."""
        return (
            again_and_again(self.finalise, partial(asyncio.sleep, FINALISE_SECONDS), "finalise"),
            again_and_again(self.fill_propensities, self._until_refreshed, "store propensities"),
            again_and_again(self._store_last_hour, partial(asyncio.sleep, END_SECONDS), "store summaries of estimates"),
        )

    async def finalise(self) -> int:
        """Count the decisions whose deadline has passed, each once; returns their number."""
        total = 0
        while True:
            # the current time: outcomes that arrived before it are written first
            now = self._clock()
            counted = await self._writer.call(partial(_finalise, now))
            total += counted
            if counted < FINALISE_AT_ONCE:
                return total

    async def fill_propensities(self) -> None:
        """Compute and store the propensities of the decisions since the last call."""
        async with self._filling:
            self._propensities.replenish()
            placements = [placement for placement in self._placements.all() if placement.pending_propensities.has_work]
            # the budget may not be enough for all, so the order is random
            random.shuffle(placements)
            for placement in placements:
                await self._propensities.settle(placement)
            propensities = self._propensities.take()
            while propensities:
                batch, others = propensities[:FILL_AT_ONCE], propensities[FILL_AT_ONCE:]
                try:
                    await self._writer.call(partial(_fill, propensities=batch))
                except SlotwiseError:
                    self._propensities.give_back(propensities)
                    raise
                propensities = others

    async def store_hourly_summaries(self, hour: int) -> None:
        """Store a summary of each placement's estimates at the end of the hour that began at `hour`, if missing."""
        for placement in self._placements.all():
            await self._store_hourly_summary(placement, hour)

    async def _store_hourly_summary(self, placement: Placement, hour: int) -> None:
        name = placement.name
        if await self._placements.read(lambda store: store.lacks_summary(name, hour)):
            summary = await self._estimates.of(placement).summary(name)
            await self._writer.call(lambda store: store.store_hourly_summary(name, hour, summary))

    async def _store_last_hour(self) -> None:
        """Store the summaries of the hour that has just ended, once; those of earlier hours are unknown."""
        now, before = hour_of(self._clock()), self._hour
        self._hour = max(now, before)
        if now > before:
            await self.store_hourly_summaries(now - HOUR)

    async def _until_refreshed(self) -> None:
        refreshed = self._placements.was_refreshed
        refreshed.clear()
        await refreshed.wait()
        await asyncio.sleep(FILL_SECONDS)


def _finalise(now: float, store: Store) -> int:
    return store.finalise(now, FINALISE_AT_ONCE)


def _fill(store: Store, propensities: Sequence[Propensity]) -> None:
    store.fill_propensities(propensities)
