from __future__ import annotations

import pytest

from slotwise.service.store.contract import Arm, Counters
from slotwise.service.worker.uplift import uplift


def arms(learned: Counters, holdout: Counters) -> dict[Arm, Counters]:
    return {"learned": learned, "holdout": holdout}


@pytest.mark.parametrize(
    "counted",
    [
        {},
        {"learned": Counters(clicked=60, no_click=40)},
        arms(Counters(clicked=60, no_click=40), Counters(issued=7, not_shown=3)),
    ],
)
def test_there_is_none_until_both_arms_have_something_final(counted: dict[Arm, Counters]) -> None:
    assert uplift(counted) is None


def test_it_says_when_it_is_too_early() -> None:
    found = uplift(arms(Counters(clicked=60, no_click=40), Counters(clicked=1, no_click=3)))
    assert found is not None
    assert found["difference"] == pytest.approx(0.35)
    assert (found["low"], found["high"], found["anytime"], found["ratio"]) == (None, None, None, None)
    assert found["too_early"] == "the holdout arm has 1 views with a click, and 10 are needed"


def test_both_intervals_hold_the_estimate_and_the_anytime_one_is_wider() -> None:
    found = uplift(arms(Counters(clicked=600, no_click=2_400), Counters(clicked=150, no_click=850)))
    assert found is not None
    assert found["too_early"] is None
    assert found["anytime"] is not None
    assert found["low"] is not None
    assert found["high"] is not None
    assert found["anytime"]["high"] is not None
    assert found["anytime"]["low"] < found["low"] < found["difference"] < found["high"] < found["anytime"]["high"]
    ratio = found["ratio"]
    assert ratio is not None
    assert ratio["high"] is not None
    assert ratio["anytime"]["low"] < ratio["low"] < ratio["estimate"] == pytest.approx(4 / 3)
    assert ratio["estimate"] < ratio["high"] < (ratio["anytime"]["high"] or 0.0)


def test_an_infinite_end_is_null_as_json_has_no_word_for_it() -> None:
    found = uplift(arms(Counters(clicked=80, no_click=320), Counters(clicked=10, no_click=390)))
    assert found is not None
    assert found["ratio"] is not None
    assert found["ratio"]["anytime"]["high"] is None
