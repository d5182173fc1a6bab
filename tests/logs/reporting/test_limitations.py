"""Limitations of a log, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise import EMPTY, Rankings
from slotwise.estimators.uncertainty.intervals import limit_without_clicks
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.reporting.limitations import limitations
from tests.logs.synthetic_impressions import rankings


def said(shown: Any, clicks: Any, passes: Any, items: int, **named: Any) -> str:
    return "\n".join(limitations(Fit.of_rankings(Rankings(shown, clicks, passes, items=items), **named)))


def test_a_log_in_which_all_items_are_comparable() -> None:
    seen = rankings(np.outer([1.0, 0.5], [0.3, 0.4, 0.5]), 2_000, np.random.default_rng(1))
    assert limitations(Fit.of_rankings(seen)) == []


def test_slots_that_share_no_item() -> None:
    """Items 0 and 1 were in slots 1 and 2, items 2 and 3 in slots 3 and 4."""
    shown = [[0, 1, 2, 3], [1, 0, 3, 2]]
    text = said(shown, [[9, 5, 4, 3], [7, 6, 3, 2]], [20, 20], 4)
    assert text.startswith("Slots 1–2 and slots 3–4 cannot be compared: no item was seen in both")
    assert "always in one slot" not in text


def test_slots_that_clicks_tie_in_one_direction_only() -> None:
    """The one item that was in both slots was clicked in one and not in the other: a limit, not a comparison."""
    text = said([[0, 1], [1, 2]], [[9, 5], [0, 6]], [20, 20], 3)
    assert "Slot 1 and slot 2 cannot be compared" in text
    assert "2 of 3 items were always in one slot" in text


def test_an_item_without_clicks_has_a_limit() -> None:
    shown, clicks, passes = [[0, 1], [1, 0], [2, 0], [0, 2]], [[30, 9], [25, 8], [0, 9], [31, 0]], [50, 50, 60, 60]
    text = said(shown, clicks, passes, 3, item_ids=["tea", "coffee", "soap"])
    fit = Fit.of_rankings(Rankings(shown, clicks, passes, items=3))
    limit = fit.estimate.intervals().attractiveness.high[2]
    # the prior has a part in it, as the items are alike; without one, silence alone sets it
    assert limit < 3 * limit_without_clicks(fit.estimate.position_bias, np.array([[60.0], [60.0]]), 0.95)[0]
    assert f"Item soap was shown 160 times and never clicked: its attractiveness is below {limit:.2g}." in text


def test_lists_are_short() -> None:
    shown = [[item] for item in range(50)]
    clicks = [[5]] + [[0]] * 49
    text = said(shown, clicks, [10 + item for item in range(50)], 50)
    assert "49 items were shown and never clicked" in text
    assert "49 (shown 59 times, so below" in text
    assert "and 46 more." in text


def test_an_item_that_was_always_clicked() -> None:
    text = said([[0, 1], [1, 0], [2, 0]], [[9, 5], [7, 4], [2, 0]], [20, 20, 0], 3)
    assert "One item was clicked, and never left without a click: the log sets no upper limit" in text


def test_slots_without_clicks_or_items() -> None:
    text = said([[0, 1, EMPTY, 2], [1, 0, EMPTY, 2]], [[9, 5, 0, 0], [7, 4, 0, 0]], [20, 20], 4)
    assert "Slot 3 never held an item." in text
    assert "Slot 4 held items and got no click" in text
    assert "One item was never shown: no data on 3." in text


def test_names_that_differ_by_case_or_blanks_are_listed() -> None:
    seen = Rankings([[0, 1], [1, 0], [2, 0], [1, 2]], [[30, 20]] * 4, [50] * 4, items=3)
    (said,) = limitations(Fit.of_rankings(seen, item_ids=["Tea", "milk", "tea "]))
    assert said.startswith("Some names differ only by case, blanks or the way a number is written: 'Tea' and 'tea '.")
    assert limitations(Fit.of_rankings(seen, item_ids=["tea", "milk", "te a"])) == []


def test_rows_that_may_be_parts_of_pages() -> None:
    shown = [[0, EMPTY], [1, EMPTY], [EMPTY, 0], [EMPTY, 1]]
    assert said(shown, np.where(np.array(shown) == EMPTY, 0, 5), [50] * 4, 2).startswith(
        "Every impression fills one slot only. If these are rows of larger pages, name the column"
    )
