"""What is shown now beside what to show."""

from __future__ import annotations

import numpy as np
import pytest

from slotwise import EMPTY, Rankings
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.reporting.placement_report import PlacementReport

#: b is better and mostly in slot 2
SWAPPED = Rankings([[0, 1], [1, 0]], [[900, 2_250], [500, 50]], [6_000, 1_000], items=2)


def report_of(seen: Rankings, ids: str = "ab") -> PlacementReport:
    return PlacementReport(Fit.of_rankings(seen, item_ids=ids))


def test_each_slot_has_the_item_that_it_held_most_and_its_share_of_the_impressions() -> None:
    report = report_of(SWAPPED)
    assert [(row.slot, row.shown_now, row.show_instead) for row in report.comparison] == [(1, "a", "b"), (2, "b", "a")]
    rounds = SWAPPED.clicks.sum(axis=1) + SWAPPED.passes
    assert [row.share for row in report.comparison] == pytest.approx([rounds[0] / rounds.sum()] * 2)
    for row in report.comparison:
        item = report.fit.item_ids.index(str(row.show_instead))
        assert row.attractiveness == report.fit.estimate.attractiveness[item]
        assert row.low < row.attractiveness < row.high
    assert report.lead() == "Show b and a, in this order"
    assert report.fit.to_dict()["shown_now"] == [
        {"item": row.shown_now, "share": row.share} for row in report.comparison
    ]


def test_a_list_that_is_already_shown_is_kept() -> None:
    report = report_of(Rankings([[0, 1], [1, 0]], [[3_000, 300], [150, 300]], [6_000, 1_000], items=2))
    assert all(row.is_kept for row in report.comparison)
    assert report.lead() == "Keep the list that is shown most often"


def test_an_empty_slot_has_no_item() -> None:
    seen = Rankings([[0, 1, EMPTY], [1, 0, EMPTY]], [[30, 10, 0], [20, 20, 0]], [50, 50], items=2)
    last = report_of(seen).comparison[2]
    assert (last.shown_now, last.share, last.show_instead) == (None, 0.0, None)
    assert np.isnan(last.attractiveness)
