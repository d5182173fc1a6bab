"""A placement with a half-life learns from counts that weigh less the older they are, and publishes all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from slotwise.core.types import FloatArray
from slotwise.service.learning.decay import Decay, DecayedCounts, RecentCounts
from slotwise.service.learning.learner_factory import learner_of
from slotwise.service.learning.period_counts import PeriodCounts
from slotwise.service.runtime import Worker
from slotwise.service.schemas.decision_request import DecisionRequest
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.storage import open_store
from slotwise.service.storage.count_rows import CountPeriod, PeriodRow, TallyRow
from slotwise.service.storage.decision_types import DAY, HOUR, Outcome, hour_of
from slotwise.service.storage.placement_transfer import PlacementExport
from tests.service.serving import NOON, Clock
from tests.waiting import FOR_EVER

HALF_LIFE = 6.0
NOW = hour_of(NOON)


def definition(**changes: Any) -> PlacementDefinition:
    return PlacementDefinition.model_validate({"slots": 1, "items": ["a", "b"], "window_seconds": 60.0, **changes})


def fading(**changes: Any) -> PlacementDefinition:
    return definition(half_life=HALF_LIFE, **changes)


def row(period: CountPeriod, item: str, clicks: int, passes: int) -> PeriodRow:
    return PeriodRow(period, "", "learned", 0, item, clicks, passes, clicks + passes)


def carried(name: str, wanted: PlacementDefinition, rows: list[PeriodRow]) -> PlacementExport:
    """A placement of which that was counted."""
    tally: dict[str, TallyRow] = {}
    for one in rows:
        before = tally.get(one.item, TallyRow(0, one.item))
        tally[one.item] = TallyRow(
            0, one.item, before.clicks + one.clicks, before.passes + one.passes, before.shows + one.shows
        )
    return PlacementExport(name, wanted.text(), tally=list(tally.values()), periods=rows)


def run(path: Path, clock: Clock, test: Callable[[Worker], Awaitable[None]], *first: PlacementExport) -> None:
    url = f"sqlite:///{path}/store.db"
    if first:
        store = open_store(url)
        for placement in first:
            store.carry_in(placement)
        store.close()

    async def work() -> None:
        async with Worker(url, clock=clock, write_seconds=FOR_EVER) as worker:
            await test(worker)

    asyncio.run(work())


def learned(worker: Worker, name: str = "home") -> tuple[FloatArray, FloatArray]:
    """Clicks and passes of the first slot that its learner has absorbed."""
    tally = next(known for known in worker.placements() if known.name == name).learner.tally()
    return tally.clicks[0].astype(float), tally.passes[0].astype(float)


async def visits(worker: Worker, outcomes: Mapping[str, tuple[int, int]], name: str = "home") -> None:
    """Clicks and no-clicks of decisions that are issued now, by the item that they show."""
    for item, (clicks, passes) in outcomes.items():
        for number in range(clicks + passes):
            decision = await worker.decide(name, DecisionRequest(pin={item: 1}))
            await worker.report(decision.id, Outcome("clicked", item) if number < clicks else Outcome("no_click"))


async def counted(worker: Worker, clock: Clock, hours: float) -> None:
    """Let everything be counted, and be seen so many hours later."""
    clock.now += 60.0
    await worker.background.finalise()
    await worker.refresh()
    clock.now += hours * HOUR - 60.0
    await worker.refresh()


def weight(hours: float) -> float:
    return float(0.5 ** (hours / HALF_LIFE))


def test_a_period_weighs_by_the_age_of_its_middle() -> None:
    def weighs(half_life: float | None, *period: int) -> float:
        counted = PeriodCounts.of([row(CountPeriod(*period), "a", 1, 1)])
        return float(Decay(half_life, NOW).weights(counted)[0])

    assert weighs(HALF_LIFE, NOW) == 1.0
    assert weighs(HALF_LIFE, NOW - 6 * HOUR) == 0.5
    assert weighs(HALF_LIFE, NOW - 29 * HOUR, 24) == weight(17.5)
    assert weighs(HALF_LIFE, NOW - 12 * HOUR, 0) == 0.25
    # a clock that was put back makes nothing weigh more than it was
    assert weighs(HALF_LIFE, NOW + 6 * HOUR) == 1.0
    assert weighs(None, 0) == 1.0


def test_a_learner_follows_the_periods_as_they_are_weighed_by_hand(tmp_path: Path) -> None:
    clock = Clock()

    async def test(worker: Worker) -> None:
        await worker.put("home", fading())
        await visits(worker, {"a": (2, 3), "b": (0, 4)})
        await counted(worker, clock, 3)
        np.testing.assert_array_equal(learned(worker), weight(3) * np.array([[2, 0], [3, 4]]))
        await visits(worker, {"a": (0, 2), "b": (1, 0)})
        await counted(worker, clock, 0.5)
        # within the hour what is new is added
        expected = weight(3) * np.array([[2, 0], [3, 4]]) + np.array([[0, 1], [2, 0]])
        np.testing.assert_allclose(learned(worker), expected, rtol=1e-14)
        await visits(worker, {"b": (1, 1)})
        await counted(worker, clock, 0.25)
        expected += np.array([[0, 1], [0, 1]])
        np.testing.assert_allclose(learned(worker), expected, rtol=1e-14)
        clock.now += 9.25 * HOUR
        await worker.refresh()
        expected = weight(13) * np.array([[2, 0], [3, 4]]) + weight(10) * np.array([[0, 2], [2, 1]])
        np.testing.assert_allclose(learned(worker), expected, rtol=1e-14)

    run(tmp_path, clock, test)


def test_an_outcome_counted_later_is_weighted_by_the_hour_of_its_decision(tmp_path: Path) -> None:
    clock = Clock()
    clock.now = NOW + HOUR - 30.0

    async def test(worker: Worker) -> None:
        await worker.put("home", fading())
        await visits(worker, {"a": (1, 0)})
        await counted(worker, clock, 0.1)
        np.testing.assert_array_equal(learned(worker), [[weight(1), 0], [0, 0]])
        # the worker knows of the hour before, and one more is counted for it
        await visits(worker, {"b": (0, 1)})
        await counted(worker, clock, 0.1)
        np.testing.assert_array_equal(learned(worker), [[weight(1), 0], [0, 1]])

    run(tmp_path, clock, test)


def test_a_restart_gives_the_same(tmp_path: Path) -> None:
    clock = Clock()
    before: dict[str, Any] = {}

    async def fill(worker: Worker) -> None:
        await worker.put("home", fading())
        await visits(worker, {"a": (2, 3), "b": (1, 4)})
        await counted(worker, clock, 5)
        await visits(worker, {"a": (1, 1)})
        await counted(worker, clock, 0.5)
        before.update(tally=learned(worker), estimates=await worker.estimates("home"))

    async def look(worker: Worker) -> None:
        np.testing.assert_allclose(learned(worker), before["tally"], rtol=1e-14)
        assert await worker.estimates("home") == before["estimates"]

    run(tmp_path, clock, fill)
    run(tmp_path, clock, look)


def test_hours_that_are_merged_weigh_as_their_day(tmp_path: Path) -> None:
    clock = Clock()

    async def test(worker: Worker) -> None:
        await worker.put("home", fading())
        await visits(worker, {"a": (1, 2)})
        await counted(worker, clock, 30)
        store = open_store(f"sqlite:///{tmp_path}/store.db")
        assert store.merge_hours(clock.now, 10) == 1
        store.close()
        await worker.refresh()
        day = NOW // DAY * DAY
        hours = (hour_of(clock.now) - day) / HOUR - 11.5
        np.testing.assert_allclose(learned(worker), weight(hours) * np.array([[1, 0], [2, 0]]), rtol=1e-14)

    run(tmp_path, clock, test)


REVERSED = [
    *(row(CountPeriod(NOW - hours * HOUR), "a", 30, 70) for hours in range(60, 20, -1)),
    *(row(CountPeriod(NOW - hours * HOUR), "b", 10, 90) for hours in range(60, 20, -1)),
    *(row(CountPeriod(NOW - hours * HOUR), "a", 5, 95) for hours in range(20, 0, -1)),
    *(row(CountPeriod(NOW - hours * HOUR), "b", 20, 80) for hours in range(20, 0, -1)),
]


def test_after_a_reversal_the_best_list_is_the_new_one_where_counts_fade(tmp_path: Path) -> None:
    clock = Clock()
    clock.now = NOW

    async def test(worker: Worker) -> None:
        for name, best, half_life in (("fades", "b", HALF_LIFE), ("stays", "a", None)):
            found = await worker.estimates(name)
            assert (found["best_list"], found["half_life"]) == ([best], half_life)
            # what is shown is what is believed
            shown = [(await worker.decide(name)).items for _ in range(20)]
            assert shown == [(best,)] * 20
            # what was counted is published as it is
            assert found["tally"] == {"items": ["a", "b"], "clicks": [[1300, 800]], "passes": [[4700, 5200]]}
            assert [(item["clicks"], item["shown"]) for item in found["items"]] == [(1300, 6000), (800, 6000)]

    run(
        tmp_path,
        clock,
        test,
        carried("fades", fading(exploring=False), REVERSED),
        carried("stays", definition(exploring=False), REVERSED),
    )


def test_estimates_fade_though_nothing_is_counted(tmp_path: Path) -> None:
    clock = Clock()
    clock.now = NOW

    async def test(worker: Worker) -> None:
        before = (await worker.estimates("home"))["items"][0]
        assert (await worker.estimates("home"))["items"][0] == before
        clock.now += 10 * HALF_LIFE * HOUR
        after = (await worker.estimates("home"))["items"][0]
        assert after["high"] / after["low"] > 2.0 * before["high"] / before["low"]
        assert after["clicks"] == before["clicks"]

    run(tmp_path, clock, test, carried("home", fading(), REVERSED))


def test_segments_fade_each_for_itself() -> None:
    told_apart = fading(segments={"device": ["mobile"]})
    rows = [
        PeriodRow(CountPeriod(NOW - 6 * HOUR), '{"device":"mobile"}', "learned", 0, "a", 2, 4, 6),
        PeriodRow(CountPeriod(NOW - 12 * HOUR), "", "holdout", 0, "b", 1, 2, 3),
        # slots and items that are no more
        PeriodRow(CountPeriod(NOW), "", "learned", 7, "a", 1, 1, 1),
        PeriodRow(CountPeriod(NOW), "", "learned", 0, "gone", 1, 1, 1),
    ]
    learner = learner_of(told_apart, decayed=DecayedCounts(PeriodCounts.of(rows), Decay(HALF_LIFE, NOW)))
    assert learner.tally(1).clicks.tolist() == [[1.0, 0.0]]
    assert learner.tally(0).passes.tolist() == [[0.0, 0.5]]


@pytest.mark.parametrize(
    ("changed", "added"),
    [
        (row(CountPeriod(NOW), "a", 3, 5), (1, 0)),
        (row(CountPeriod(NOW), "b", 1, 1), (1, 1)),
        (row(CountPeriod(NOW - 2 * HOUR), "a", 1, 1), None),
        (row(CountPeriod(NOW, 24), "a", 3, 5), None),
        (row(CountPeriod(NOW), "a", 1, 5), None),
    ],
    ids=["more", "first", "of an old period", "merged", "less"],
)
def test_additions_to_recent_periods(changed: PeriodRow, added: tuple[int, int] | None) -> None:
    recent = RecentCounts.of([row(CountPeriod(NOW), "a", 2, 5)], Decay(HALF_LIFE, NOW), longest_window=60.0)
    found = recent.added([changed])
    assert (None if found is None else [(one.clicks, one.passes) for one in found]) == (added and [added])
    recent.keep([changed])
    if added is not None:
        assert [(one.clicks, one.passes) for one in recent.added([changed]) or []] == [(0, 0)]
