"""The one thread that writes: whatever has come in while the disk was busy goes into the next transaction together."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final, TypeVar

from slotwise.core.errors import CommitInDoubt, StoreUnavailable
from slotwise.service.storage import Store
from slotwise.service.storage.decision_types import IssuedDecision, Outcome, Receipt, Report
from slotwise.service.storage.sql_base import PATIENCE

Answer = TypeVar("Answer")
#: what may wait; more is refused, so that memory stays bounded when the disk cannot keep up
MAX_WAITING: Final = 10_000
#: what goes into one transaction
MAX_AT_ONCE: Final = 1_000

#: from the beginning of one transaction to that of the next, at least: a few requests share it before the disk is busy
SECONDS_BETWEEN: Final = 0.002

#: how long something may wait for its turn, and how long writing it may take: who asked is told within two seconds
WRITE_SECONDS: Final = 1.5
#: between two looks at what waits
LOOK_SECONDS: Final = 0.1

_Job = tuple[Any, "asyncio.Future[Any]"]
_Answer = tuple["asyncio.Future[Any]", Any]


class _Batch:
    """What was handed to the thread in one turn of the loop; whoever takes it answers it."""

    __slots__ = ("_claim", "jobs", "since")

    def __init__(self, jobs: list[_Job]) -> None:
        self.jobs, self.since = jobs, time.monotonic()
        self._claim = threading.Lock()

    def take(self) -> bool:
        """True for the first that asks."""
        return self._claim.acquire(blocking=False)

    def is_taken(self) -> bool:
        return self._claim.locked()


class Writer:
    """Feeds a store, which it owns, from an event loop; an awaited answer is on disk."""

    def __init__(
        self,
        store: Store,
        observe: Callable[[int, float], None] = lambda _size, _seconds: None,
        seconds: float = WRITE_SECONDS,
    ) -> None:
        self._store = store
        self._observe = observe
        self._seconds = seconds
        #: what came in during this turn of the loop, and what the thread has been handed
        self._gathered: list[_Job] = []
        self._jobs: queue.SimpleQueue[_Batch | None] = queue.SimpleQueue()
        #: the same for the loop, which refuses what has waited too long
        self._handed: deque[_Batch] = deque()
        self._is_looking = False
        #: decisions that were refused but may be in the store: a commit was not answered
        self._doubtful: list[IssuedDecision] = []
        self._waiting = 0
        self._open = False
        self._loop: asyncio.AbstractEventLoop
        self._thread = threading.Thread(target=self._work, name="slotwise-writer", daemon=True)

    def start(self) -> None:
        """Begin, and answer in the loop that runs now."""
        self._loop = asyncio.get_running_loop()
        self._open = True
        self._thread.start()

    def issue(self, decision: IssuedDecision) -> asyncio.Future[IssuedDecision]:
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
        if not self._open or self._waiting >= MAX_WAITING:
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
            batch = _Batch(self._gathered)
            self._gathered = []
            self._handed.append(batch)
            self._jobs.put(batch)
            if not self._is_looking:
                self._is_looking = True
                self._loop.call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        """Refuse what has waited too long: the thread is held up, and will not find it any more."""
        now = time.monotonic()
        while self._handed and (self._handed[0].is_taken() or now - self._handed[0].since > self._seconds):
            batch = self._handed.popleft()
            if batch.take():
                self._tell(
                    [(future, StoreUnavailable("the store does not answer in time")) for _, future in batch.jobs]
                )
        self._is_looking = bool(self._handed)
        if self._is_looking:
            self._loop.call_later(LOOK_SECONDS, self._look)

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
                    if more.take():
                        jobs += more.jobs
                    if len(jobs) >= MAX_AT_ONCE:
                        break
                    more = self._jobs.get_nowait()
            stopping = more is None
            answers = self._answer(jobs)
            # the loop is closed only when it ended without waiting for us
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._tell, answers)
        self._store.close()

    def _answer(self, jobs: list[_Job]) -> list[_Answer]:
        # who has stopped waiting was told nothing, and need not hold up the others
        gone = [job for job in jobs if job[1].cancelled()]
        jobs = [job for job in jobs if not job[1].cancelled()] if gone else jobs
        answers: list[_Answer] = [(future, None) for _, future in gone]
        try:
            answers += self._write([job for job in jobs if isinstance(job[0], IssuedDecision | Report)])
            self._store.patience = PATIENCE
            for work, future in jobs:
                if not isinstance(work, IssuedDecision | Report):
                    answers.append((future, _tried(work, self._store)))
        except StoreUnavailable as problem:
            # nothing else is tried: whoever waits here has waited long enough
            answered = {future for future, _ in answers}
            jobs += self._waiting_now()
            answers += [(future, problem) for _, future in jobs if future not in answered]
        return answers

    def _write(self, jobs: list[_Job]) -> list[_Answer]:
        """Decisions and reports; an error of theirs alone is their answer, a store that does not answer is raised."""
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
            # one that has a key can be asked for again, and is then the one that may be there
            self._doubtful = [work for work, _ in issuing if work.once is None]
            raise
        except StoreUnavailable:
            raise
        except Exception as problem:
            return [(future, problem) for future in futures]
        finally:
            self._observe(len(jobs), time.perf_counter() - began)

    def _take_back(self) -> None:
        """Decisions that were refused are reported as what they are where they did get in: nobody saw them."""
        if self._doubtful:
            unseen = [Report(decision.id, Outcome("not_shown"), decision.issued) for decision in self._doubtful]
            self._store.write([], unseen)
            self._doubtful = []

    def _waiting_now(self) -> list[_Job]:
        """What has come in meanwhile, no longer to be written."""
        waiting: list[_Job] = []
        for batch in list(self._handed):
            if batch.take():
                waiting += batch.jobs
        return waiting

    def _tell(self, answers: list[_Answer]) -> None:
        self._waiting -= len(answers)
        for future, answer in answers:
            if future.done():
                # whoever asked has gone
                continue
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)


def _tried(work: Callable[[Store], Any], store: Store) -> Any:
    """What comes of it, be it an exception; but a store that does not answer is for all to know."""
    try:
        return work(store)
    except StoreUnavailable:
        raise
    except Exception as problem:
        return problem
