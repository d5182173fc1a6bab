"""Clients who ask, wait, ask again and report, over a network that loses, delays and repeats messages."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

from slotwise.service.runtime.webhook import NotDelivered
from slotwise.service.storage.decision_types import Event, Outcome
from tests.service.simulation import placements
from tests.service.simulation.requests import Request
from tests.service.simulation.scheduler import Process

if TYPE_CHECKING:
    from tests.service.simulation.world import World

#: until a client takes an answer for lost
PATIENCE = 1.6
VISITORS = ("ada", "ada", "bob")
CLIENTS, VIEWS = 3, 2
#: events that the placements know, and one that they do not
EVENTS = (("cart", None), ("cart", None), ("purchase", 39.0), ("purchase", 8.5), ("visit", None))


class _Seen(NamedTuple):
    """A decision that somebody was told of, with its list."""

    id: str
    placement: str
    items: tuple[str, ...]


class Clients:
    """Some clients, and those who look after the service."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._process = Process(world, "clients", world.failed)
        self._seen: list[_Seen] = []
        self._left = 0
        for work in (*map(self._client, range(CLIENTS)), self._trouble()):
            self._process.loop.create_task(work).add_done_callback(self._leave)
            self._left += 1

    def _leave(self, task: asyncio.Task[None]) -> None:
        self._left -= 1
        if not task.cancelled() and (problem := task.exception()) is not None:
            self._world.failed(repr(problem))

    def have_left(self) -> bool:
        return self._left == 0

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
            if self._seen and rng.random() < 0.4:
                await self._buy(rng.choice(self._seen))

    async def _decide(self, key: str) -> list[_Seen]:
        rng = self._world.rng
        is_batch = rng.random() < 0.2
        placement = rng.choice(["home", "shop"])
        items = placements.KNOWN[placement].items
        request = Request(
            placement=placement,
            is_batch=is_batch,
            count=rng.choice([1, 3]) if is_batch else 1,
            device=rng.choice([None, "mobile", "desktop", "fridge"]),
            visitor=rng.choice([None, *VISITORS]),
            exclude=("a",) if rng.random() < 0.15 else (),
            candidates=tuple(rng.sample(items[1:], rng.choice([1, 2]))) if rng.random() < 0.15 else None,
            key=rng.choice([None, key, "shared"]),
        )
        for _ in range(3):
            answer = await self._ask(request)
            if isinstance(answer, list):
                return [_Seen(decision.id, decision.placement, decision.items) for decision in answer]
            if request.key is None:
                return []
            await asyncio.sleep(rng.choice([0.1, 0.5]))
        return []

    async def _report(self, decisions: list[_Seen]) -> None:
        rng = self._world.rng
        for _ in range(rng.choice([0, 1, 1, 2, 3])):
            await asyncio.sleep(rng.choice([0.0, 0.0, 0.1, 0.6]))
            reports = self._reports(decisions)
            asked = [self._ask(reports)]
            if rng.random() < 0.3:
                asked.append(self._ask(self._reports(decisions)))
            answers = await asyncio.gather(*asked)
            if not isinstance(answers[0], list) and rng.random() < 0.7:
                await self._ask(reports)

    def _reports(self, decisions: list[_Seen]) -> Request:
        return Request(
            outcomes=tuple((decision.id, self._outcome(decision)) for decision in decisions),
            by_token=len(decisions) == 1 and self._world.rng.random() < 0.3,
        )

    def _outcome(self, decision: _Seen) -> Outcome:
        rng, items = self._world.rng, decision.items
        kind = rng.choice(["clicked", "clicked", "no_click", "not_shown"])
        events = (Event(*rng.choice(EVENTS)),) if decision.placement == "shop" and rng.random() < 0.2 else ()
        if kind == "no_click":
            return Outcome("no_click", events=events)
        if kind != "clicked":
            return Outcome("not_shown")
        item, *then = rng.choice([[items[0]], [items[-1]], [items[-1], items[0]], [*items[:3]], ["z"]])
        return Outcome("clicked", item, tuple(then), rng.choice([None, 0.0, 0.5, 2.5]), events)

    async def _buy(self, decision: _Seen) -> None:
        """Events after the view: again, under an id that was used, and when the list is counted."""
        rng = self._world.rng
        for _ in range(rng.choice([1, 2])):
            await asyncio.sleep(rng.choice([0.0, 0.3, 0.6, 2.1]))
            events = tuple(
                Event(*rng.choice(EVENTS))._replace(event_id=f"order-{number}")
                for number in rng.choice([[1], [2], [1], [1, 2]])
            )
            request = Request(later=(decision.id, events), by_token=rng.random() < 0.2)
            if not isinstance(await self._ask(request), list) or rng.random() < 0.3:
                await self._ask(request)

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
            if world.is_guarded:
                await self._look_after_guardrail()

    async def _look_after_guardrail(self) -> None:
        """The guardrail breaks, or its owner puts the placement back, or weighs an event anew."""
        world = self._world
        what = world.rng.choice(["break", "break", "put back", "weigh"])
        if what == "break":
            world.break_guardrail()
        elif what == "put back":
            # the cause is found first
            world.model.definitions.is_broken = False
            await self._ask(Request(placements.GUARDED, change=(("mode", "live"),)))
        else:
            worth = world.rng.choice([3.0, 5.0])
            await self._ask(Request(placements.GUARDED, change=(("reward", {"cart": worth}),)))


async def receive(world: World, body: bytes) -> None:
    """The receiver of messages, and the network before it, which may lose a message or its answer."""
    await asyncio.sleep(0.0)
    if world.chance(world.rates.lost):
        raise NotDelivered("the message was lost")
    world.posted(body.decode())
    if world.chance(world.rates.lost):
        raise NotDelivered("the answer of the receiver was lost")
