"""Estimates of large placements, worked out in a process of their own: decisions do not wait for any of it.

Reading, estimating and writing a document of 100,000 items takes seconds and hundreds of megabytes. The process opens
the store by itself, gives way to others, and ends when it has had nothing to do for a while.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import Any, Final, NamedTuple, TypeVar

from pydantic import TypeAdapter

from slotwise.errors import StoreUnavailable
from slotwise.service.store import open_store
from slotwise.service.store.rows import hour_of
from slotwise.service.worker.definition import MOST_ITEMS, Definition
from slotwise.service.worker.documents import EstimatesDocument
from slotwise.service.worker.estimates import EstimateDesk, Remembered
from slotwise.service.worker.history import believed
from slotwise.service.worker.overview import OverviewDesk, Question
from slotwise.service.worker.overview_documents import ItemsPage, OverviewDocument
from slotwise.service.worker.placements import Placements
from slotwise.service.worker.uplift import ALWAYS, Span

#: from so many items, or items times slots, on: below, starting a process takes longer than the estimates
LARGE_ITEMS, LARGE_PAIRS = 10_000, 50_000
#: how long the process waits for more to do
IDLE_SECONDS: Final = 60.0
NICENESS: Final = 5

_Answer = TypeVar("_Answer")

DOCUMENT: Final = TypeAdapter[EstimatesDocument](EstimatesDocument)


def is_large(definition: Definition) -> bool:
    """Whether its estimates are better worked out elsewhere."""
    items = len(definition.items)
    return items >= LARGE_ITEMS or items * definition.slots >= LARGE_PAIRS


class LargeEstimates:
    """The process, started when it is needed. Requests for the same share one computation."""

    def __init__(self, store: str, clock: Callable[[], float] = time.time) -> None:
        self._store, self._clock = store, clock
        self._pool: ProcessPoolExecutor | None = None
        self._under_way: dict[Any, asyncio.Task[Any]] = {}
        self._ending: asyncio.TimerHandle | None = None

    async def written(self, name: str, segment: Sequence[str], span: Span) -> bytes:
        """The document as JSON."""
        found: bytes = await self._shared(_write, name, tuple(segment), span)
        return found

    async def overview(self, asked: Question, now: float, staleness: float) -> OverviewDocument:
        """What its owner wants to know."""
        found: OverviewDocument = await self._shared(_overview, asked, now, staleness)
        return found

    async def items(self, name: str, search: str, offset: int, limit: int) -> ItemsPage:
        """Items whose names have that in them."""
        found: ItemsPage = await self._shared(_items, name, search, offset, limit)
        return found

    async def believed(self, name: str) -> str:
        """What is kept of them at the end of an hour."""
        found: str = await self._shared(_believe, name)
        return found

    async def _shared(self, work: Callable[..., Any], *arguments: Any) -> Any:
        # counts may fade from hour to hour
        hour = hour_of(self._clock())
        asked = work, hour, *arguments
        task = self._under_way.get(asked)
        if task is None:
            task = self._under_way[asked] = asyncio.create_task(self._run(work, hour, *arguments))
            task.add_done_callback(lambda _: self._under_way.pop(asked, None))
        # whoever asked first may go before it is done
        return await asyncio.shield(task)

    async def _run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        if self._ending is not None:
            self._ending.cancel()
            self._ending = None
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(1, context, initializer=_prepare)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work, self._store, *arguments)
        except BrokenProcessPool:
            self._end()
            raise StoreUnavailable("the process that estimates large placements was killed") from None
        finally:
            if len(self._under_way) <= 1 and self._pool is not None:
                self._ending = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._end)

    def _end(self) -> None:
        if self._pool is not None:
            pool, self._pool = self._pool, None
            processes = list((getattr(pool, "_processes", None) or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()

    async def close(self) -> None:
        """End the process, whatever it is doing."""
        if self._ending is not None:
            self._ending.cancel()
        for task in list(self._under_way.values()):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task
        self._end()


def _prepare() -> None:
    os.nice(NICENESS)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def _write(store: str, hour: int, name: str, segment: Sequence[str], span: Span) -> bytes:
    return DOCUMENT.dump_json(_document(store, hour, name, segment, span))


def _overview(store: str, hour: int, asked: Question, now: float, staleness: float) -> OverviewDocument:
    return _at_desks(store, hour, lambda desks: desks.overviews.document(asked, now, staleness))


def _items(store: str, hour: int, name: str, search: str, offset: int, limit: int) -> ItemsPage:
    return _at_desks(store, hour, lambda desks: desks.overviews.items(name, search, offset, limit))


def _believe(store: str, hour: int, name: str) -> str:
    return believed(_document(store, hour, name))


def _document(store: str, hour: int, name: str, segment: Sequence[str] = (), span: Span = ALWAYS) -> EstimatesDocument:
    return _at_desks(store, hour, lambda desks: desks.estimates.document(name, segment, span))


class _Desks(NamedTuple):
    estimates: EstimateDesk
    overviews: OverviewDesk


#: what was worked out last in this process, as whoever looks at an overview searches its items next
_last = Remembered(most=1, most_items=MOST_ITEMS)


def _at_desks(store: str, hour: int, work: Callable[[_Desks], Coroutine[Any, Any, _Answer]]) -> _Answer:
    async def at_desks() -> _Answer:
        placements = Placements(open_store(store), clock=lambda: hour)
        try:
            estimates = EstimateDesk(placements, _last)
            return await work(_Desks(estimates, OverviewDesk(placements, estimates)))
        finally:
            await placements.close()

    return asyncio.run(at_desks())
