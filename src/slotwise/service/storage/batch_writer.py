"""The thread that writes: all work that arrives during one transaction is written in the next (group commit)."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from slotwise.core.errors import CommitInDoubt, StoreUnavailable
from slotwise.service.storage import Store
from slotwise.service.storage.decision_types import IssuedDecision, Outcome, Receipt, Report
from slotwise.service.storage.sql_base import PATIENCE

Answer = TypeVar("Answer")
#: waiting jobs; further ones are rejected, so that memory stays bounded when the disk is slow
MAX_WAITING: Final = 10_000
#: jobs in one transaction
MAX_AT_ONCE: Final = 1_000

#: minimum time between the starts of two transactions, so that several requests share one
SECONDS_BETWEEN: Final = 0.002

#: timeout of waiting for a turn, and of writing: a caller gets an answer within two seconds
WRITE_SECONDS: Final = 1.5
#: between two checks of waiting jobs
LOOK_SECONDS: Final = 0.1

_Job = tuple[Any, "asyncio.Future[Any]"]
_Answer = tuple["asyncio.Future[Any]", Any]


class _Batch:
    """The jobs of one turn of the event loop; the side that takes the batch answers it."""

    __slots__ = ("_claim", "jobs", "since")

    def __init__(self, jobs: list[_Job]) -> None:
        self.jobs, self.since = jobs, time.monotonic()
        self._claim = threading.Lock()

    def take(self) -> bool:
        """True for the first caller."""
        return self._claim.acquire(blocking=False)

    def is_taken(self) -> bool:
        return self._claim.locked()


class Writer:
    """Writes to a store, which it owns, from an event loop; an awaited result is on disk."""

    def __init__(
        self,
        store: Store,
        observe: Callable[[int, float], None] = lambda _size, _seconds: None,
        seconds: float = WRITE_SECONDS,
    ) -> None:
        self._store = store
        self._observe = observe
        self._seconds = seconds
        #: jobs of this turn of the loop, and batches for the thread
        self._gathered: list[_Job] = []
        self._jobs: queue.SimpleQueue[_Batch | None] = queue.SimpleQueue()
        #: the same batches for the loop, which rejects those that wait too long
        self._handed: deque[_Batch] = deque()
        self._is_looking = False
        #: decisions that were rejected but may be in the store: a commit was not answered
        self._doubtful: list[IssuedDecision] = []
        self._waiting = 0
        self._open = False
        self._loop: asyncio.AbstractEventLoop
        self._thread = threading.Thread(target=self._work, name="slotwise-writer", daemon=True)

    def start(self) -> None:
        """Start the thread; results go to the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._open = True
        self._thread.start()

    def issue(self, decision: IssuedDecision) -> asyncio.Future[IssuedDecision]:
        """Write a decision; the result is the decision to show."""
        return self._submit(decision)

    def write_all(self, jobs: Sequence[Any]) -> list[asyncio.Future[Any]]:
        """Write decisions or reports in one transaction: all of them or none."""
        if self._waiting + len(jobs) > MAX_WAITING:
            raise StoreUnavailable("too many writes are waiting")
        # jobs of one turn of the loop are one batch, which is written in one transaction
        return [self._submit(job) for job in jobs]

    def record(self, report: Report) -> asyncio.Future[Receipt]:
        """Write a report; the result is its receipt."""
        return self._submit(report)

    def call(self, work: Callable[[Store], Answer]) -> asyncio.Future[Answer]:
        """Call a function with the store, in the writing thread."""
        return self._submit(work)

    def _submit(self, work: Any) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = self._loop.create_future()
        if not self._open or self._waiting >= MAX_WAITING:
            why = "too many writes are waiting" if self._open else "the service is stopping"
            future.set_exception(StoreUnavailable(why))
            return future
        # once a turn: waking the thread for each job would cost more than the writing
        if not self._gathered:
            self._loop.call_soon(self._hand_over)
        self._gathered.append((work, future))
        self._waiting += 1
        return future

    def _hand_over(self) -> None:
        if self._gathered:
            batch = _Batch(self._gathered)
            self._gathered = []
            self._handed.append(batch)
            self._jobs.put(batch)
            if not self._is_looking:
                self._is_looking = True
                self._loop.call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        """Reject batches that wait too long: the thread is blocked, and cannot take them any more."""
        now = time.monotonic()
        while self._handed and (self._handed[0].is_taken() or now - self._handed[0].since > self._seconds):
            batch = self._handed.popleft()
            if batch.take():
                self._resolve(
                    [(future, StoreUnavailable("the store does not answer in time")) for _, future in batch.jobs]
                )
        self._is_looking = bool(self._handed)
        if self._is_looking:
            self._loop.call_later(LOOK_SECONDS, self._look)

    async def close(self) -> None:
        """Write the waiting jobs, then close the store."""
        self._open = False
        self._hand_over()
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    def _work(self) -> None:
        stopping, began = False, 0.0
        while not stopping:
            jobs: list[_Job] = []
            batch = self._jobs.get()
            if (early := began + SECONDS_BETWEEN - time.perf_counter()) > 0.0:
                time.sleep(early)
            began = time.perf_counter()
            with contextlib.suppress(queue.Empty):
                while batch is not None:
                    if batch.take():
                        jobs += batch.jobs
                    if len(jobs) >= MAX_AT_ONCE:
                        break
                    batch = self._jobs.get_nowait()
            stopping = batch is None
            answers = self._answer(jobs)
            # the loop is closed if it ended without waiting for this thread
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._resolve, answers)
        self._store.close()

    def _answer(self, jobs: list[_Job]) -> list[_Answer]:
        # cancelled callers get no answer, and must not delay the others
        cancelled = [job for job in jobs if job[1].cancelled()]
        jobs = [job for job in jobs if not job[1].cancelled()] if cancelled else jobs
        answers: list[_Answer] = [(future, None) for _, future in cancelled]
        try:
            answers += self._write([job for job in jobs if isinstance(job[0], IssuedDecision | Report)])
            self._store.patience = PATIENCE
            for work, future in jobs:
                if not isinstance(work, IssuedDecision | Report):
                    answers.append((future, _tried(work, self._store)))
        except StoreUnavailable as problem:
            # all waiting jobs are rejected: they have waited long enough
            answered = {future for future, _ in answers}
            jobs += self._waiting_now()
            answers += [(future, problem) for _, future in jobs if future not in answered]
        return answers

    def _write(self, jobs: list[_Job]) -> list[_Answer]:
        """Write decisions and reports. Their own errors are results; a store that does not answer raises."""
        if not jobs and not self._doubtful:
            return []
        self._store.patience = self._seconds
        self._take_back()
        issuing = [job for job in jobs if isinstance(job[0], IssuedDecision)]
        reporting = [job for job in jobs if isinstance(job[0], Report)]
        futures = [future for _, future in issuing + reporting]
        began = time.perf_counter()
        try:
            issued, receipts = self._store.write([job[0] for job in issuing], [job[0] for job in reporting])
            return [*zip(futures, [*issued, *receipts], strict=True)]
        except CommitInDoubt:
            # a decision with an idempotency key can be requested again, and is found if it was written
            self._doubtful = [work for work, _ in issuing if work.once is None]
            raise
        except StoreUnavailable:
            raise
        except Exception as problem:
            return [(future, problem) for future in futures]
        finally:
            self._observe(len(jobs), time.perf_counter() - began)

    def _take_back(self) -> None:
        """Report rejected decisions as not shown, in case they were written."""
        if self._doubtful:
            unseen = [Report(decision.id, Outcome("not_shown"), decision.issued) for decision in self._doubtful]
            self._store.write([], unseen)
            self._doubtful = []

    def _waiting_now(self) -> list[_Job]:
        """Take all waiting jobs, which will not be written."""
        waiting: list[_Job] = []
        for batch in list(self._handed):
            if batch.take():
                waiting += batch.jobs
        return waiting

    def _resolve(self, answers: list[_Answer]) -> None:
        self._waiting -= len(answers)
        for future, answer in answers:
            if future.done():
                # the caller was cancelled
                continue
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)


def _tried(work: Callable[[Store], Answer], store: Store) -> Answer | Exception:
    """The result of a function, or its exception as a value; a store that does not answer raises."""
    try:
        return work(store)
    except StoreUnavailable:
        raise
    except Exception as problem:
        return problem
