"""All of the simulation: what happens is chosen by the seed, and checked after each commit and each answer."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from slotwise.service.storage.decision_types import least_id
from tests.service.simulation import placements
from tests.service.simulation.clients import Clients
from tests.service.simulation.model import Model
from tests.service.simulation.model_types import Violation, must
from tests.service.simulation.observation import Observation
from tests.service.simulation.requests import Delivery
from tests.service.simulation.scheduler import Scheduler
from tests.service.simulation.substitutes import instead_of_threads_and_time
from tests.service.simulation.worker_process import SERVING, START, WorkerProcess

#: virtual seconds after which a history that has not ended is a failure
LONGEST = 120.0
#: tables that are compared with the model
EVERYTHING: Final = ("decisions", "tally", "counters", "event_counts", "placements", "changes", "alerts")


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
        self._folder = folder
        self.rates = Rates.drawn(self.rng)
        self.model = Model(placements.KNOWN)
        self._generation, self._drawn = 0, 0
        #: whether a placement has a guardrail
        self.is_guarded = self.rng.random() < 0.25
        self.file = folder / "0.db"
        shutil.copy(placements.template(self.is_guarded), self.file)
        self.observation = Observation(self.file, self.model)
        # some histories begin shortly before the end of an hour
        start = self.rng.choice([0.0, 0.0, 118.0])
        self.offsets = [start + self.rng.choice([0.0, 0.0, 0.4, -3.0]) for _ in range(self.rng.choice([1, 1, 2]))]
        self.model.is_alone = len(self.offsets) == 1
        rates = self.rates
        self.model.is_prompt = not (rates.crash or rates.error or rates.stall or rates.doubt)
        #: by decision
        self.tokens: dict[str, str] = {}
        self._has_jumped, self._was_lossy = False, rates.lost > 0.0
        self.workers: dict[int, WorkerProcess] = {}
        #: the first thing that is not as it must be
        self.failure = ""

    @property
    def url(self) -> str:
        return f"sqlite:///{self.file}"

    def note(self, what: str) -> None:
        # the folder is another one in every run
        super().note(what.replace(str(self._folder), ""))

    def failed(self, what: str) -> None:
        """Note a failure: an exception would be caught by the service."""
        self.failure = self.failure or what

    def close(self) -> None:
        for process in [*self.processes]:
            process.end()
            for connection in getattr(process, "connections", ()):
                connection.close()
        self.observation.close()

    def run(self) -> None:
        """One history from start to end."""
        self.note(f"{len(self.offsets)} workers, {self.rates}")
        with instead_of_threads_and_time(self):
            self.observe(EVERYTHING)
            for number in range(len(self.offsets)):
                self.start(number)
            clients = Clients(self)
            self._until(clients.have_left)
            # from here on nothing fails, and all that is due is counted
            self.rates = Rates()
            last = max((row.deadline for row in self.model.rows.values()), default=0.0)
            for number in range(len(self.offsets)):
                self.offsets[number] = max(self.offsets[number], last - START - self.now)
                if number in self.workers:
                    self.workers[number].offset = self.offsets[number]
                else:
                    self.start(number)
            self._until(self._is_quiet)
            for process in self.workers.values():
                self.observation.memory(process)
                must(self.observation.followed(process), "a worker does not follow the store", process.name)
            self._stop()
            self.model.finished()
            self.observation.repeats()
            if self.is_guarded:
                self._check_guardrail()

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
        if self.is_guarded and not self._is_delivered():
            return False
        return all(
            process.worker is not None
            and process.worker._is_started
            and not process.unanswered
            and self.observation.followed(process)
            for process in self.workers.values()
        )

    def _is_delivered(self) -> bool:
        """No message is due, and what is broken is held."""
        definitions = self.model.definitions
        is_held = definitions.of[placements.GUARDED][-1].mode == "held"
        return (is_held or not definitions.is_broken) and not any(
            known.is_due for known in definitions.messages.values()
        )

    def _check_guardrail(self) -> None:
        definitions, prompt = self.model.definitions, self.model.is_prompt
        for message in definitions.messages.values():
            if message.body is not None and not self._has_jumped:
                times = definitions.received.get(message.body, 0)
                must(times, "a message that was never delivered", message)
                must(times == 1 or self._was_lossy or not prompt, "a message delivered twice", message)

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
        self.observation.close()
        self.observation.open(file)
        self.observe(EVERYTHING)

    def jump(self) -> None:
        """A worker's clock is set, or all are, as by the operating system."""
        seconds = self.rng.choice([-4.0, -0.4, 0.4, 1.5, 90.0, 3700.0, 90_000.0])
        number = self.rng.randrange(len(self.offsets))
        self.note(f"the clock of worker {number} jumps by {seconds} s")
        self._has_jumped = True
        self.offsets[number] += seconds
        if number in self.workers:
            self.workers[number].offset = self.offsets[number]

    # guardrails

    def break_guardrail(self) -> None:
        """From now on the evidence says that the learned lists do harm."""
        self.note("the guardrail breaks")
        self.model.definitions.is_broken = self.model.definitions.was_broken = True

    def posted(self, body: str) -> None:
        """A receiver got a message."""
        message = json.loads(body)
        self.note(f"received: {message['topic']} {message['state']}")
        if message["topic"] == "store":
            # of a worker whose store fails, which cannot hold it
            self._check(lambda: must(not self.model.is_prompt, "the store is said to fail", body))
        else:
            self._check(lambda: self.model.definitions.posted(body))

    # checks

    def observe(self, tables: Collection[str]) -> None:
        """Compare what a commit has written with the model."""
        self._check(lambda: self.observation.observe(tables, self.now))

    def answered(self, delivery: Delivery) -> None:
        """Compare an answer with the model."""
        self._check(lambda: self.model.answered(delivery))

    def _check(self, check: Callable[[], None]) -> None:
        try:
            check()
        except Violation as violation:
            self.failed(str(violation))

    def new_id(self, now: float) -> str:
        """The id of a decision for the request that is served, by which the model knows it."""
        assert isinstance(self.current, WorkerProcess)
        process = self.current
        self._check(lambda: self.observation.memory(process))
        self._drawn += 1
        id = f"{least_id(now)}{self._drawn:020x}"
        serving = SERVING.get()
        assert serving is not None
        serving.ids.append(id)
        self.model.drawn(serving, id, self.now)
        return id
