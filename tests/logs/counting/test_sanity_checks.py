"""Logs that have lost the rows of items that were not clicked."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from slotwise.core.types import NO_CLICK
from slotwise.logs import fit, fit_text
from slotwise.logs.fitting.fit_result import Fit
from tests.logs.synthetic_impressions import drawn

ODDS = np.outer([1.0, 0.6, 0.4], [0.1, 0.2, 0.3, 0.4, 0.5])
SHOWN, CLICKED = drawn(ODDS, 400, np.random.default_rng(3))
IMPRESSION, PLACE = (axis.ravel() for axis in np.indices(SHOWN.shape))
HIT = CLICKED[IMPRESSION] == PLACE
IN_CLICKED = CLICKED[IMPRESSION] != NO_CLICK


def fit_rows(kept: np.ndarray) -> Fit:
    columns = {"impression": IMPRESSION, "slot": PLACE + 1, "item": SHOWN.ravel().astype(str), "clicked": HIT}
    return fit(pa.table({name: column[kept] for name, column in columns.items()}))


def words(found: Fit) -> str:
    return " ".join(str(block) for block in fit_text([found]))


def test_whole_lists() -> None:
    found = fit_rows(np.ones(len(HIT), bool))
    assert found.withheld == ""
    assert "missing" not in words(found)


@pytest.mark.parametrize("what", ["lists that end at the click", "the clicked item alone"])
def test_rows_below_the_click_are_lost(what: str) -> None:
    is_above = CLICKED[IMPRESSION] >= PLACE if what == "lists that end at the click" else HIT
    found = fit_rows(~IN_CLICKED | is_above)
    clicked = int(HIT.sum())
    assert found.tally.cleaning["cut_lists"] == clicked
    assert found.withheld.startswith(
        f"rows of unclicked items are missing: there are {clicked} impressions with a click"
    )
    assert "Does the model fit? Undecided" in words(found)


def test_half_of_the_rows_around_clicks_are_lost() -> None:
    found = fit_rows(~IN_CLICKED | HIT | (IMPRESSION % 2 == 0))
    assert found.tally.cleaning["shorter_lists"] == int(HIT.sum())
    assert "Are rows of unclicked items missing?" in words(found)


def test_rows_are_lost_at_random() -> None:
    found = fit_rows(HIT | (np.random.default_rng(4).random(len(HIT)) < 0.6))
    assert "have a gap in their slots, which counts as empty. If rows of unclicked items are missing" in words(found)


def test_rows_of_one_slot_are_lost() -> None:
    """A slot with half of its unclicked rows seems twice as good: λ/(1 - r), which no test can tell from the truth."""
    is_kept = np.random.default_rng(4).random(len(HIT)) < 0.45
    found = fit_rows(HIT | (PLACE != 1) | is_kept)
    assert found.estimate.position_bias[1] > 1.5 * fit_rows(np.ones(len(HIT), bool)).estimate.position_bias[1]
    assert "attractiveness and the position bias of slot 2 are too high, and clicks cannot show it" in words(found)


@pytest.mark.parametrize("what", ["impressions", "rows"])
def test_only_what_was_clicked_is_there(what: str) -> None:
    found = fit_rows(IN_CLICKED if what == "impressions" else HIT)
    assert found.withheld.startswith(f"all {int(HIT.sum())} impressions have a click")
    assert "Every impression has a click." in words(found)
    assert "Nothing is recommended" in words(found)
