"""Has something changed: what did is found, on its day, and chance is not taken for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from slotwise.estimators.diagnostics import DRIFT_LEVEL
from slotwise.service.learning.period_counts import PeriodCounts
from slotwise.service.reports.drift_view import RECENT_DAYS, DriftReport, find_drift
from slotwise.service.storage.count_rows import CountPeriod, PeriodRow
from slotwise.service.storage.decision_types import DAY, HOUR

#: the beginning of a day
TODAY = 20_000 * DAY
NOW = TODAY + 5.5 * HOUR
BIAS = [1.0, 0.5]
ALPHA = {"a": 0.3, "b": 0.2, "c": 0.1}


def rows(
    rng: np.random.Generator, days: int = 35, changed: int = 0, times: float = 1.0, items: str = "a", passes: int = 200
) -> Iterator[PeriodRow]:
    """Days of counts up to today, in which some items are `times` as attractive for the last `changed` days."""
    for day in range(days):
        period = CountPeriod(TODAY - (days - 1 - day) * DAY, 24)
        for slot, bias in enumerate(BIAS):
            for item, alpha in ALPHA.items():
                gamma = bias * alpha * (times if item in items and day >= days - changed else 1.0)
                clicks = int(rng.negative_binomial(passes, 1.0 / (1.0 + gamma)))
                yield PeriodRow(period, "", "learned", slot, item, clicks, passes, passes + clicks)


def drifts(found: Iterable[PeriodRow]) -> DriftReport:
    return find_drift(PeriodCounts.of(found), BIAS, NOW, ALPHA)


def test_a_change_is_found_with_its_day_and_its_item() -> None:
    found = drifts(rows(np.random.default_rng(1), changed=3, times=2.0))
    assert found.clearest is not None
    assert found.clearest.item == "a"
    assert found.clearest.since == TODAY - 2 * DAY
    assert found.clearest.after > 1.5 * found.clearest.before
    assert found.clearest.in_words() == "visitors click more on “a”"


def test_a_change_of_all_items_is_reported_once() -> None:
    found = drifts(rows(np.random.default_rng(2), changed=4, times=0.4, items="abc"))
    assert found.clearest is not None
    assert found.clearest.in_words() == "visitors click less on most items"


def test_slots_that_swap_their_visibility_are_named_and_no_item() -> None:
    """Most visitors see a in the first slot and b in the second, as after learning."""
    rng, found = np.random.default_rng(4), list[PeriodRow]()
    for day in range(35):
        period, bias = CountPeriod(TODAY - (34 - day) * DAY, 24), BIAS if day < 32 else BIAS[::-1]
        for slot, usual in enumerate("ab"):
            for item, alpha in ALPHA.items():
                passes = 400 if item == usual else 40
                clicks = int(rng.negative_binomial(passes, 1.0 / (1.0 + bias[slot] * alpha)))
                found.append(PeriodRow(period, "", "learned", slot, item, clicks, passes, passes + clicks))
    clearest = drifts(found).clearest
    assert clearest is not None
    assert clearest.in_words() in ("visitors click less in slot 1", "visitors click more in slot 2")
    assert clearest.since == TODAY - 2 * DAY


def test_chance_is_not_taken_for_a_change() -> None:
    # each run is wrong with a probability of at most 0.001: with 300 of them, more than 4 are with one of 2e-5
    wrong = 0
    for seed in range(300):
        found = drifts(rows(np.random.default_rng(seed)))
        assert found.comparisons == RECENT_DAYS * len(ALPHA)
        wrong += found.clearest is not None
    assert DRIFT_LEVEL == 0.001
    assert wrong <= 4


def test_other_lists_and_other_traffic_are_no_change() -> None:
    rng = np.random.default_rng(3)
    before = [row for row in rows(rng) if row.period.start < TODAY - 2 * DAY]
    # from here on there are ten times as many visitors, and a is only shown in the second slot
    after = [row for row in rows(rng, days=3, passes=2000) if not (row.item == "a" and row.slot == 0)]
    assert drifts([*before, *after]).clearest is None


def test_small_changes_are_not_worth_a_word() -> None:
    assert drifts(rows(np.random.default_rng(4), changed=4, times=1.1, passes=200_000)).clearest is None


def test_where_there_is_too_little_nothing_is_compared() -> None:
    assert drifts([]) == (None, 0)
    assert drifts(rows(np.random.default_rng(5), passes=1)).comparisons == 0
    # without a before, and without days
    assert drifts(rows(np.random.default_rng(6), days=1)).comparisons == 0
    old = [PeriodRow(CountPeriod(TODAY, 0), "", "", 0, "a", 1000, 1000, 2000)]
    assert drifts(old) == (None, 0)
