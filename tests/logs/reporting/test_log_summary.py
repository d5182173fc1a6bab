"""The sentences of a report: one answer, one place for cautions, and the same words for one placement and several."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from slotwise import EMPTY, Rankings, logs
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.number_format import percent
from slotwise.logs.reporting.log_summary import LogSummary
from tests.logs.synthetic_impressions import rankings

ODDS = np.outer([1.0, 0.5, 0.3], [0.5, 0.1, 0.3, 0.2])
FIXED = Rankings([[0, 1, 2]], [[30, 20, 10]], [60], items=4)


@pytest.fixture(scope="module")
def every() -> LogSummary:
    rng = np.random.default_rng(4)
    fits = [Fit.of_rankings(rankings(ODDS, size, rng), placement=name) for name, size in (("b", 500), ("a", 4_000))]
    return LogSummary.of([*fits, Fit.of_rankings(FIXED, placement="fixed")])


@pytest.fixture(scope="module")
def single() -> LogSummary:
    ids = [f"item {number}" for number in range(45)]
    odds = np.outer([1.0, 0.5, 0.3], np.geomspace(0.05, 0.8, 45))
    return LogSummary.of([Fit.of_rankings(rankings(odds, 5_000, np.random.default_rng(1)), item_ids=ids)])


def answers(summary: LogSummary) -> dict[str, str]:
    return {line.question: line.answer for line in [*summary.cautions(), *summary.findings()]}


def test_the_answer_comes_first(single: LogSummary) -> None:
    words = single.in_words()
    assert re.fullmatch(
        r"Show item 4\d, item 4\d and item 4\d, in this order\. A click is expected in [\d.]+ % of impressions "
        r"\(95 % interval [\d.]+ % to [\d.]+ %\), \d+ more per 1,000 than the [\d.]+ % now\.",
        words[0],
    )
    assert words[1].startswith("5,000 impressions of 3 slots and 45 items; ")
    said = answers(single)
    assert list(said)[:2] == ["Does the model fit?", "Is anything left out or guessed?"]
    assert said["Does the model fit?"].startswith("Yes")
    assert re.fullmatch(
        r"Of the clicks that an item gets in slot 1, the same item gets [0-9.]+ % in slot 2 and [0-9.]+ % in slot 3\.",
        said["How much is each slot worth?"],
    )


def test_the_largest_come_first_and_a_guess_is_called_one(every: LogSummary) -> None:
    assert [report.fit.placement for report in every.placements] == ["a", "b", "fixed"]
    assert [report.begins_with()[0] for report in every.placements] == ["1. 0", "1. 0", "guess:"]
    said = answers(every)
    assert said["Is a list recommended everywhere?"].startswith(
        "Not in 1 of 3 placements: the slots cannot be compared"
    )
    assert said["Does the model fit?"].startswith("Undecided: this log has too few clicks to show kinds of visitors ")


def test_the_gain_is_of_the_placements_with_a_recommendation(every: LogSummary) -> None:
    large, small, _ = every.placements
    counts = np.array([one.fit.impressions for one in (large, small)])
    hoped = counts @ [one.fit.best().rate.click_rate for one in (large, small)] / counts.sum()
    seen = counts @ [one.fit.click_rate for one in (large, small)] / counts.sum()
    answer = every.answer()
    assert answer.startswith(f"Show the lists below in 2 of 3 placements. A click is expected in {percent(hoped)} of ")
    assert answer.endswith(f" than the {percent(seen)} now.")


def test_no_gain_is_promised_where_nothing_is_recommended() -> None:
    summary = LogSummary.of([Fit.of_rankings(FIXED, placement=name) for name in "ab"])
    assert summary.answer().startswith(
        "Nothing is recommended in any of the 2 placements: the slots cannot be compared"
    )
    assert "expected" not in " ".join(summary.in_words())
    assert answers(summary)["Which items are underplaced?"] == "This log does not determine it."


def test_a_fixed_order_gets_no_recommendation() -> None:
    """Always the same list, with enough clicks to promise a gain from another one."""
    summary = LogSummary.of([Fit.of_rankings(Rankings([[0, 1]], [[300, 9_000]], [700], items=2))])
    assert summary.answer() == (
        "Nothing is recommended: the slots cannot be compared, as hardly any item was in several of them. Keep what "
        "you show, and let some items change places for a while."
    )
    assert "1,000" not in " ".join(summary.in_words()[:1] + summary.in_words()[2:])


def test_no_click_is_no_basis_for_a_recommendation() -> None:
    summary = LogSummary.of([Fit.of_rankings(Rankings([[0, 1], [1, 0]], [[0, 0], [0, 0]], [50, 50], items=2))])
    assert summary.answer() == "Nothing is recommended: no impression has a click."


def test_a_ratio_says_what_it_is_relative_to() -> None:
    """c is the best item, and in slot 3 nine times out of ten."""
    bias, alpha = np.array([1.0, 0.5, 0.25]), np.array([0.1, 0.2, 0.8, 0.05])
    shares = {(0, 1, 2): 9_000, (2, 0, 1): 1_000, (1, 0, 3): 2_000, (3, 1, 0): 2_000}
    lists, passes = np.array(list(shares)), np.array(list(shares.values()))
    clicks = np.round(passes[:, None] * bias * alpha[lists]).astype(int)
    fit = Fit.of_rankings(Rankings(lists, clicks, passes, items=4), item_ids="abcd")
    said = answers(LogSummary.of([fit]))["Which items are underplaced?"]
    assert re.match(
        r"c would get 2\.\d times as many clicks in slot 1 as in the slots where it was shown, mostly slot 3", said
    )


def test_everything_left_out_or_guessed_is_in_one_place(single: LogSummary) -> None:
    (fit,) = single.fits
    clean = single.cautions()[1]
    assert (clean.answer, clean.is_fine, list(clean.details)) == ("No impression is left out.", True, [])
    cleaning = {"rows": 15_030, "slots_from_0": 5_000, "repeated_items": 10, "null_slot": 0}
    tally = replace(fit.tally, impressions=5_010, cleaning=cleaning)
    line = LogSummary.of([replace(fit, tally=tally)]).cautions()[1]
    assert line.answer == "0.2 % of the impressions (10 of 5,010) are left out."
    assert not line.is_fine
    assert [detail.partition(" ")[0] for detail in line.details] == ["5,000", "10"]


def test_a_given_position_bias_is_not_reported_as_estimated() -> None:
    log = pa.table({"items": [["a", "b"], ["b", "a"]] * 40, "clicked": ["a", "b", None, "a"] * 20})
    question = "How much is each slot worth?"
    assert answers(LogSummary.of([logs.fit(log, position_bias=[1.0, 0.5])]))[question].startswith("As given: of the ")
    assert "As given" not in answers(LogSummary.of([logs.fit(log)]))[question]


def test_equal_slots_are_reported_as_equal() -> None:
    seen = rankings(np.outer(np.ones(2), [0.3, 0.4, 0.5]), 200_000, np.random.default_rng(3))
    said = answers(LogSummary.of([Fit.of_rankings(seen)]))
    assert said["How much is each slot worth?"] == "The slots are worth about the same."


@pytest.mark.parametrize("placements", ["a", "ab"])
def test_an_uplift_is_of_the_slots_that_impressions_fill(placements: str) -> None:
    """Items and slots are alike, and each impression fills one of two slots: nothing is to be gained."""
    shown = [[0, EMPTY], [1, EMPTY], [EMPTY, 0], [EMPTY, 1]]
    seen = Rankings(shown, [[100, 0], [100, 0], [0, 100], [0, 100]], [900] * 4, items=2)
    summary = LogSummary.of([Fit.of_rankings(seen, placement=name) for name in placements])
    assert re.search(
        r"A click is expected in 10\.0 % of impressions \(.*\), possibly no (more|less) than the 10\.0 % now\.",
        summary.answer(),
    )
    said = answers(summary)["Is the comparison like with like?"]
    assert said.startswith("Yes: ")
    # two odds of 1/9 make 18.2 %, less what the prior takes away
    assert bool(re.search(r"With every slot filled, 18\.[12] %", said)) == (len(placements) == 1)
