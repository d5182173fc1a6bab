"""The outcome of each rule for several clicks equals a fit under that rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from slotwise.logs import Columns, Fit, fit_placements
from slotwise.logs.counting.cleaning_rules import MULTI_CLICK
from slotwise.logs.fitting import multi_click_sensitivity
from slotwise.logs.reporting.log_summary import LogSummary
from slotwise.logs.reporting.multi_click_report import multi_click_sentences
from tests.logs.reference_counter import dirty_rows, table

PAGES = Columns(placement="page", order="turn")


def both_clicked(pages: int = 1) -> pa.Table:
    """Lists; every third is clicked twice, the lower item first."""
    rng = np.random.default_rng(3)
    rows = []
    for one in range(600 * pages):
        shown = rng.permutation(4)[:3]
        clicks = {0: [], 1: [0], 2: [1, 0]}[one % 3]
        rows += [(one % pages, one, slot + 1, f"i{item}", slot in clicks, -slot) for slot, item in enumerate(shown)]
    names = ("page", "impression", "slot", "item", "clicked", "turn")
    return pa.table({name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)})


@pytest.mark.parametrize("estimator", ["pooled", "scaling"])
@pytest.mark.parametrize("rule", MULTI_CLICK)
def test_each_answer_is_that_of_a_fit_under_the_rule(rule: Any, estimator: str) -> None:
    log = both_clicked(2)
    # "drop" leaves out a third of the log
    found = fit_placements(log, PAGES, multi_click=rule, estimator=estimator, each_rule=True, recommend="always")
    for other in MULTI_CLICK:
        wanted = fit_placements(log, PAGES, multi_click=other, estimator=estimator, recommend="always")
        for mine, theirs in zip(found, wanted, strict=True):
            assert mine.by_rule[other].items == theirs.best().items
            assert mine.by_rule[other].rate == theirs.best().rate
            np.testing.assert_array_equal(mine.by_rule[other].position_bias, theirs.estimate.position_bias)


def test_the_rate_of_the_rule_that_counts_is_the_one_that_is_recommended() -> None:
    (found,) = fit_placements(both_clicked(), Columns(order="turn"), each_rule=True)
    answer, *words = LogSummary.of([found]).in_words()
    rate = answer.partition("A click is expected in ")[2].partition(" of impressions")[0]
    assert f"by rule: first {rate};" in " ".join(words)


def test_a_rule_that_leaves_no_click_is_reported() -> None:
    log = both_clicked()
    single = np.array(log["impression"]) % 3 == 1
    log = log.set_column(4, "clicked", pa.array(np.array(log["clicked"]) & ~single))
    (found,) = fit_placements(log, Columns(order="turn"), each_rule=True)
    assert list(found.by_rule) == ["first", "last"]
    assert "drop leaves no click to count" in multi_click_sentences([found])[0]
    assert list(found.to_dict()["by_rule"]) == ["first", "last"]


def words_of(found: list[Fit]) -> str:
    (words,) = multi_click_sentences(found)
    return words


def test_several_placements_are_summarised_together(monkeypatch: pytest.MonkeyPatch) -> None:
    log = both_clicked(2)
    words = words_of(fit_placements(log, PAGES, each_rule=True))
    assert words.startswith("33.3 % of the impressions have clicks on several items")
    assert "Here the first click counts." in words
    assert "lists changed" in words or "for the same lists" in words
    assert "in the middle of the placements: first " in words
    # if the log is not read again, the sentence names a remedy
    monkeypatch.setattr(multi_click_sensitivity, "MAX_READ_AGAIN", 100)
    assert "again with --multi-click" in words_of(fit_placements(log, PAGES, each_rule=True))


def test_a_log_with_errors_can_be_fitted_again() -> None:
    found = fit_placements(table(dirty_rows(6)), PAGES, each_rule=True, recommend="always")
    assert all(found[0].tally.rule in one.by_rule for one in found)


def test_nothing_is_refitted_without_second_clicks() -> None:
    log = both_clicked()
    alone = np.array(log["impression"]) % 3 == 1
    log = log.set_column(4, "clicked", pa.array(np.array(log["clicked"]) & alone))
    (found,) = fit_placements(log, Columns(order="turn"), each_rule=True)
    assert not found.by_rule
    assert multi_click_sentences([found]) == []


def test_where_the_order_of_every_click_is_missing_nothing_is_compared() -> None:
    log = both_clicked()
    log = log.set_column(5, "turn", pa.nulls(len(log), pa.int64()))
    (found,) = fit_placements(log, Columns(order="turn"), each_rule=True)
    assert not found.by_rule
    assert "left out, as the order of their clicks is missing" in words_of([found])
    turns = zip(log["impression"].to_pylist(), both_clicked()["turn"].to_pylist(), strict=True)
    half = pa.array([turn if one % 2 else None for one, turn in turns])
    (found,) = fit_placements(log.set_column(5, "turn", half), Columns(order="turn"), each_rule=True)
    assert "Here the first click counts, and 100 with a click whose order is missing are left out." in words_of([found])
