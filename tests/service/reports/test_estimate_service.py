"""Estimates of large placements come from a process of their own, for which nobody else waits."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from slotwise.core.errors import InvalidInput, StoreUnavailable
from slotwise.service.reports import estimate_service
from slotwise.service.reports.estimate_service import RemoteEstimator, is_large
from slotwise.service.runtime import Worker
from slotwise.service.schemas.report_schemas import EstimatesDocument
from slotwise.service.storage.decision_types import HOUR, Outcome, hour_of
from tests.service.runtime.test_worker import BOTH, definition, settled
from tests.service.serving import Clock
from tests.waiting import FOR_EVER, wait_for

MANY = [f"item {number}" for number in range(20)]


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ten items make a placement large, so that nothing here takes long."""
    monkeypatch.setattr(estimate_service, "LARGE_ITEMS", 10)
    yield
    wait_for(lambda: not multiprocessing.active_children(), "the process to end")


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other process is forked from one that has imported all: each would import for seconds of processor time."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([estimate_service.__name__])
    monkeypatch.setattr(multiprocessing, "get_context", lambda _: context)


def drive(path: Path, test: Callable[[Worker, Clock], Awaitable[None]]) -> None:
    async def run() -> None:
        clock = Clock()
        placements = {"large": definition(items=MANY), "small": definition()}
        async with Worker(
            f"sqlite:///{path}/store.db", clock=clock, placements=placements, write_seconds=FOR_EVER
        ) as worker:
            await test(worker, clock)

    asyncio.run(run())


def child() -> int:
    (process,) = multiprocessing.active_children()
    assert process.pid is not None
    return process.pid


def test_large_placements_are_recognised() -> None:
    assert not is_large(definition())
    assert is_large(definition(items=MANY))


def test_they_are_the_same_as_here(tmp_path: Path) -> None:
    async def test(worker: Worker, clock: Clock) -> None:
        for _ in range(20):
            decision = await worker.decide("large")
            await worker.report(decision.id, Outcome("clicked", decision.items[0]))
        await settled(worker, clock)
        here = await worker.estimates("large")
        assert json.loads(await worker.written_estimates("large")) == here
        overview = json.loads((await worker.dashboard.overview("large")).content)
        assert overview["item_count"] == len(MANY)
        assert [slot["item"] for slot in overview["best_list"]] == here["best_list"]
        wanted = MANY[-1]
        assert (await worker.dashboard.items("large", wanted.upper()))["items"][0]["id"] == wanted
        with pytest.raises(InvalidInput, match="device"):
            await worker.written_estimates("large", ["device:mobile"])
        # a small one needs no process
        assert json.loads(await worker.written_estimates("small")) == await worker.estimates("small")

    drive(tmp_path, test)


@pytest.mark.usefixtures("forked")
def test_counts_fade_there_by_the_same_clock(tmp_path: Path) -> None:
    async def test(worker: Worker, clock: Clock) -> None:
        await worker.put("large", definition(items=MANY, half_life=1.0))
        for _ in range(20):
            decision = await worker.decide("large")
            await worker.report(decision.id, Outcome("clicked", decision.items[0]))
        await settled(worker, clock)
        before = json.loads(await worker.written_estimates("large"))
        assert before == await worker.estimates("large")
        clock.now += 5 * HOUR
        after = json.loads(await worker.written_estimates("large"))
        assert after == await worker.estimates("large")
        assert after["items"] != before["items"]
        assert after["tally"] == before["tally"]

    drive(tmp_path, test)


@pytest.mark.usefixtures("forked")
def test_hourly_history_comes_from_the_process_too(tmp_path: Path) -> None:
    async def test(worker: Worker, clock: Clock) -> None:
        hour = hour_of(clock.now)
        for name in ("large", "small"):
            await worker.decide(name)
        await settled(worker, clock)
        await worker.background.store_hourly_summaries(hour)
        assert child()
        kept = await worker._placements.read(
            lambda store: [store.lacks_summary(name, hour) for name in ("large", "small")]
        )
        assert kept == [False, False]

    drive(tmp_path, test)


@pytest.mark.usefixtures("forked")
def test_estimates_block_no_request_and_equal_requests_share_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = []
    run = RemoteEstimator._run

    def counted(estimator: RemoteEstimator, *arguments: Any) -> Any:
        runs.append(arguments)
        return run(estimator, *arguments)

    async def test(worker: Worker, _: Clock) -> None:
        await worker.written_estimates("large")
        monkeypatch.setattr(RemoteEstimator, "_run", counted)
        process = child()
        os.kill(process, signal.SIGSTOP)
        try:
            asked = [asyncio.ensure_future(worker.written_estimates("large")) for _ in range(5)]
            await asyncio.sleep(0.1)
            # one that does not wait any longer takes nothing from the others
            asked[0].cancel()
            for _number in range(20):
                decision = await worker.decide("small", BOTH)
                await worker.decide("large")
                assert (await worker.report(decision.id, Outcome("no_click"))).verdict == "recorded"
                await worker.estimates("small")
            assert not any(task.done() for task in asked[1:])
        finally:
            os.kill(process, signal.SIGCONT)
        found = await asyncio.gather(*asked[1:])
        assert len({*found}) == 1
        assert len(runs) == 1

    drive(tmp_path, test)


@pytest.mark.usefixtures("forked")
def test_a_killed_process_is_reported_and_restarted(tmp_path: Path) -> None:
    async def test(worker: Worker, _: Clock) -> None:
        first = json.loads(await worker.written_estimates("large"))
        process = child()
        os.kill(process, signal.SIGSTOP)
        asked = asyncio.ensure_future(worker.written_estimates("large"))
        await asyncio.sleep(0.1)
        os.kill(process, signal.SIGKILL)
        with pytest.raises(StoreUnavailable, match="killed"):
            await asked
        again: EstimatesDocument = json.loads(await worker.written_estimates("large"))
        assert again == first
        assert child() != process

    drive(tmp_path, test)


@pytest.mark.usefixtures("forked")
def test_it_ends_when_there_is_nothing_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate_service, "IDLE_SECONDS", 0.1)

    async def test(worker: Worker, _: Clock) -> None:
        await worker.written_estimates("large")
        process = child()
        await asyncio.to_thread(wait_for, lambda: not is_running(process), "the process to end")
        await worker.written_estimates("large")

    drive(tmp_path, test)


@pytest.mark.usefixtures("forked")
def test_stopping_does_not_wait_for_it(tmp_path: Path) -> None:
    async def test(worker: Worker, _: Clock) -> None:
        await worker.written_estimates("large")
        # so that it cannot be done before that
        processes.append(child())
        os.kill(processes[0], signal.SIGSTOP)
        asked.append(asyncio.ensure_future(worker.written_estimates("large")))
        await asyncio.sleep(0)

    asked: list[asyncio.Future[bytes]] = []
    processes: list[int] = []
    try:
        drive(tmp_path, test)
    finally:
        # the service may have ended it already
        with suppress(ProcessLookupError):
            os.kill(processes[0], signal.SIGCONT)
    assert asked[0].cancelled() or asked[0].exception() is not None


def is_running(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
