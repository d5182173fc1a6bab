"""The one thread that writes: whatever has come in while the disk was busy goes into the next transaction together."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, Final, TypeVar

from slotwise.errors import StoreUnavailable
from slotwise.service.store import Store
from slotwise.service.store.contract import Decision, Receipt, Report

Answer = TypeVar("Answer")
#: what may wait; more is refused, so that memory stays bounded when the disk cannot keep up
MOST_WAITING: Final = 10_000
#: what goes into one transaction
MOST_AT_ONCE: Final = 1_000

#: from the beginning of one transaction to that of the next, at least: a few requests share it before the disk is busy
SECONDS_BETWEEN: Final = 0.002

_Job = tuple[Any, "asyncio.Future[Any]"]


class Writer:
    """Feeds a store, which it owns, from an event loop; an awaited answer is on disk."""

    def __init__(self, store: Store, observe: Callable[[int, float], None] = lambda _size, _seconds: None) -> None:
        self._store = store
        self._observe = observe
        #: what came in during this turn of the loop, and what the thread has been handed
        self._gathered: list[_Job] = []
        self._jobs: queue.SimpleQueue[list[_Job] | None] = queue.SimpleQueue()
        self._waiting = 0
        self._open = False
        self._loop: asyncio.AbstractEventLoop
        self._thread = threading.Thread(target=self._work, name="slotwise-writer", daemon=True)

    def start(self) -> None:
        """Begin, and answer in the loop that runs now."""
        self._loop = asyncio.get_running_loop()
        self._open = True
        self._thread.start()

    def issue(self, decision: Decision) -> asyncio.Future[Decision]:
        """The decision as it is to be shown."""
        return self._submit(decision)

    def record(self, report: Report) -> asyncio.Future[Receipt]:
        """What became of a report."""
        return self._submit(report)

    def call(self, work: Callable[[Store], Answer]) -> asyncio.Future[Answer]:
        """Anything else, in its turn."""
        return self._submit(work)

    def _submit(self, work: Any) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = self._loop.create_future()
        if not self._open or self._waiting >= MOST_WAITING:
            why = "more is waiting to be written than can be" if self._open else "the service is stopping"
            future.set_exception(StoreUnavailable(why))
            return future
        # handed over once a turn: waking the thread for each would cost more than the writing
        if not self._gathered:
            self._loop.call_soon(self._hand_over)
        self._gathered.append((work, future))
        self._waiting += 1
        return future

    def _hand_over(self) -> None:
        if self._gathered:
            self._jobs.put(self._gathered)
            self._gathered = []

    async def close(self) -> None:
        """Write what is waiting, then let go of the store."""
        self._open = False
        self._hand_over()
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    def _work(self) -> None:
        stopping, began = False, 0.0
        while not stopping:
            jobs: list[_Job] = []
            more = self._jobs.get()
            if (early := began + SECONDS_BETWEEN - time.perf_counter()) > 0.0:
                time.sleep(early)
            began = time.perf_counter()
            with contextlib.suppress(queue.Empty):
                while more is not None:
                    jobs += more
                    if len(jobs) >= MOST_AT_ONCE:
                        break
                    more = self._jobs.get_nowait()
            stopping = more is None
            answers = self._answer(jobs)
            # the loop is closed only when it ended without waiting for us
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._tell, answers)
        self._store.close()

    def _answer(self, jobs: list[_Job]) -> list[tuple[asyncio.Future[Any], Any]]:
        # who has stopped waiting was told nothing, and need not hold up the others
        gone = [job for job in jobs if job[1].cancelled()]
        jobs = [job for job in jobs if not job[1].cancelled()] if gone else jobs
        issuing = [job for job in jobs if isinstance(job[0], Decision)]
        reporting = [job for job in jobs if isinstance(job[0], Report)]
        answers: list[tuple[asyncio.Future[Any], Any]] = [(future, None) for _, future in gone]
        if issuing or reporting:
            began = time.perf_counter()
            try:
                issued, receipts = self._store.write([job[0] for job in issuing], [job[0] for job in reporting])
                answers += zip((future for _, future in issuing + reporting), [*issued, *receipts], strict=True)
            except Exception as problem:
                answers += [(future, problem) for _, future in issuing + reporting]
            self._observe(len(issuing) + len(reporting), time.perf_counter() - began)
        for work, future in jobs:
            if not isinstance(work, Decision | Report):
                try:
                    answers.append((future, work(self._store)))
                except Exception as problem:
                    answers.append((future, problem))
        return answers

    def _tell(self, answers: list[tuple[asyncio.Future[Any], Any]]) -> None:
        self._waiting -= len(answers)
        for future, answer in answers:
            if future.done():
                # whoever asked has gone
                continue
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)
