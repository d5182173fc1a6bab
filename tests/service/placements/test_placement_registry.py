"""What a worker's learner knows is what the store has counted, segment by segment."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from slotwise.ranker import Learner
from slotwise.service.placements import placement_state
from slotwise.service.runtime import Worker
from slotwise.service.schemas.decision_request import DecisionRequest
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.storage.decision_types import Outcome
from tests.service.serving import Clock
from tests.waiting import FOR_EVER


def test_a_learner_follows_counts_of_merged_segments(tmp_path: Path) -> None:
    clock = Clock()
    mobile, new = (
        DecisionRequest(context={"device": "mobile"}, pin={"a": 1}),
        DecisionRequest(context={"visitor": "new"}, pin={"a": 1}),
    )

    def told_apart(**segments: list[str]) -> PlacementDefinition:
        return PlacementDefinition.model_validate(
            {"slots": 1, "items": ["a", "b"], "window_seconds": 60.0, "segments": segments}
        )

    async def visit(worker: Worker, wish: DecisionRequest) -> None:
        decision = await worker.decide("home", wish)
        await worker.report(decision.id, Outcome("clicked", "a"))

    async def counted(worker: Worker) -> list[int]:
        clock.now += 60.0
        await worker.background.finalise()
        await worker.refresh()
        (placement,) = worker.placements()
        return [int(placement.learner.tally(segment).clicks[0, 0]) for segment in range(len(placement.segments))]

    async def run() -> None:
        async with Worker(f"sqlite:///{tmp_path}/store.db", clock=clock, write_seconds=FOR_EVER) as worker:
            await worker.put("home", told_apart(device=["mobile"]))
            await visit(worker, mobile)
            assert await counted(worker) == [0, 1]
            await visit(worker, mobile)
            await worker.put("home", told_apart(visitor=["new"]))
            # what was counted of mobiles is other now; so is the one that is still pending
            assert await counted(worker) == [2, 0]
            await visit(worker, new)
            await visit(worker, DecisionRequest(pin={"a": 1}))
            assert await counted(worker) == [3, 1]
            await visit(worker, DecisionRequest(pin={"a": 1}))
            assert await counted(worker) == [4, 1]

    asyncio.run(run())


def test_a_large_placement_learns_in_another_thread_and_decides_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement_state, "LARGE_CELLS", 1)
    learning, may_go_on, threads = threading.Event(), threading.Event(), list[str]()
    update = Learner.update_from_tallies

    def slowly(self: Learner, counts: Any) -> None:
        threads.append(threading.current_thread().name)
        learning.set()
        assert may_go_on.wait(FOR_EVER)
        update(self, counts)

    monkeypatch.setattr(Learner, "update_from_tallies", slowly)
    clock = Clock()

    async def run() -> None:
        async with Worker(f"sqlite:///{tmp_path}/store.db", clock=clock, write_seconds=FOR_EVER) as worker:
            definition = {"slots": 1, "items": ["a", "b"], "window_seconds": 60.0}
            await worker.put("home", PlacementDefinition.model_validate(definition))
            decision = await worker.decide("home")
            await worker.report(decision.id, Outcome("clicked", decision.items[0]))
            clock.now += 60.0
            await worker.background.finalise()
            refreshing = asyncio.create_task(worker.refresh())
            await asyncio.to_thread(learning.wait, FOR_EVER)
            # still by the old counts
            await worker.decide("home")
            (placement,) = worker.placements()
            assert placement.learner.rounds == 0
            may_go_on.set()
            await refreshing
            (placement,) = worker.placements()
            assert placement.learner.rounds == 1
            assert threads == ["slotwise-reader_0"]

    asyncio.run(run())
