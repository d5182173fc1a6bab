"""The half-life that is found: none where nothing changes, a short one after reversals."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from slotwise.service.learning import half_life_selection
from slotwise.service.learning.half_life_selection import GRID, decay_of, find_half_life
from slotwise.service.learning.period_counts import PeriodCounts
from slotwise.service.runtime import Worker
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.storage.count_rows import CountPeriod, PeriodRow
from slotwise.service.storage.decision_types import HOUR
from tests.service.learning.test_decay import NOW, carried, definition, run
from tests.service.serving import Clock

AUTO = definition(half_life="auto")
TASTES = (0.3, 0.1)
HOURS = 24 * 14


def drawn(seed: int, reversed_every: int | None, hours: int = HOURS, slots: int = 1) -> list[PeriodRow]:
    """Counts by hour of two items that are shown alike, up to now; tastes are reversed every so many hours."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(hours):
        turned = reversed_every is not None and number // reversed_every % 2
        for item, taste in zip("ab", TASTES[::-1] if turned else TASTES, strict=True):
            for slot in range(slots):
                odds = taste * 0.5**slot
                clicks = int(rng.binomial(100, odds / (1.0 + odds)))
                start = CountPeriod(NOW - (hours - number) * HOUR)
                rows.append(PeriodRow(start, "", "learned", slot, item, clicks, 100 - clicks, 100))
    return rows


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_forgotten_where_nothing_changes(seed: int) -> None:
    """Of 400 other seeds none found a half-life: each fails by chance with a probability below 1 %."""
    assert find_half_life(AUTO, PeriodCounts.of(drawn(seed, None))) is None


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("slots", [1, 2])
def test_a_short_one_is_found_after_reversals(seed: int, slots: int) -> None:
    wanted = AUTO if slots == 1 else PlacementDefinition.model_validate({**AUTO.model_dump(), "slots": 2})
    assert find_half_life(wanted, PeriodCounts.of(drawn(seed, 72, slots=slots))) == 24.0


def test_it_is_never_looked_for_where_decisions_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked, every = list[threading.Thread](), list[threading.Thread]()

    def noting(*arguments: Any) -> float | None:
        looked.append(threading.current_thread())
        every.append(threading.current_thread())
        return find_half_life(*arguments)

    monkeypatch.setattr(half_life_selection, "find_half_life", noting)
    clock = Clock()
    clock.now = NOW

    async def test(worker: Worker) -> None:
        assert looked, "read at the start"
        looked.clear()
        await worker.decide("home")
        await worker.estimates("home")
        assert looked, "estimated"
        # in another hour it is found anew
        clock.now += HOUR
        looked.clear()
        await worker.refresh()
        await worker.decide("home")
        assert looked, "read again"
        assert threading.current_thread() not in every

    run(tmp_path, clock, test, carried("home", AUTO, drawn(1, 72)))
    assert len(every) >= 3


def test_one_that_is_given_is_taken() -> None:
    wanted = definition(half_life=5.0)
    assert wanted.half_life is not None
    assert decay_of(wanted, wanted.half_life, PeriodCounts.of(drawn(1, 72)), NOW).half_life == 5.0


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [PeriodRow(CountPeriod(NOW - HOUR), "", "learned", 0, "a", 1, 2, 3)],
        [PeriodRow(CountPeriod(NOW - hours * HOUR), "", "learned", 0, "a", 0, 5, 5) for hours in range(9)],
        [PeriodRow(CountPeriod(NOW - hours * HOUR), "", "learned", 0, "a", 5, 0, 5) for hours in range(9)],
        [PeriodRow(CountPeriod(NOW - hours * HOUR), "", "learned", 4, "a", 5, 5, 5) for hours in range(9)],
    ],
    ids=["nothing", "one period", "no click", "no pass", "slots that are no more"],
)
def test_nothing_is_forgotten_where_nothing_is_known(rows: list[PeriodRow]) -> None:
    assert find_half_life(AUTO, PeriodCounts.of(rows)) is None


def test_it_does_not_change_within_an_hour() -> None:
    """What is still being counted is not looked at, however it turns out."""
    rows = drawn(1, 72)

    def found(rows: list[PeriodRow]) -> float | None:
        return decay_of(AUTO, "auto", PeriodCounts.of(rows), NOW).half_life

    late = [PeriodRow(CountPeriod(NOW - hours * HOUR), "", "learned", 0, "b", 10**6, 1, 10**6 + 1) for hours in (0, 1)]
    assert find_half_life(AUTO, PeriodCounts.of(drawn(1, None) + late)) is not None
    assert found(drawn(1, None, HOURS) + late[:1]) is None
    # the hour before ended less than a window ago
    assert found(drawn(1, None, HOURS) + late) is None
    assert found(rows + late) in GRID


def test_estimates_use_and_report_the_selected_half_life(tmp_path: Path) -> None:
    clock = Clock()
    clock.now = NOW
    # the last reversal was 60 hours ago, after 276 hours of one taste
    turned = drawn(2, 276)

    async def test(worker: Worker) -> None:
        changing, steady = await worker.estimates("changing"), await worker.estimates("steady")
        assert changing["half_life"] == 24.0
        assert steady["half_life"] is None
        assert (changing["best_list"], steady["best_list"]) == (["b"], ["a"])
        assert (await worker.estimates("never"))["half_life"] is None
        assert (await worker.estimates("never"))["best_list"] == ["a"]
        for name in ("changing", "never"):
            assert np.sum((await worker.estimates(name))["tally"]["clicks"]) == sum(row.clicks for row in turned)
        known = {placement.name: placement.recent for placement in worker.placements()}
        assert known["never"] is None
        assert {name: found and found.decay.half_life for name, found in known.items()} == {
            "changing": 24.0,
            "steady": None,
            "never": None,
        }

    placements = [
        carried("changing", AUTO, turned),
        carried("steady", AUTO, drawn(3, None)),
        carried("never", definition(), turned),
    ]
    run(tmp_path, clock, test, *placements)
    # a restart finds the same
    run(tmp_path, clock, test)
