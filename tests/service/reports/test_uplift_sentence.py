"""Does it pay: one sentence, by the interval that whoever looks may rely on."""

from __future__ import annotations

from typing import Any, cast

import pytest

from slotwise.service.reports.uplift import pays
from slotwise.service.schemas.report_schemas import UpliftDocument

ARM: dict[str, Any] = {"shown": 1000, "clicks": 100, "click_rate": 0.1, "value_per_view": None}


def uplift(low: float | None, high: float | None, **changes: Any) -> UpliftDocument:
    """A comparison with this plain interval, and an anytime-valid one that is wider by 0.01 on either side."""
    anytime = None if low is None or high is None else {"low": low - 0.01, "high": high + 0.01}
    ratio = {"estimate": 1.18, "low": 1.0, "high": None, "anytime": {"low": 0.9, "high": None}}
    found: Any = {
        "measure": "click_rate",
        "since": None,
        "until": None,
        "learned": ARM,
        "holdout": ARM,
        "difference": 0.0,
        "low": low,
        "high": high,
        "anytime": anytime,
        "ratio": ratio,
        "too_early": None,
        **changes,
    }
    return cast(UpliftDocument, found)


def test_it_pays_only_by_the_interval_that_may_be_relied_on() -> None:
    clear, doubtful = uplift(0.02, 0.05), uplift(0.005, 0.05)
    assert pays(clear, 0.1) == "Positive: the learned lists bring 18 % more clicks per view."
    # the page is looked at every day, so the plain interval is too narrow
    assert pays(doubtful, 0.1) == "Not clear: the interval of the difference includes zero."


@pytest.mark.parametrize(
    ("estimate", "measure", "said"),
    [
        (1.18, "value_per_view", "Positive: the learned lists bring 18 % more value per view."),
        (2.44, "click_rate", "Positive: the learned lists bring 2.4 times as many clicks per view."),
        (2.44, "value_per_view", "Positive: the learned lists bring 2.4 times as much value per view."),
        (1.004, "click_rate", "Positive: the learned lists bring 0.4 % more clicks per view."),
    ],
)
def test_the_uplift_is_stated_against_the_holdout(estimate: float, measure: str, said: str) -> None:
    ratio = {"estimate": estimate, "low": 1.0, "high": None, "anytime": {"low": 0.9, "high": None}}
    assert pays(uplift(0.02, 0.05, ratio=ratio, measure=measure), 0.1) == said


def test_a_better_holdout_is_reported_as_a_loss() -> None:
    ratio = {"estimate": 0.9, "low": 0.8, "high": 0.95, "anytime": {"low": 0.8, "high": 0.99}}
    worse = uplift(-0.05, -0.02, ratio=ratio)
    assert pays(worse, 0.1) == "Negative: the learned lists bring 10 % fewer clicks per view."


def test_unknown_uplift_is_not_stated() -> None:
    assert pays(None, 0.0) == "Not measured: there is no holdout to compare with."
    assert pays(None, 0.1).startswith("Not known yet:")
    early = uplift(None, None, too_early="the holdout arm has 3 views with a click, and 10 are needed", ratio=None)
    assert pays(early, 0.1) == ("Too early: the holdout arm has 3 views with a click, and 10 are needed.")
