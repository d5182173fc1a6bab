"""What takes the place of threads, time, chance, and evidence that would take too long to gather."""

from __future__ import annotations

import queue
import random
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from slotwise.ranker import learner
from slotwise.service.decisions import decide
from slotwise.service.placements import placement_registry, placement_state, propensities, store_sync
from slotwise.service.reports.guardrails import read_guardrails
from slotwise.service.runtime import alerting, background_tasks, worker
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.storage import batch_writer, sqlite
from tests.service.simulation.clients import receive
from tests.service.simulation.scheduler import Executor, Queue, Thread
from tests.service.simulation.simulated_store import Connection, opener
from tests.service.simulation.worker_process import WorkerProcess

if TYPE_CHECKING:
    from tests.service.simulation.world import World

#: lists drawn at once, and for propensities: their number decides nothing here
DRAWN, LISTS = 4, 4


@contextmanager
def instead_of_threads_and_time(world: World) -> Iterator[None]:
    """Within the block, the service runs in virtual time, and all of its chance is the seed's."""
    time, seed = world.clock_module(), world.rng.randrange(2**32)
    default_rng, seeds = np.random.default_rng, random.Random(seed)

    def seeded(number: Any = None) -> np.random.Generator:
        return default_rng(seeds.randrange(2**32) if number is None else number)

    def process() -> WorkerProcess:
        assert isinstance(world.current, WorkerProcess)
        return world.current

    async def post(_url: str, body: bytes, *_: object, **__: object) -> None:
        await receive(world, body)

    def read(store: Any, name: str, definition: Any) -> list[Any]:
        """The state of a guardrail is the seed's: a history has too few views for one."""
        state = "broken" if world.model.definitions.is_broken else "unclear"
        return [{**document, "state": state} for document in read_guardrails(store, name, definition)]

    # without guardrails there is nothing to look at
    looks = 0.5 if world.is_guarded else float("inf")
    state = random.getstate()
    random.seed(seed)
    try:
        with ExitStack() as stack:
            for module, name, other in (
                (batch_writer, "time", time),
                (batch_writer, "threading", SimpleNamespace(Thread=partial(Thread, world), Lock=threading.Lock)),
                (
                    batch_writer,
                    "queue",
                    SimpleNamespace(SimpleQueue=lambda: Queue(world, queue.Empty), Empty=queue.Empty),
                ),
                (placement_registry, "time", time),
                (placement_registry, "ThreadPoolExecutor", partial(Executor, world)),
                (sqlite, "time", time),
                # files are not deleted here
                (sqlite, "_inode", lambda _: 0),
                (sqlite3, "connect", lambda path, **_: Connection(process(), path)),
                (worker, "open_store", opener(process)),
                (background_tasks, "FINALISE_SECONDS", world.rng.choice([0.2, 0.5])),
                (placement_registry, "REFRESH_SECONDS", world.rng.choice([0.4, 0.8])),
                (alerting, "read_guardrails", read),
                (alerting, "post", post),
                (alerting, "GUARD_SECONDS", looks),
                (alerting, "DELIVER_SECONDS", looks),
                (alerting, "WATCH_SECONDS", float("inf")),
                (alerting, "secrets", SimpleNamespace(token_hex=lambda size: f"{random.getrandbits(8 * size):x}")),
                (placement_state, "MAX_DRAWN", DRAWN),
                (propensities, "MIN_LISTS", LISTS),
                (propensities, "MAX_LISTS", LISTS),
                (store_sync, "PlacementDefinition", SimpleNamespace(model_validate_json=_definition)),
                # the policy is the default
                (learner, "check_served", lambda *_: None),
                (decide, "new_id", world.new_id),
                (np.random, "default_rng", seeded),
            ):
                stack.enter_context(patch.object(module, name, other))
            yield
    finally:
        random.setstate(state)


#: a definition cannot be changed, and to read one takes long
_definition: Callable[[str], PlacementDefinition] = cache(PlacementDefinition.model_validate_json)
