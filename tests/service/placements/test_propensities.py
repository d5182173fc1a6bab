from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from slotwise.service.decisions.decide import decide
from slotwise.service.placements.placement_registry import Placements
from slotwise.service.placements.placement_state import NO_CONDITIONS, Conditions
from slotwise.service.placements.propensities import MAX_LISTS, MAX_SPENT, Propensities
from slotwise.service.runtime import Worker
from slotwise.service.runtime.background_tasks import FILL_AT_ONCE
from slotwise.service.schemas.decision_request import DecisionRequest
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.storage import open_store
from slotwise.service.storage.decision_types import Outcome, Report
from tests.service.serving import NOON, Clock
from tests.statistical_assertions import assert_mean_is
from tests.waiting import FOR_EVER

ITEMS = ["a", "b", "c", "d", "e"]
#: of clicks: not so different that the others are soon not shown any more
RATES = dict(zip(ITEMS, (0.2, 0.18, 0.16, 0.14, 0.12), strict=True))


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/store.db"


def drive(store: str, test: Callable[[Worker, Clock], Awaitable[None]], **changes: Any) -> None:
    clock = Clock()
    home = PlacementDefinition.model_validate({"slots": 2, "items": ITEMS, "window_seconds": 60.0, **changes})

    async def run() -> None:
        async with Worker(store, clock=clock, placements={"home": home}, write_seconds=FOR_EVER) as worker:
            (await worker.placement("home")).learner.kernels.wait()
            await test(worker, clock)

    asyncio.run(run())


async def found(worker: Worker, decision: str) -> tuple[float, ...] | None:
    logged = await worker.logged(decision)
    assert logged is not None
    return logged.propensities


BELIEFS = 60
DECISIONS = 20
SHARE = 0.25


@pytest.mark.parametrize("wish", [DecisionRequest(), DecisionRequest(exclude=["a"], pin={"e": 2})])
def test_items_are_shown_as_often_as_their_propensities(store: str, wish: DecisionRequest) -> None:
    """Observed less predicted shares of slots and items, of many beliefs one after the other: z-tests over beliefs."""
    conditions = Conditions("", tuple(wish.exclude), tuple(wish.pin.items()))
    predicted, observed = np.zeros((2, BELIEFS, 2, len(ITEMS)))
    writing = open_store(store)
    home = {"slots": 2, "items": ITEMS, "window_seconds": 60.0, "holdout": SHARE}
    writing.put_placement("home", PlacementDefinition.model_validate(home).text())

    async def test() -> None:
        propensities = Propensities()
        placements = Placements(open_store(store), propensities)
        await placements.refresh()
        placement = placements.get("home")
        assert placement is not None
        placement.learner.kernels.wait()
        random.seed(4)
        placement.learner.rng, rng = np.random.default_rng(5), np.random.default_rng(6)
        given = placement.definition.control_list(wish.exclude, wish.pin)
        now = NOON
        for belief in range(BELIEFS):
            pending = placement.pending_propensities
            decisions = [decide(placement, wish, now) for _ in range(DECISIONS)]
            writing.write(decisions, [])
            for decision in decisions:
                clicked = next((item for item in decision.items if rng.random() < RATES[item]), None)
                outcome = Outcome("no_click") if clicked is None else Outcome("clicked", clicked)
                writing.write([], [Report(decision.id, outcome, now)])
            now += 60.0
            writing.finalise(now, DECISIONS)
            propensities.replenish()
            # the belief moves, and what was decided by the one before is settled first
            await placements.refresh()
            assert placement.pending_propensities is not pending
            drawn, found = pending.redrawn[conditions], dict(propensities.take())
            assert drawn is not None
            for (slot, item), lists in drawn.pairs.items():
                predicted[belief, slot, ITEMS.index(item)] += (1.0 - SHARE) * lists / drawn.lists
            for slot, item in enumerate(given):
                predicted[belief, slot, ITEMS.index(item)] += SHARE
            for decision in decisions:
                for slot, item in enumerate(decision.items):
                    observed[belief, slot, ITEMS.index(item)] += 1.0 / DECISIONS
                    # what is kept with the decision is that, but for its own list
                    said = predicted[belief, slot, ITEMS.index(item)]
                    assert found[decision.id][slot] == pytest.approx(said, abs=1.0 / MAX_LISTS)
        await placements.close()

    asyncio.run(test())
    writing.close()
    # what is all but never there says nothing; how much that is depends on how much the policy tries
    counts = predicted.mean(axis=0) * (1.0 - predicted.mean(axis=0)) * BELIEFS * DECISIONS > 10.0
    assert counts.sum() >= (3 if wish.pin else 8)
    assert_mean_is(0.0, (observed - predicted)[:, counts])


def test_where_nothing_is_known_every_item_is_as_likely_as_the_others(store: str) -> None:
    async def test(worker: Worker, _: Clock) -> None:
        decisions = [await worker.decide("home") for _ in range(50)]
        await worker.background.fill_propensities()
        for decision in decisions:
            propensities = await found(worker, decision.id)
            assert propensities is not None
            for slot, (item, propensity) in enumerate(zip(decision.items, propensities, strict=True)):
                given = item == ITEMS[slot]
                # of ten pairs, and the list itself may be counted too: none is further off but with that probability
                least, most = stats.binom.interval(1.0 - 1e-7, MAX_LISTS, 0.2)
                drawn = (propensity - 0.5 * given) / 0.5 * MAX_LISTS
                assert least - 1.0 <= drawn <= most + 1.0

    drive(store, test, holdout=0.5)


def test_they_are_there_after_a_stop(store: str) -> None:
    decided = []

    async def test(worker: Worker, _: Clock) -> None:
        decided.append(await worker.decide("home"))

    drive(store, test)
    opened = open_store(store)
    logged = opened.logged(decided[0].id)
    assert logged is not None
    assert logged.propensities is not None
    assert len(logged.propensities) == 2
    opened.close()


def test_once_they_are_drawn_they_are_written_with_the_decision(store: str) -> None:
    async def test(worker: Worker, _: Clock) -> None:
        first = await worker.decide("home")
        assert first.propensities is None
        await worker.background.fill_propensities()
        assert await found(worker, first.id) is not None
        placement = await worker.placement("home")
        drawn = placement.pending_propensities.redrawn[NO_CONDITIONS]
        assert drawn is not None
        for decision in [await worker.decide("home") for __ in range(20)]:
            assert decision.propensities == drawn.propensities(decision.items, decision.arm)
            assert await found(worker, decision.id) == decision.propensities
        # under conditions of which nothing was drawn they are not known yet
        assert (await worker.decide("home", DecisionRequest(exclude=["a"]))).propensities is None

    drive(store, test, holdout=0.3)


def test_more_than_fit_into_one_transaction_are_all_written(store: str) -> None:
    async def test(worker: Worker, _: Clock) -> None:
        decisions = await asyncio.gather(*(worker.decide("home") for _ in range(2 * FILL_AT_ONCE + 1)))
        await worker.background.fill_propensities()
        for decision in decisions:
            assert await found(worker, decision.id) is not None

    drive(store, test)


def test_a_decision_that_is_noted_while_lists_are_drawn_is_settled_before_the_belief_moves(store: str) -> None:
    async def test(worker: Worker, clock: Clock) -> None:
        first = await worker.decide("home")
        clock.now += 60.0
        await worker.background.finalise()
        looking = asyncio.create_task(worker.refresh())
        others = []
        while not looking.done():
            others.append(await worker.decide("home"))
        await worker.background.fill_propensities()
        for decision in (first, *others):
            assert await found(worker, decision.id) is not None

    drive(store, test)


def test_items_shown_for_certain_have_propensity_one_except_for_the_holdout(store: str) -> None:
    async def test(worker: Worker, _: Clock) -> None:
        home = {"slots": 2, "items": ITEMS, "window_seconds": 60.0}
        await worker.put("home", PlacementDefinition.model_validate({**home, "mode": "shadow"}))
        shadow = await worker.decide("home", DecisionRequest(exclude=["a"]))
        await worker.put("home", PlacementDefinition.model_validate({**home, "exploring": False, "holdout": 0.25}))
        # 2^-49: there is none of the holdout
        best_lists = [await worker.decide("home", DecisionRequest(exclude=["a"], pin={"e": 1})) for _ in range(120)]
        await worker.background.fill_propensities()
        assert await found(worker, shadow.id) == (1.0, 1.0)
        best = next(decision.items for decision in best_lists if decision.arm == "learned")
        for decision in best_lists:
            second = 0.75 * (decision.items[1] == best[1]) + 0.25 * (decision.items[1] == "b")
            assert await found(worker, decision.id) == (1.0, second)

    drive(store, test)


def test_a_list_shown_again_keeps_its_propensities(store: str) -> None:
    async def test(worker: Worker, clock: Clock) -> None:
        # for at least half of those who see the first list again another one is drawn, at once, before anybody can look
        # for propensities: not for none of forty
        first, *again = await asyncio.gather(
            *(worker.decide("home", DecisionRequest(visitor="somebody")) for _ in range(41))
        )
        await worker.background.fill_propensities()
        drawn = await found(worker, first.id)
        assert drawn is not None
        # the belief moves, another list is drawn with propensities that are known, and the old one is shown
        clock.now += 60.0
        await worker.background.finalise()
        await worker.refresh()
        await worker.decide("home")
        await worker.background.fill_propensities()
        later = await worker.decide("home", DecisionRequest(visitor="somebody"))
        # of two items instead of five, what is drawn has propensities that are others by far
        of_two = await worker.decide("home", DecisionRequest(visitor="somebody", exclude=[*{*ITEMS} - {*first.items}]))
        await worker.background.fill_propensities()
        for decision in (*again, later, of_two):
            assert decision.items == first.items
            assert await found(worker, decision.id) == drawn
        # one that cannot be shown again is replaced, and what replaces it is drawn anew
        left = [item for item in ITEMS if item not in first.items][:2]
        other = await worker.decide("home", DecisionRequest(visitor="somebody", exclude=[*{*ITEMS} - {*left}]))
        await worker.background.fill_propensities()
        own = await found(worker, other.id)
        # one of two in each slot, and of five before: half of 500 lists, beside a fifth, are no accident
        assert own not in (None, drawn)
        assert await found(worker, (await worker.decide("home", DecisionRequest(visitor="somebody"))).id) == own

    drive(store, test, sticky_seconds=600.0, holdout=0.5)


def test_they_are_null_where_there_are_too_many_items(store: str) -> None:
    async def test(worker: Worker, _: Clock) -> None:
        decision = await worker.decide("home")
        await worker.background.fill_propensities()
        assert await found(worker, decision.id) is None

    drive(store, test, items=[f"item {number}" for number in range(MAX_SPENT // 100)])


def test_more_conditions_than_can_be_afforded_are_null(store: str) -> None:
    writing = open_store(store)
    home = PlacementDefinition.model_validate({"slots": 2, "items": ITEMS, "window_seconds": 60.0})
    writing.put_placement("home", home.text())
    writing.close()
    pairs = [(item, other) for item in ITEMS for other in ITEMS if item != other]

    async def test() -> None:
        looked = Counter[str]()
        propensities = Propensities(lambda found, count: looked.update({found: count}))
        placements = Placements(open_store(store))
        await placements.refresh()
        placement = placements.get("home")
        assert placement is not None
        placement.learner.kernels.wait()
        decisions = [decide(placement, DecisionRequest(pin={item: 1, other: 2}), NOON) for item, other in pairs]
        await propensities.settle(placement)
        first = propensities.take()
        # seven times 500 lists, and once what was left
        assert first == [(decision.id, (1.0, 1.0)) for decision in decisions[:8]]
        assert looked == {"known": 8, "unknown": 12}
        # of the same belief: nothing more has to be drawn for these, and what is known of them is known at once
        again = [decide(placement, DecisionRequest(pin={item: 1, other: 2}), NOON) for item, other in pairs]
        assert [decision.propensities for decision in again] == [(1.0, 1.0)] * 8 + [None] * 12
        await propensities.settle(placement)
        assert propensities.take() == []
        assert looked == {"known": 16, "unknown": 24}
        await placements.close()

    asyncio.run(test())
