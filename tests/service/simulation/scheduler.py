"""Virtual time, and threads that run one at a time in an order that the seed picks."""

from __future__ import annotations

import asyncio
import heapq
import random
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from types import SimpleNamespace
from typing import Any

from greenlet import GreenletExit, getcurrent, greenlet


class Scheduler:
    """The choices of a seed, the virtual time, events to come, and processes with their threads."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.now = 0.0
        self.trace: list[str] = []
        self.processes: list[Process] = []
        #: the process whose code runs
        self.current: Process | None = None
        self._main = getcurrent()
        #: what is to be done before anything else runs: the end of the process that runs
        self._at_once: Callable[[], None] | None = None
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._number = count()

    def chance(self, probability: float) -> bool:
        # no draw for what never happens, so that the other choices of a seed are not moved by it
        return probability > 0.0 and self.rng.random() < probability

    def note(self, what: str) -> None:
        self.trace.append(f"{self.now:9.4f}  {what}")

    def later(self, seconds: float, act: Callable[[], None]) -> None:
        """Do something after a time."""
        heapq.heappush(self._events, (self.now + seconds, next(self._number), act))

    def has_events(self) -> bool:
        return bool(self._events)

    def step(self) -> bool:
        """Run one of all that can run now, or let time pass until something can; False if nothing ever will."""
        able: list[tuple[Process | None, Callable[[], None]]] = []
        now = self.now
        # without calls where possible: this runs more than a thousand times in a history
        for process in self.processes:
            loop = process.loop
            if loop._ready or (loop._scheduled and loop._scheduled[0]._when <= now):  # type: ignore[attr-defined]
                able.append((process, loop.turn))
            able += [
                (process, thread.go)
                for thread in process.threads
                if thread.wakes <= now and (thread.until is None or thread.until())
            ]
        if self._events and self._events[0][0] <= now:
            able.append((None, self._event))
        if not able:
            return self._pass_time()
        self.current, act = able[0] if len(able) == 1 else self.rng.choice(able)
        try:
            act()
        finally:
            self.current = None
        if self._at_once is not None:
            act, self._at_once = self._at_once, None
            act()
        return True

    def leave(self, act: Callable[[], None]) -> None:
        """Do something at once that ends this thread."""
        self._at_once = act
        self._main.switch()

    def _event(self) -> None:
        heapq.heappop(self._events)[2]()

    def _pass_time(self) -> bool:
        times = [self._events[0][0]] if self._events else []
        for process in self.processes:
            times += process.times()
        if not times:
            return False
        self.now = max(self.now, min(times))
        return True

    def pause(self, until: Callable[[], bool] | None = None, seconds: float = 0.0) -> None:
        """Let others run, and go on when `until` is true and the seconds have passed."""
        thread = getcurrent()
        if isinstance(thread, Thread):
            thread.until, thread.wakes = until, self.now + seconds
            self._main.switch()

    def sleep(self, seconds: float) -> None:
        self.pause(seconds=seconds)

    def clock_module(self) -> SimpleNamespace:
        """In the place of `time`."""

        def now() -> float:
            return self.now

        return SimpleNamespace(monotonic=now, perf_counter=now, sleep=self.sleep)


class Thread(greenlet):  # type: ignore[misc]
    """In the place of `threading.Thread`."""

    def __init__(
        self, scheduler: Scheduler, target: Callable[..., Any], *, name: str = "thread", daemon: bool = True
    ) -> None:
        super().__init__(target)
        self.scheduler, self.name = scheduler, name
        self.until: Callable[[], bool] | None = None
        self.wakes = 0.0

    def start(self) -> None:
        assert self.scheduler.current is not None
        self.scheduler.current.threads.append(self)

    def go(self) -> None:
        process = self.scheduler.current
        self.switch()
        if self.dead and process is not None and self in process.threads:
            process.threads.remove(self)

    def join(self) -> None:
        self.scheduler.pause(lambda: self.dead)


class Queue:
    """In the place of `queue.SimpleQueue`."""

    def __init__(self, scheduler: Scheduler, empty: type[Exception]) -> None:
        self._scheduler, self._empty, self._waiting = scheduler, empty, deque[Any]()

    def put(self, item: Any) -> None:
        self._waiting.append(item)

    def get(self) -> Any:
        if not self._waiting:
            self._scheduler.pause(lambda: bool(self._waiting))
        return self._waiting.popleft()

    def get_nowait(self) -> Any:
        if not self._waiting:
            raise self._empty
        return self._waiting.popleft()


class Executor:
    """In the place of `ThreadPoolExecutor` with one thread: jobs run in order."""

    def __init__(self, scheduler: Scheduler, _threads: int = 1, name: str = "executor") -> None:
        self._scheduler, self._name = scheduler, name
        self._jobs = deque[Callable[[], None]]()
        self._is_working = False

    def add(self, job: Callable[[], None]) -> None:
        self._jobs.append(job)
        if not self._is_working:
            self._is_working = True
            Thread(self._scheduler, self._work, name=self._name).start()

    def _work(self) -> None:
        while self._jobs:
            self._jobs.popleft()()
            self._scheduler.pause()
        self._is_working = False

    def shutdown(self, wait: bool = True) -> None:
        pass


class _Selector:
    """No files are waited for."""

    def select(self, _timeout: float | None) -> list[Any]:
        return []


class Loop(asyncio.BaseEventLoop):
    """asyncio's own loop, in virtual time, one turn at a time."""

    def __init__(self, scheduler: Scheduler, failed: Callable[[str], None]) -> None:
        super().__init__()
        self._selector = _Selector()
        self._scheduler, self._failed = scheduler, failed
        self.is_dead = False

    def time(self) -> float:
        return self._scheduler.now

    def next_timer(self) -> float:
        timers = self._scheduled  # type: ignore[attr-defined]
        return timers[0].when() if timers else float("inf")

    def turn(self) -> None:
        asyncio._set_running_loop(self)
        try:
            self._run_once()  # type: ignore[attr-defined]
        finally:
            asyncio._set_running_loop(None)

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Any, *args: Any, context: Any = None
    ) -> asyncio.Handle:
        return self.call_soon(callback, *args, context=context)

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        future: asyncio.Future[Any] = self.create_future()

        def job() -> None:
            try:
                result, problem = func(*args), None
            except Exception as raised:
                result, problem = None, raised
            self.call_soon(_resolve, future, result, problem)

        if executor is None:
            Thread(self._scheduler, job, name="to_thread").start()
        else:
            executor.add(job)
        return future

    def get_debug(self) -> bool:
        return False

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if not self.is_dead:
            self._failed(f"{context.get('message')}: {context.get('exception')!r}")

    def _check_closed(self) -> None:
        """Coroutines that are thrown away may still call it, to no effect."""

    def _process_events(self, _events: list[Any]) -> None:
        pass

    def _write_to_self(self) -> None:
        pass


def _resolve(future: asyncio.Future[Any], result: Any, problem: Exception | None) -> None:
    if future.cancelled():
        return
    if problem is None:
        future.set_result(result)
    else:
        future.set_exception(problem)


class Process:
    """An event loop and threads, which end together."""

    def __init__(self, scheduler: Scheduler, name: str, failed: Callable[[str], None]) -> None:
        self.scheduler, self.name = scheduler, name
        self.loop = Loop(scheduler, failed)
        self.threads: list[Thread] = []
        scheduler.processes.append(self)

    def times(self) -> list[float]:
        """When it goes on by itself."""
        timer = self.loop.next_timer()
        wakes = [thread.wakes for thread in self.threads if thread.wakes > self.scheduler.now]
        return wakes if timer == float("inf") else [timer, *wakes]

    def end(self) -> None:
        """No further line of it runs."""
        self.scheduler.processes.remove(self)
        self.loop.is_dead = True
        for thread in self.threads:
            thread.throw(GreenletExit)
        self.threads.clear()
        for task in asyncio.all_tasks(self.loop):
            with suppress(RuntimeError):
                task.get_coro().close()
        self.loop.close()
