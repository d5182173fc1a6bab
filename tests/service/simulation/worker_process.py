"""A worker in a simulated process: started, served by, stalled, and killed at any statement."""

from __future__ import annotations

import asyncio
import contextvars
from typing import TYPE_CHECKING, Any

from slotwise.core.errors import SlotwiseError
from slotwise.service.placements.definition_edits import patched
from slotwise.service.runtime import Worker
from slotwise.service.runtime.alerting import AlertOptions
from slotwise.service.schemas.decision_request import DecisionRequest
from tests.service.simulation.requests import Delivery, Request
from tests.service.simulation.scheduler import Process, Thread
from tests.service.simulation.simulated_store import ERRORS, Connection, disk_error

if TYPE_CHECKING:
    from tests.service.simulation.world import World

#: 2 minutes before the end of an hour
START = 1_700_002_680.0
#: the request that is being served
SERVING: contextvars.ContextVar[Delivery | None] = contextvars.ContextVar("serving", default=None)


class WorkerProcess(Process):
    """One process of the service, without HTTP."""

    def __init__(self, world: World, name: str, offset: float) -> None:
        super().__init__(world, name, world.failed)
        self.world, self.offset = world, offset
        self.connections: list[Connection] = []
        self.worker: Worker | None = None
        self.unanswered = 0
        #: version and revision of each placement in memory that was checked last
        self.checked: dict[str, tuple[int, int]] = {}
        world.current = self
        Thread(world, self._start, name=f"{name} starts").start()
        world.current = None

    def clock(self) -> float:
        now = START + self.scheduler.now + self.offset
        self.world.model.latest = max(self.world.model.latest, now)
        serving = SERVING.get()
        if serving is not None and serving.now is None:
            serving.now = now
        return now

    def _start(self) -> None:
        try:
            worker = Worker(self.world.url, clock=self.clock, alerts=AlertOptions("secret"))
        except SlotwiseError as problem:
            self.scheduler.note(f"{self.name} cannot start: {problem}")
            self.scheduler.leave(lambda: self.world.kill(self))
            return
        self.worker = worker
        asyncio._set_running_loop(self.loop)
        try:
            worker.begin()
        finally:
            asyncio._set_running_loop(None)

    def at_statement(self, statement: str) -> None:
        """Others may run here, and the disk may fail, or the process be killed."""
        rates, world = self.world.rates, self.world
        if world.chance(rates.stall):
            seconds = world.rng.choice([0.01, 0.3, 2.0])
            world.note(f"{self.name} stalls {seconds} s at {statement[:40]}")
            world.sleep(seconds)
        else:
            world.pause()
        if world.chance(rates.crash):
            world.note(f"{self.name} is killed at {statement[:60]}")
            world.leave(lambda: world.kill(self))
        if world.chance(rates.error):
            code = world.rng.choice(ERRORS)
            world.note(f"{self.name} disk error {code} at {statement[:60]}")
            raise disk_error(code)

    def loses_answer_of_commit(self) -> bool:
        return self.world.chance(self.world.rates.doubt)

    def has_committed(self, tables: set[str]) -> None:
        self.world.observe(tables)

    def serve(self, request: Request) -> Delivery | None:
        """Begin to serve a request; None if nobody listens yet."""
        if self.worker is None:
            return None
        delivery = Delivery(request, self.world.model.commits)
        self.world.model.arrived(delivery)
        self.unanswered += 1
        context = contextvars.copy_context()
        context.run(SERVING.set, delivery)
        self.loop.create_task(self._serve(self.worker, delivery), context=context)
        return delivery

    async def _serve(self, worker: Worker, delivery: Delivery) -> None:
        try:
            delivery.answer = await _answer(worker, delivery.request, self.world.tokens)
        except SlotwiseError as problem:
            delivery.answer = problem
        self.unanswered -= 1
        self.world.note(f"{self.name} answers {_short(delivery)}")
        self.world.answered(delivery)
        delivery.then(delivery.answer)


async def _answer(worker: Worker, request: Request, tokens: dict[str, str]) -> list[Any]:
    if request.change:
        return [await worker.changing.change(request.placement, patched(dict(request.change)))]
    if request.later is not None:
        if request.by_token:
            return [await worker.report_by_token(tokens[request.later[0]], None, request.later[1])]
        return [await worker.add_events(*request.later)]
    if request.outcomes:
        if len(request.outcomes) > 1:
            return [*await worker.report_several(request.outcomes)]
        id, outcome = request.outcomes[0]
        return [await (worker.report_by_token(tokens[id], outcome) if request.by_token else worker.report(id, outcome))]
    wanted = DecisionRequest(
        exclude=[*request.exclude],
        candidates=None if request.candidates is None else [*request.candidates],
        context={} if request.device is None else {"device": request.device},
        visitor=request.visitor,
    )
    if request.is_batch:
        decisions = await worker.decide_several(request.placement, wanted, request.count, request.key)
    else:
        decisions = [await worker.decide(request.placement, wanted, request.key)]
    tokens.update({decision.id: worker.token(decision) for decision in decisions})
    return decisions


def _short(delivery: Delivery) -> str:
    if isinstance(delivery.answer, Exception):
        return f"{type(delivery.answer).__name__}: {delivery.answer}"
    if delivery.request.change:
        return "changed"
    found = [getattr(answer, "verdict", None) or f"{answer.fate} {answer.id[-4:]}" for answer in delivery.answer or []]
    return ", ".join(found)
