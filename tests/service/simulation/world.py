"""All of the simulation: what happens is chosen by the seed, and checked after each commit and each answer."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from slotwise.service.storage.count_rows import COUNTERS, TALLY_COUNTS
from slotwise.service.storage.decision_types import least_id
from tests.service.simulation import placements
from tests.service.simulation.clients import Clients
from tests.service.simulation.model import Model, Row, Violation, must
from tests.service.simulation.requests import Delivery
from tests.service.simulation.scheduler import Executor, Queue, Scheduler, Thread
from tests.service.simulation.simulated_store import Connection, Observer, opener
from tests.service.simulation.worker_process import SERVING, WorkerProcess

#: virtual seconds after which a history that has not ended is a failure
LONGEST = 120.0
_ROWS = (
    "SELECT id, placement, items, arm, issued, deadline, segment, list_of, capped, late, final, outcome, clicked, "
    "clicked_then, value FROM decisions"
)


@dataclass(frozen=True)
class Rates:
    """How often faults happen, per statement or message; each seed draws its own, and many are 0."""

    crash: float = 0.0
    error: float = 0.0
    stall: float = 0.0
    doubt: float = 0.0
    lost: float = 0.0
    twice: float = 0.0
    jump: float = 0.0

    @classmethod
    def drawn(cls, rng: random.Random) -> Rates:
        return cls(
            crash=rng.choice([0.0, 0.0, 0.003, 0.01]),
            error=rng.choice([0.0, 0.0, 0.003, 0.02]),
            stall=rng.choice([0.0, 0.0, 0.01]),
            doubt=rng.choice([0.0, 0.0, 0.15]),
            lost=rng.choice([0.0, 0.0, 0.1]),
            twice=rng.choice([0.0, 0.0, 0.15]),
            jump=rng.choice([0.0, 0.0, 0.3]),
        )


class World(Scheduler):
    """Workers on one store, clients, and the model."""

    def __init__(self, seed: int, folder: Path) -> None:
        super().__init__(seed)
        self.rates = Rates.drawn(self.rng)
        self.model = Model(placements.KNOWN)
        self._folder, self._generation, self._drawn = folder, 0, 0
        self.file = folder / "0.db"
        shutil.copy(placements.template(), self.file)
        self._observer = Observer(self.file)
        # some histories begin shortly before the end of an hour
        start = self.rng.choice([0.0, 0.0, 118.0])
        self.offsets = [start + self.rng.choice([0.0, 0.0, 0.4, -3.0]) for _ in range(self.rng.choice([1, 1, 2]))]
        self.model.is_alone = len(self.offsets) == 1
        self.workers: dict[int, WorkerProcess] = {}
        #: tallies by placement and revision, for what workers hold in memory
        self._tallies: dict[tuple[str, int], Counter[tuple[Any, ...]]] = {}
        #: the first thing that is not as it must be
        self.failure = ""

    @property
    def url(self) -> str:
        return f"sqlite:///{self.file}"

    def failed(self, what: str) -> None:
        """Note a failure: an exception would be caught by the service."""
        self.failure = self.failure or what

    def close(self) -> None:
        for process in [*self.processes]:
            process.end()
            for connection in getattr(process, "connections", ()):
                connection.close()
        self._observer.close()

    def run(self) -> None:
        """One history from start to end."""
        self.note(f"{len(self.offsets)} workers, {self.rates}")
        with self._instead_of_threads_and_time():
            self.observe()
            for number in range(len(self.offsets)):
                self.start(number)
            clients = Clients(self)
            self._until(clients.have_left)
            # from here on nothing fails, and all that is due is counted
            self.rates = Rates()
            last = max((row.deadline for row in self.model.rows.values()), default=0.0)
            for number in range(len(self.offsets)):
                self.offsets[number] = max(self.offsets[number], last - placements.START - self.now)
                if number in self.workers:
                    self.workers[number].offset = self.offsets[number]
                else:
                    self.start(number)
            self._until(self._is_quiet)
            for process in self.workers.values():
                self._check_memory(process)
            self._stop()
            self.model.finished()
            self._check_repeats()

    def _until(self, is_over: Any) -> None:
        give_up = self.now + LONGEST
        while not is_over():
            must(self.step() and self.now < give_up, "a history that does not end")
            if self.failure:
                raise Violation(self.failure)

    def _is_quiet(self) -> bool:
        """Nothing is under way, and all is counted."""
        if self.has_events() or not all(row.final for row in self.model.rows.values()):
            return False
        return all(
            process.worker is not None and process.worker._is_started and not process.unanswered
            for process in self.workers.values()
        )

    def _stop(self) -> None:
        stopping = [
            process.loop.create_task(process.worker.stop())
            for process in self.workers.values()
            if process.worker is not None
        ]
        self._until(lambda: all(task.done() for task in stopping))
        for task in stopping:
            task.result()
        for process in [*self.processes]:
            process.end()

    # crashes, restarts and clocks

    def start(self, number: int) -> None:
        self.note(f"worker {number} starts")
        self.workers[number] = WorkerProcess(self, f"worker {number}", self.offsets[number])

    def kill(self, process: WorkerProcess) -> None:
        """As by kill -9: what is in files stays, and locks are released."""
        number = next(number for number, found in self.workers.items() if found is process)
        del self.workers[number]
        process.end()
        self.model.killed = True
        if not self.workers:
            self._leave_files_as_they_are()
        for connection in process.connections:
            connection.close()
        self.later(self.rng.choice([0.05, 0.5, 2.0]), partial(self._start_again, number))

    def _start_again(self, number: int) -> None:
        if number not in self.workers:
            self.start(number)

    def _leave_files_as_they_are(self) -> None:
        """The next processes find copies made now: closing the files would write to them."""
        self._generation += 1
        file = self._folder / f"{self._generation}.db"
        for end in ("", "-wal"):
            if (old := Path(f"{self.file}{end}")).exists():
                shutil.copy(old, f"{file}{end}")
        self.file = file
        self._observer.close()
        self._observer = Observer(file)
        self.observe()

    def jump(self) -> None:
        """A worker's clock is set, or all are, as by the operating system."""
        seconds = self.rng.choice([-4.0, -0.4, 0.4, 1.5, 90.0, 3700.0])
        number = self.rng.randrange(len(self.offsets))
        self.note(f"the clock of worker {number} jumps by {seconds} s")
        self.offsets[number] += seconds
        if number in self.workers:
            self.workers[number].offset = self.offsets[number]

    # checks

    def observe(self) -> None:
        """Compare all that is committed with the model."""
        try:
            self._observe()
        except Violation as violation:
            self.failed(str(violation))

    def answered(self, delivery: Delivery) -> None:
        """Compare an answer with the model."""
        try:
            self.model.answered(delivery)
        except Violation as violation:
            self.failed(str(violation))

    def _observe(self) -> None:
        rows = {row[0]: _row(*row) for row in self._observer.rows(_ROWS)}
        self.model.committed(rows)
        counts, read = self.model.counts, self._observer.rows
        tally = _counter(
            read(f"SELECT placement, segment, slot, item, {', '.join(TALLY_COUNTS)} FROM tally"), TALLY_COUNTS
        )
        must(tally == +counts.tally, "the tally", _difference(tally, counts.tally))
        cells = ("clicks", "passes", "shows")
        by_hour = _counter(
            read(f"SELECT placement, start, segment, arm, slot, item, {', '.join(cells)} FROM period_tally"), cells
        )
        must(by_hour == +counts.by_hour, "the tally by hour", _difference(by_hour, counts.by_hour))
        names = [name for name in COUNTERS if name not in ("late", "duplicates", "conflicts")]
        counters = _counter(
            read(f"SELECT placement, start, segment, arm, {', '.join(names)} FROM period_counters"), names
        )
        must(counters == +counts.counters, "counters by hour", _difference(counters, counts.counters))
        total = _counter(read(f"SELECT placement, segment, arm, {', '.join(names)} FROM counters"), names)
        over_hours = Counter[tuple[Any, ...]]()
        for (placement, _, *key), count in counters.items():
            over_hours[placement, *key] += count
        must(total == over_hours, "counters", _difference(total, over_hours))
        for placement, revision in read("SELECT name, revision FROM placements"):
            if (placement, revision) not in self._tallies:
                self._tallies[placement, revision] = Counter(
                    {key[1:]: n for key, n in tally.items() if key[0] == placement and key[-1] in ("clicks", "passes")}
                )

    def _check_memory(self, process: WorkerProcess) -> None:
        """Learners have learned the tally of a moment, each count once."""
        for placement in process.worker.placements() if process.worker is not None else ():
            if process.checked.get(placement.name) == placement.revision:
                continue
            process.checked[placement.name] = placement.revision
            learned = Counter[tuple[Any, ...]]()
            for number, segment in enumerate(placements.SEGMENTS):
                tally = placement.learner.tally(number)
                for name, counts in (("clicks", tally.clicks), ("passes", tally.passes)):
                    for slot, of_slot in enumerate(counts.tolist()):
                        for item, count in zip(placement.numbers, of_slot, strict=True):
                            learned[segment, slot, item, name] += int(count)
            # it may be ahead of the revision, which is read first
            later = [
                tally
                for (name, revision), tally in self._tallies.items()
                if name == placement.name and revision >= placement.revision
            ]
            if +learned not in later:
                self.failed(f"a worker has learned another tally · {placement.name} {+learned} {later}")

    def _check_repeats(self) -> None:
        for verdict, counter in (("duplicate", "duplicates"), ("conflict", "conflicts")):
            ((counted,),) = self._observer.rows(f"SELECT COALESCE(SUM({counter}), 0) FROM counters")
            must(counted >= self.model.repeats[verdict], f"lost {counter}", counted, self.model.repeats[verdict])
        ((late,),) = self._observer.rows("SELECT COALESCE(SUM(late), 0) FROM counters")
        must(late == sum(row.late for row in self.model.rows.values()), "late outcomes", late)

    # what takes the place of threads, time and chance

    @contextmanager
    def _instead_of_threads_and_time(self) -> Iterator[None]:
        import queue
        import sqlite3
        import threading

        from slotwise.service.decisions import decide
        from slotwise.service.placements import placement_registry
        from slotwise.service.runtime import background_tasks, worker
        from slotwise.service.storage import batch_writer, sqlite

        time, seed = self.clock_module(), self.rng.randrange(2**32)
        default_rng, seeds = np.random.default_rng, random.Random(seed)

        def seeded(number: Any = None) -> np.random.Generator:
            return default_rng(seeds.randrange(2**32) if number is None else number)

        def process() -> WorkerProcess:
            assert isinstance(self.current, WorkerProcess)
            return self.current

        state = random.getstate()
        random.seed(seed)
        try:
            with ExitStack() as stack:
                for module, name, other in (
                    (batch_writer, "time", time),
                    (batch_writer, "threading", SimpleNamespace(Thread=partial(Thread, self), Lock=threading.Lock)),
                    (
                        batch_writer,
                        "queue",
                        SimpleNamespace(SimpleQueue=lambda: Queue(self, queue.Empty), Empty=queue.Empty),
                    ),
                    (placement_registry, "time", time),
                    (placement_registry, "ThreadPoolExecutor", partial(Executor, self)),
                    (sqlite, "time", time),
                    (sqlite3, "connect", lambda path, **_: Connection(process(), path)),
                    (worker, "open_store", opener(process)),
                    (background_tasks, "FINALISE_SECONDS", self.rng.choice([0.1, 0.4])),
                    (placement_registry, "REFRESH_SECONDS", self.rng.choice([0.4, 0.8])),
                    (decide, "new_id", self._new_id),
                    (np.random, "default_rng", seeded),
                ):
                    stack.enter_context(patch.object(module, name, other))
                yield
        finally:
            random.setstate(state)

    def _new_id(self, now: float) -> str:
        assert isinstance(self.current, WorkerProcess)
        self._check_memory(self.current)
        self._drawn += 1
        id = f"{least_id(now)}{self._drawn:020x}"
        serving = SERVING.get()
        assert serving is not None
        serving.ids.append(id)
        self.model.drawn(serving, id)
        return id


def _row(id: str, placement: str, items: str, *columns: Any) -> Row:
    arm, issued, deadline, segment, list_of, capped, late, final, kind, clicked, then, value = columns
    outcome = (kind, clicked, tuple(json.loads(then)) if then else None, value)
    shown, flags = tuple(json.loads(items)), (bool(capped), bool(late), bool(final))
    return Row(id, placement, shown, arm, issued, deadline, segment, list_of, *flags, outcome)


def _counter(rows: list[tuple[Any, ...]], names: Any) -> Counter[tuple[Any, ...]]:
    counter = Counter[tuple[Any, ...]]()
    for row in rows:
        key = row[: -len(names)]
        for name, count in zip(names, row[-len(names) :], strict=True):
            if count:
                counter[*key, name] += count
    return counter


def _difference(found: Counter[Any], wanted: Counter[Any]) -> str:
    keys = [key for key in {*found, *wanted} if found[key] != wanted[key]]
    return "; ".join(f"{key}: {found[key]} instead of {wanted[key]}" for key in sorted(keys, key=str)[:5])
