"""Several placements together: the summary agrees with their own reports."""

from __future__ import annotations

import numpy as np
import pytest

from slotwise import EMPTY, Rankings
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.number_format import percent
from slotwise.logs.reporting.log_summary import LogSummary, begins_with, row_of
from tests.logs.synthetic_impressions import rankings

ODDS = np.outer([1.0, 0.5, 0.3], [0.5, 0.1, 0.3, 0.2])
FIXED = Rankings([[0, 1, 2]], [[30, 20, 10]], [60], items=4)


@pytest.fixture(scope="module")
def every() -> LogSummary:
    rng = np.random.default_rng(4)
    fits = [Fit.of_rankings(rankings(ODDS, size, rng), placement=name) for name, size in (("b", 500), ("a", 4_000))]
    return LogSummary.of([*fits, Fit.of_rankings(FIXED, placement="fixed")])


def test_the_largest_come_first_and_a_guess_is_called_one(every: LogSummary) -> None:
    assert [row_of(one)[0] for one in every.placements] == ["a", "b", "fixed"]
    assert [begins_with(one)[0] for one in every.placements] == ["1. 0", "1. 0", "guess:"]
    assert [len(begins_with(one)) for one in every.placements] == [3, 3, 4]


def test_the_main_findings_come_first(every: LogSummary) -> None:
    words = every.in_words()
    assert words[0].startswith("4,620 impressions of 3 placements; ")
    assert words[1].startswith("How much is each slot worth? Of the clicks that an item gets in slot 1, the same item ")
    assert "% in slot 2 and " in words[1]
    assert words[2].startswith("Which items are underplaced?")
    assert "In 1 of 3 placements they are a guess" in words[3]
    assert words[4].endswith("in the 2 placements with a recommendation.")


def test_the_gain_is_of_the_placements_with_a_recommendation(every: LogSummary) -> None:
    large, small, _ = every.placements
    counts = np.array([one.fit.impressions for one in (large, small)])
    hoped = counts @ [one.best.rate.click_rate for one in (large, small)] / counts.sum()
    seen = counts @ [one.fit.click_rate for one in (large, small)] / counts.sum()
    (bring,) = (line for line in every.in_words() if line.startswith("Which click rate to expect?"))
    assert f"A click in {percent(hoped)} of impressions (" in bring
    assert f"where {percent(seen)} have one now" in bring


def test_no_gain_is_promised_where_nothing_is_recommended() -> None:
    fits = [Fit.of_rankings(FIXED, placement=name) for name in "ab"]
    words = " ".join(LogSummary.of(fits).in_words())
    assert "Which click rate to expect?" not in words
    assert "In 2 of 2 placements they are a guess" in words
    assert "Which items are underplaced? This log does not determine it." in words


def test_lists_are_compared_in_the_slots_that_impressions_fill() -> None:
    """Items and slots are alike, and each impression fills one of two slots: nothing is to be gained."""
    shown = [[0, EMPTY], [1, EMPTY], [EMPTY, 0], [EMPTY, 1]]
    seen = Rankings(shown, [[100, 0], [100, 0], [0, 100], [0, 100]], [900] * 4, items=2)
    words = " ".join(LogSummary.of([Fit.of_rankings(seen, placement=name) for name in "ab"]).in_words())
    assert "A click in 10.0 % of impressions (" in words
    assert "where 10.0 % have one now. Both are for impressions that fill as many slots as those of the log" in words
