"""Workers follow candidate items that are learned and dropped: each has the store's counts in memory, each once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from slotwise.service.runtime import Worker
from slotwise.service.schemas.decision_request import DecisionRequest
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.storage import open_store
from slotwise.service.storage.decision_types import Outcome
from tests.service.serving import Clock
from tests.waiting import FOR_EVER

HOME = {"slots": 2, "items": ["a", "b"], "window_seconds": 60.0, "max_items": 6}


@pytest.mark.parametrize("changes", [{}, {"half_life": 24.0}, {"segments": {"device": ["tv"]}}], ids=str)
def test_every_worker_has_the_counts_of_the_store(tmp_path: Path, changes: dict[str, object]) -> None:
    store, clock, rng = f"sqlite:///{tmp_path}/store.db", Clock(), np.random.default_rng(3)
    home = PlacementDefinition.model_validate(HOME | changes)

    async def run() -> list[int]:
        async with (
            Worker(store, clock=clock, placements={"home": home}, write_seconds=FOR_EVER) as one,
            Worker(store, clock=clock, write_seconds=FOR_EVER) as other,
        ):
            made = []
            for _ in range(12):
                for worker in (one, other):
                    ids = [f"x{number}" for number in rng.integers(0, 12, 3)]
                    candidates = [{"id": id, "features": {"price": float(len(id))}} for id in dict.fromkeys(ids)]
                    decision = await worker.decide("home", DecisionRequest.model_validate({"candidates": candidates}))
                    await worker.report(decision.id, Outcome("clicked", decision.items[0]))
                clock.now += 60.0
                await one.background.finalise()
                for worker in (one, other):
                    await worker.refresh()
                    made.append(id((await worker.placement("home")).learner))
                    await _compare(worker, store, weighed="half_life" in changes)
            return made

    made = asyncio.run(run())
    # some are followed in the same learner, and some need another
    assert 2 < len(set(made)) < len(made)


async def _compare(worker: Worker, store: str, *, weighed: bool) -> None:
    reading = open_store(store)
    rows, candidates = reading.tally("home"), reading.candidate_items("home")
    reading.close()
    placement = await worker.placement("home")
    assert {candidate.item for candidate in candidates} <= placement.numbers.keys()
    if weighed:
        return
    tally = placement.learner.tally()
    for candidate in candidates:
        number = placement.numbers[candidate.item]
        of_item = [row for row in rows if row.item == candidate.item]
        assert tally.clicks[:, number].sum() == sum(row.clicks for row in of_item)
        assert tally.passes[:, number].sum() == sum(row.passes for row in of_item)
