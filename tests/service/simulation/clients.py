"""Clients who ask, wait, ask again and report, over a network that loses, delays and repeats messages."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from slotwise.service.storage.decision_types import Outcome
from tests.service.simulation.requests import Request
from tests.service.simulation.scheduler import Process

if TYPE_CHECKING:
    from tests.service.simulation.world import World

#: until a client takes an answer for lost
PATIENCE = 1.6
VISITORS = ("ada", "ada", "bob")
CLIENTS, VIEWS = 3, 2


class Clients:
    """Some clients, and those who look after the service."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._process = Process(world, "clients", world.failed)
        self._tasks = [self._process.loop.create_task(self._client(number)) for number in range(CLIENTS)]
        self._tasks.append(self._process.loop.create_task(self._trouble()))
        #: decisions that somebody was told of, with their lists
        self._seen: list[tuple[str, tuple[str, ...]]] = []

    def have_left(self) -> bool:
        return all(task.done() for task in self._tasks)

    async def _client(self, number: int) -> None:
        rng = self._world.rng
        for view in range(VIEWS):
            await asyncio.sleep(rng.choice([0.0, 0.05, 0.3, 0.6]))
            decisions = await self._decide(f"{number}-{view}")
            if decisions:
                self._seen += decisions
                await self._report(decisions)
            if self._seen and rng.random() < 0.3:
                # another page reports what it was told of
                await self._report([rng.choice(self._seen)])

    async def _decide(self, key: str) -> list[tuple[str, tuple[str, ...]]]:
        rng = self._world.rng
        is_batch = rng.random() < 0.2
        request = Request(
            placement=rng.choice(["home", "shop"]),
            is_batch=is_batch,
            count=rng.choice([1, 3]) if is_batch else 1,
            device=rng.choice([None, "mobile", "desktop", "fridge"]),
            visitor=rng.choice([None, *VISITORS]),
            exclude=("a",) if rng.random() < 0.15 else (),
            key=rng.choice([None, key, "shared"]),
        )
        for _ in range(3):
            answer = await self._ask(request)
            if isinstance(answer, list):
                return [(decision.id, decision.items) for decision in answer]
            if request.key is None:
                return []
            await asyncio.sleep(rng.choice([0.1, 0.5]))
        return []

    async def _report(self, decisions: list[tuple[str, tuple[str, ...]]]) -> None:
        rng = self._world.rng
        for _ in range(rng.choice([0, 1, 1, 2, 3])):
            await asyncio.sleep(rng.choice([0.0, 0.0, 0.1, 0.6]))
            reports = Request(outcomes=tuple((id, self._outcome(items)) for id, items in decisions))
            asked = [self._ask(reports)]
            if rng.random() < 0.3:
                asked.append(self._ask(Request(outcomes=tuple((id, self._outcome(items)) for id, items in decisions))))
            answers = await asyncio.gather(*asked)
            if not isinstance(answers[0], list) and rng.random() < 0.7:
                await self._ask(reports)

    def _outcome(self, items: tuple[str, ...]) -> Outcome:
        rng = self._world.rng
        kind = rng.choice(["clicked", "clicked", "no_click", "not_shown"])
        if kind != "clicked":
            return Outcome(kind)  # type: ignore[arg-type]
        item, *then = rng.choice([[items[0]], [items[1]], [items[1], items[0]], ["z"]])
        return Outcome("clicked", item, tuple(then), rng.choice([None, 0.0, 0.5, 2.5]))

    # the network

    async def _ask(self, request: Request) -> Any:
        """The answer, or None if it was lost."""
        world, loop = self._world, self._process.loop
        answered: asyncio.Future[Any] = loop.create_future()
        for _ in range(2 if world.chance(world.rates.twice) else 1):
            if not world.chance(world.rates.lost):
                world.later(self._delay(), lambda: self._deliver(request, answered))
        try:
            return await asyncio.wait_for(answered, PATIENCE)
        except TimeoutError:
            return None

    def _delay(self) -> float:
        return self._world.rng.choice([0.0, 0.001, 0.02, 0.3])

    def _deliver(self, request: Request, answered: asyncio.Future[Any]) -> None:
        world = self._world
        number = world.rng.randrange(len(world.offsets))
        process = world.workers.get(number)
        delivery = process.serve(request) if process is not None else None
        world.note(f"to worker {number}: {request if delivery is not None else 'nobody listens'}")
        if delivery is not None:
            delivery.then = lambda answer: self._send_back(answer, answered)

    def _send_back(self, answer: Any, answered: asyncio.Future[Any]) -> None:
        def arrive() -> None:
            if not answered.done():
                answered.set_result(answer)

        if not self._world.chance(self._world.rates.lost):
            self._world.later(self._delay(), arrive)

    # what else happens

    async def _trouble(self) -> None:
        world = self._world
        for _ in range(world.rng.choice([2, 4])):
            await asyncio.sleep(world.rng.choice([0.2, 0.7, 1.3]))
            if world.chance(world.rates.jump):
                world.jump()
            if world.chance(world.rates.crash * 30) and world.workers:
                process = world.workers[world.rng.choice([*world.workers])]
                world.note(f"{process.name} is killed")
                world.kill(process)
