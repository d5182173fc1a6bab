"""The life of a decision, without HTTP: a worker, a store, and a clock that tests move."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from slotwise.core.errors import InvalidInput, StoreUnavailable
from slotwise.service.decisions.outcome_tokens import ForgedToken, Signer
from slotwise.service.placements.placement_registry import UnknownPlacement
from slotwise.service.runtime import Worker
from slotwise.service.schemas.decision_request import DecisionRequest
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.storage import open_store
from slotwise.service.storage.decision_types import IssuedDecision, Outcome, Receipt, new_id
from tests.service.serving import Clock
from tests.waiting import FOR_EVER

BOTH = DecisionRequest(pin={"a": 1, "b": 2})
CLICK = Outcome("clicked", "b")
NO_CLICK = Outcome("no_click")
NOT_SHOWN = Outcome("not_shown")


def definition(**changes: Any) -> PlacementDefinition:
    return PlacementDefinition.model_validate({"slots": 2, "items": ["a", "b", "c"], "window_seconds": 60.0, **changes})


def drive(store: str, test: Callable[[Worker, Clock], Awaitable[None]], **changes: Any) -> None:
    """Run a test on a worker that has the placement `home`."""
    clock = Clock()

    async def run() -> None:
        async with Worker(
            store, clock=clock, placements={"home": definition(**changes)}, write_seconds=FOR_EVER
        ) as worker:
            await test(worker, clock)

    asyncio.run(run())


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/store.db"


async def settled(worker: Worker, clock: Clock, seconds: float = 60.0) -> None:
    """Let deadlines pass, and whatever is past its own be counted; the worker's own look may have come first."""
    clock.now += seconds
    await worker.background.finalise()


def test_every_decision_is_counted_once_at_its_deadline(store: str) -> None:
    async def test(worker: Worker, clock: Clock) -> None:
        decisions = [await worker.decide("home", BOTH) for _ in range(4)]
        for decision, outcome in zip(decisions, (CLICK, NO_CLICK, NOT_SHOWN), strict=False):
            assert (await worker.report(decision.id, outcome)).verdict == "recorded"
        clock.now += 59.9
        assert await worker.background.finalise() == 0
        before = await worker.estimates("home")
        assert before["decisions"]["pending"] == 4
        assert before["tally"]["clicks"] == before["tally"]["passes"] == [[0, 0, 0], [0, 0, 0]]
        await settled(worker, clock, 0.2)
        assert await worker.background.finalise() == 0
        found = await worker.estimates("home")
        assert found["tally"] == {
            "items": ["a", "b", "c"],
            "clicks": [[0, 0, 0], [0, 1, 0]],
            "passes": [[2, 0, 0], [0, 2, 0]],
        }
        assert found["decisions"] == {
            "issued": 4,
            "final": 4,
            "pending": 0,
            "clicked": 1,
            "no_click": 2,
            "not_shown": 1,
            "capped": 0,
            "late": 0,
            "several": 0,
            "value": 0.0,
            "reported": 0,
            "reported_until": None,
        }

    drive(store, test)


def test_the_first_outcome_stands_but_a_click_replaces_a_no_click(store: str) -> None:
    async def test(worker: Worker, clock: Clock) -> None:
        decision = await worker.decide("home", BOTH)
        verdicts = []
        for outcome in (NO_CLICK, NO_CLICK, NOT_SHOWN, CLICK, CLICK, Outcome("clicked", "a"), NO_CLICK):
            receipt = await worker.report(decision.id, outcome)
            verdicts.append(receipt.verdict)
        assert verdicts == ["recorded", "duplicate", "conflict", "recorded", "duplicate", "conflict", "conflict"]
        assert receipt.recorded == CLICK
        await settled(worker, clock)
        assert (await worker.estimates("home"))["decisions"]["clicked"] == 1

    drive(store, test)


def test_an_outcome_after_the_deadline_is_late_and_never_learned(store: str) -> None:
    async def test(worker: Worker, clock: Clock) -> None:
        decision = await worker.decide("home", BOTH)
        await settled(worker, clock)
        assert (await worker.report(decision.id, CLICK)).verdict == "late"
        assert (await worker.report_by_token(worker.token(decision), CLICK)).verdict == "late"
        found = await worker.estimates("home")
        assert found["decisions"]["late"] == found["decisions"]["no_click"] == 1
        assert found["tally"]["clicks"] == [[0, 0, 0], [0, 0, 0]]

    drive(store, test)


async def call(worker: Worker, work: Callable[[object], None]) -> None:
    await worker._writer.call(work)


def test_the_verdict_is_that_of_the_moment_an_outcome_arrived(store: str) -> None:
    async def test(worker: Worker, clock: Clock) -> None:
        clicked, unclicked = await worker.decide("home", BOTH), await worker.decide("home", BOTH)
        await worker.report(clicked.id, CLICK)
        began, arrived = threading.Event(), asyncio.Event()

        def slow(_: object) -> None:
            began.set()
            # the clock jumps past the deadline while the reports wait for their turn
            asyncio.run_coroutine_threadsafe(arrived.wait(), loop).result()
            clock.now += 61.0

        loop = asyncio.get_running_loop()
        # as tasks, so that both are handed to the thread that writes at once
        busy = [asyncio.ensure_future(act()) for act in (partial(call, worker, slow), worker.background.finalise)]
        assert await asyncio.to_thread(began.wait, FOR_EVER)
        ways: list[Callable[[IssuedDecision, Outcome], Awaitable[Receipt]]] = [
            lambda decision, outcome: worker.report(decision.id, outcome),
            lambda decision, outcome: worker.report_by_token(worker.token(decision), outcome),
        ]
        reports = [
            asyncio.ensure_future(way(decision, outcome))
            for way in ways
            for decision, outcome in ((clicked, NO_CLICK), (clicked, CLICK), (unclicked, CLICK))
        ]
        await asyncio.sleep(0)
        arrived.set()
        await busy[0]
        verdicts = [(await report).verdict for report in reports]
        assert verdicts == ["conflict", "duplicate", "recorded", "conflict", "duplicate", "duplicate"]
        await busy[1]
        await worker.background.finalise()
        assert (await worker.estimates("home"))["decisions"]["clicked"] == 2

    drive(store, test)


def test_a_report_on_a_final_decision_gets_the_recorded_verdict(store: str) -> None:
    # another worker has counted the decision, while an outcome that came in time waited here
    async def test(worker: Worker, clock: Clock) -> None:
        clicked, silent = await worker.decide("home", BOTH), await worker.decide("home", BOTH)
        await worker.report(clicked.id, CLICK)
        await settled(worker, clock)
        clock.now -= 30.0
        for decision, outcome, verdict in (
            (clicked, NO_CLICK, "conflict"),
            (clicked, CLICK, "duplicate"),
            (silent, CLICK, "late"),
        ):
            assert (await worker.report_by_token(worker.token(decision), outcome)).verdict == verdict
        clock.now += 30.0
        assert (await worker.report(clicked.id, CLICK)).verdict == "late"

    drive(store, test)


def test_unknown_decisions_and_unknown_items_have_their_own_verdicts(store: str) -> None:
    async def test(worker: Worker, _: Clock) -> None:
        decision = await worker.decide("home", BOTH)
        assert (await worker.report(decision.id, Outcome("clicked", "c"))).verdict == "unknown_item"
        for id in (new_id(0.0), "no id", ""):
            assert (await worker.report(id, CLICK)).verdict == "unknown_decision"

    drive(store, test)


def test_a_token_reports_its_own_decision(store: str) -> None:
    async def test(worker: Worker, clock: Clock) -> None:
        decision, other = await worker.decide("home", BOTH), await worker.decide("home", BOTH)
        token = worker.token(decision)
        assert (await worker.report_by_token(token, CLICK)).verdict == "recorded"
        assert (await worker.report(decision.id, CLICK)).verdict == "duplicate"
        assert (await worker.report(other.id, CLICK)).verdict == "recorded"
        with pytest.raises(ForgedToken):
            await worker.report_by_token(Signer(b"another").sign(decision.id, clock.now + 60.0), CLICK)
        # an expired token says nothing of its decision, however wrong the report is
        clock.now += 60.0
        assert (await worker.report_by_token(token, Outcome("clicked", "nobody"))).verdict == "late"

    drive(store, test)


def test_constraints_are_obeyed_and_the_holdout_shows_the_control_order(store: str) -> None:
    async def test(worker: Worker, _: Clock) -> None:
        assert (await worker.decide("home")).items == ("a", "b")
        assert (await worker.decide("home", DecisionRequest(exclude=["a"]))).items == ("b", "c")
        assert (await worker.decide("home", DecisionRequest(pin={"c": 1}))).items == ("c", "a")
        with pytest.raises(InvalidInput, match="nobody"):
            await worker.decide("home", DecisionRequest(pin={"nobody": 1}))

    drive(store, test, holdout=1.0)


def test_it_learns_from_final_outcomes(store: str) -> None:
    async def test(worker: Worker, clock: Clock) -> None:
        for _ in range(300):
            decision = await worker.decide("home")
            await worker.report(decision.id, Outcome("clicked", "c") if "c" in decision.items else NO_CLICK)
        await settled(worker, clock)
        await worker.refresh()
        # clicked whenever it was seen, a few hundred times: with all but no chance is it left out
        shown = [(await worker.decide("home")).items for _ in range(20)]
        assert all("c" in items for items in shown)
        found = await worker.estimates("home")
        assert max(found["items"], key=lambda item: item["attractiveness"])["id"] == "c"

    drive(store, test)


def test_placements_are_put_changed_and_followed_by_another_worker(store: str) -> None:
    async def test(worker: Worker, clock: Clock) -> None:
        with pytest.raises(UnknownPlacement, match="nobody"):
            await worker.decide("nobody")
        with pytest.raises(InvalidInput, match="control"):
            await worker.put("a\nb", definition())
        assert (await worker.put("home", definition()))[1] is False
        assert (await worker.put("second", definition()))[1] is True
        assert worker.names() == ["home", "second"]
        async with Worker(
            store, clock=clock, placements={"home": definition(items=["x", "y"])}, write_seconds=FOR_EVER
        ) as other:
            # put at the start where it is missing, and only there
            assert (await other.decide("home", BOTH)).items == ("a", "b")
            await other.put("home", definition(items=["b", "d"]))
            assert (await worker.newest("home")).definition == definition(items=["b", "d"])
            assert {*(await worker.decide("home")).items} == {"b", "d"}

    drive(store, test)


def test_decisions_from_before_a_restart_are_counted_after_it(store: str) -> None:
    issued: list[IssuedDecision] = []

    async def before(worker: Worker, _: Clock) -> None:
        issued.append(await worker.decide("home", BOTH))
        await worker.report(issued[0].id, CLICK)

    async def after(worker: Worker, clock: Clock) -> None:
        await settled(worker, clock)
        assert (await worker.report(issued[0].id, CLICK)).verdict == "late"
        assert (await worker.estimates("home"))["decisions"]["clicked"] == 1

    drive(store, before)
    drive(store, after)


def test_a_missing_store_is_reported(store: str, tmp_path: Path) -> None:
    async def test(worker: Worker, _: Clock) -> None:
        await worker.probe()
        (tmp_path / "store.db").unlink()
        with pytest.raises(StoreUnavailable, match="is gone"):
            await worker.decide("home")
        with pytest.raises(StoreUnavailable, match="is gone"):
            await worker.probe()

    drive(store, test)


def test_stopping_writes_every_accepted_outcome(store: str) -> None:
    asked: list[asyncio.Task[IssuedDecision]] = []

    async def test(worker: Worker, _: Clock) -> None:
        asked.extend(asyncio.create_task(worker.decide("home")) for _ in range(5))
        await asyncio.sleep(0)

    drive(store, test)
    opened = open_store(store)
    assert opened.counters()["home"]["learned"].issued == len({task.result().id for task in asked}) == 5
    opened.close()
