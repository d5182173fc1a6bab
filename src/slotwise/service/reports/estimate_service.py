"""Estimates and overviews of placements: of large ones from a process of their own, of others from this one.

Reading, estimating and writing a document of 100,000 items takes seconds and hundreds of megabytes, and decisions must
not wait for that. The other process opens its own connection to the store, has a low priority, and ends when it has
been idle for a while.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Final

from pydantic import TypeAdapter

from slotwise.core.errors import StoreUnavailable
from slotwise.service.placements.admission import Admission
from slotwise.service.placements.placement_registry import Placements
from slotwise.service.placements.placement_state import Placement
from slotwise.service.reports.history import summary_of
from slotwise.service.reports.lru_cache import SingleFlight
from slotwise.service.reports.overview import OverviewRequest, Overviews
from slotwise.service.reports.placement_estimates import KnownEstimates, PlacementEstimates, known_estimates
from slotwise.service.reports.uplift import ALWAYS, Span
from slotwise.service.schemas.definition import MAX_ITEMS, PlacementDefinition
from slotwise.service.schemas.overview_schemas import ItemsPage, OverviewDocument
from slotwise.service.schemas.report_schemas import EstimatesDocument
from slotwise.service.schemas.segment_rules import VisitorSegments
from slotwise.service.storage import open_store
from slotwise.service.storage.decision_types import hour_of

#: different estimates of large placements that wait for the other process, each of which takes seconds
MAX_REMOTE: Final = 16
#: a placement with as many items, or items × slots × segments, is large: estimates of smaller ones take less time than
#: starting a process
LARGE_ITEMS, LARGE_CELLS = 10_000, 50_000

#: how long the idle process waits for requests
IDLE_SECONDS: Final = 60.0
NICENESS: Final = 5

DOCUMENT: Final = TypeAdapter[EstimatesDocument](EstimatesDocument)


def is_large(definition: PlacementDefinition) -> bool:
    """Whether the estimates of a placement take longer than starting a process."""
    items, segments = len(definition.items), len(VisitorSegments(definition.segments))
    return items >= LARGE_ITEMS or items * definition.slots * segments >= LARGE_CELLS


class LocalEstimator:
    """Estimates in this process."""

    def __init__(self, placements: Placements, known: KnownEstimates | None = None) -> None:
        self._estimates = PlacementEstimates(placements, known)
        self._overviews = Overviews(placements, self._estimates)

    async def estimates(self, name: str, segment: Sequence[str] = (), span: Span = ALWAYS) -> EstimatesDocument:
        """The estimates as a document."""
        return await self._estimates.document(name, segment, span)

    async def estimates_json(self, name: str, segment: Sequence[str], span: Span) -> bytes:
        """The estimates as JSON."""
        return DOCUMENT.dump_json(await self.estimates(name, segment, span))

    async def overview(self, question: OverviewRequest, now: float, staleness: float) -> OverviewDocument:
        """The owner's overview."""
        return await self._overviews.document(question, now, staleness)

    async def items(self, name: str, search: str, offset: int, limit: int) -> ItemsPage:
        """A page of the items whose names contain the search text, the most relevant first."""
        return await self._overviews.items(name, search, offset, limit)

    async def summary(self, name: str) -> str:
        """The summary of the estimates that is kept at the end of an hour."""
        return summary_of(await self.estimates(name))


class RemoteEstimator:
    """Estimates in another process, started when it is needed; requests for the same answer share one computation."""

    def __init__(self, store: str, clock: Callable[[], float] = time.time) -> None:
        self._store, self._clock = store, clock
        self._pool: ProcessPoolExecutor | None = None
        self._requests = SingleFlight[tuple[Any, ...], Any]()
        self._admission = Admission(MAX_REMOTE, "estimates of large placements")
        self._ending: asyncio.TimerHandle | None = None

    async def estimates_json(self, name: str, segment: Sequence[str], span: Span) -> bytes:
        """The estimates as JSON."""
        content: bytes = await self._shared("estimates_json", name, tuple(segment), span)
        return content

    async def overview(self, question: OverviewRequest, now: float, staleness: float) -> OverviewDocument:
        """The owner's overview."""
        document: OverviewDocument = await self._shared("overview", question, now, staleness)
        return document

    async def items(self, name: str, search: str, offset: int, limit: int) -> ItemsPage:
        """A page of the items whose names contain the search text, the most relevant first."""
        page: ItemsPage = await self._shared("items", name, search, offset, limit)
        return page

    async def summary(self, name: str) -> str:
        """The summary of the estimates that is kept at the end of an hour."""
        text: str = await self._shared("summary", name)
        return text

    async def _shared(self, method: str, *arguments: Any) -> Any:
        # counts may decay from hour to hour
        request = method, hour_of(self._clock()), *arguments
        return await self._requests.run(request, lambda: self._run(*request))

    async def _run(self, *request: Any) -> Any:
        with self._admission:
            return await self._computed(*request)

    async def _computed(self, *request: Any) -> Any:
        if self._ending is not None:
            self._ending.cancel()
            self._ending = None
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(1, context, initializer=_prepare)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, _answer, self._store, *request)
        except BrokenProcessPool:
            self._end()
            raise StoreUnavailable("the process that estimates large placements was killed") from None
        finally:
            if len(self._requests) <= 1 and self._pool is not None:
                self._ending = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._end)

    def _end(self) -> None:
        if self._pool is not None:
            pool, self._pool = self._pool, None
            processes = list((getattr(pool, "_processes", None) or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()

    async def close(self) -> None:
        """End the process, also if it is busy."""
        if self._ending is not None:
            self._ending.cancel()
        await self._requests.close()
        self._end()


class EstimateService:
    """The estimator of each placement."""

    def __init__(self, local: LocalEstimator, remote: RemoteEstimator) -> None:
        self.local, self._remote = local, remote

    def of(self, placement: Placement) -> LocalEstimator | RemoteEstimator:
        """The estimator that answers for a placement of this size."""
        return self._remote if is_large(placement.definition) else self.local


def _prepare() -> None:
    os.nice(NICENESS)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


#: the last estimates of this process: a user who looks at an overview searches its items next
_known = known_estimates(max_entries=1, max_items=MAX_ITEMS)


def _answer(store: str, method: str, hour: int, *arguments: Any) -> Any:
    """Call a method of `LocalEstimator`, in the other process."""

    async def answer() -> Any:
        placements = Placements(open_store(store), clock=lambda: hour)
        try:
            return await getattr(LocalEstimator(placements, _known), method)(*arguments)
        finally:
            await placements.close()

    return asyncio.run(answer())
