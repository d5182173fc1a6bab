"""Queues of what runs off the event loop are bounded, and a refusal says when to try again."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from slotwise.service.placements import placement_registry
from slotwise.service.placements.admission import TooManyWaiting
from slotwise.service.placements.placement_registry import Placements
from slotwise.service.reports import estimate_service, placement_estimates
from slotwise.service.storage import Store, open_store
from tests.service.serving import serving


def test_reads_beyond_the_bound_are_refused_at_once_and_updates_are_not(tmp_path: Path) -> None:
    async def run() -> None:
        placements = Placements(open_store(f"sqlite:///{tmp_path}/store.db"))
        free = threading.Event()

        def block(_: Store) -> str:
            assert free.wait()
            return "read"

        waiting = [asyncio.ensure_future(placements.read(block)) for _ in range(placement_registry.MAX_READS)]
        await asyncio.sleep(0)
        with pytest.raises(TooManyWaiting, match="200 reads are waiting"):
            await placements.read(block)
        refreshing = asyncio.ensure_future(placements.refresh())
        free.set()
        assert await asyncio.gather(*waiting) == ["read"] * len(waiting)
        await refreshing
        # there is room again
        assert await placements.read(block) == "read"
        await placements.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("module", "name", "path"),
    [
        (placement_registry, "MAX_READS", "/v1/placements/home/changes"),
        (placement_estimates, "MAX_ESTIMATES", "/v1/placements/home/estimates"),
        (estimate_service, "MAX_REMOTE", "/v1/placements/large/estimates"),
    ],
)
def test_a_full_queue_is_answered_503_with_a_time_to_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: object, name: str, path: str
) -> None:
    with serving(f"sqlite:///{tmp_path}/store.db") as client:
        client.define()
        client.define("large", items=[f"item {number}" for number in range(20)])
    monkeypatch.setattr(estimate_service, "LARGE_ITEMS", 10)
    monkeypatch.setattr(module, name, 0)
    with serving(f"sqlite:///{tmp_path}/store.db") as client:
        refused = client.get(path)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        assert "waiting already" in refused.json()["detail"]
        # decisions and outcomes do not wait there
        decision = client.decide()
        assert client.report(decision, clicked=decision["items"][0]).status_code == 200
