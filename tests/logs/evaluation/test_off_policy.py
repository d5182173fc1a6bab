"""What would another list get?"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from slotwise import EMPTY, NO_CLICK, Rankings, logs
from slotwise.click_models import best_ranking, reward
from slotwise.core.errors import InvalidInput, InvalidRanking, UnknownName
from slotwise.logs.counting.logged_propensities import LoggedPropensities
from slotwise.logs.evaluation.evaluation_targets import lists_shown
from slotwise.logs.evaluation.off_policy import evaluate
from slotwise.logs.fitting.fit_result import Fit
from tests.logs.synthetic_impressions import drawn

BIAS, ALPHA = np.array([1.0, 0.5, 0.3]), np.array([0.2, 0.4, 0.1, 0.6, 0.3])
IDS = ["a", "b", "c", "d", "e"]


@pytest.fixture(scope="module")
def log() -> tuple[Fit, LoggedPropensities]:
    shown, clicked = drawn(np.outer(BIAS, ALPHA), 20_000, np.random.default_rng(1))
    fit = Fit.of_rankings(Rankings.of_rounds(shown, clicked, items=5), item_ids=IDS)
    return fit, LoggedPropensities(shown, clicked, np.full(20_000, 1 / 60))


def true_rate(ranking: list[int]) -> float:
    total = BIAS[: len(ranking)] @ ALPHA[ranking]
    return float(total / (1 + total))


@pytest.mark.parametrize("ranking", [[3, 1, 4], [2, 0, 4], [3]])
def test_both_ways_are_near_the_truth(log: tuple[Fit, LoggedPropensities], ranking: list[int]) -> None:
    """Five standard errors: by chance once in a million."""
    fit, logged = log
    found = evaluate(fit, [IDS[item] for item in ranking], propensities=logged if len(ranking) == 3 else None)
    truth = true_rate(ranking)
    assert found.by_model.click_rate == pytest.approx(truth, abs=2.5 * (found.by_model.high - found.by_model.low) / 2)
    if found.by_propensity is not None:
        rate = found.by_propensity.self_normalised
        assert rate.click_rate == pytest.approx(truth, abs=2.5 * (rate.high - rate.low) / 2)
        assert rate.high - rate.low > found.by_model.high - found.by_model.low
    assert found.warnings == ()
    json.dumps(found.to_dict(), allow_nan=False)


def test_a_mixture(log: tuple[Fit, LoggedPropensities]) -> None:
    fit, logged = log
    one, two = ("d", "b", "e"), ("c", "a", "e")
    both = evaluate(fit, {one: 0.25, two: 0.75})
    as_arrays: list[Any] = [np.array(one), np.array(two)]
    rates = [evaluate(fit, ranking).by_model.click_rate for ranking in as_arrays]
    assert both.by_model.click_rate == pytest.approx(0.25 * rates[0] + 0.75 * rates[1])
    targets: list[Any] = [{one: 0.25, two: 0.75}, one, two]
    plain = [
        evaluate(fit, target, propensities=logged).to_dict()["by_propensity"]["plain"]["click_rate"]
        for target in targets
    ]
    assert plain[0] == pytest.approx(0.25 * plain[1] + 0.75 * plain[2])


def test_a_policy_learns_towards_the_best_list(log: tuple[Fit, LoggedPropensities]) -> None:
    fit, logged = log
    found = evaluate(fit, "thompson-sampling", propensities=logged, rounds=4_000)
    best = fit.best().rate
    users = fit.model()
    assert found.by_propensity is None
    assert any("Inverse propensity does not apply" in warning for warning in found.warnings)
    assert fit.click_rate < found.by_model.click_rate < best.click_rate
    assert best.click_rate == pytest.approx(float(reward(users, best_ranking(users))))
    # as uncertain as the list that it ends with, and a little more for the runs
    assert found.by_model.high - found.by_model.low == pytest.approx(best.high - best.low, rel=0.3)


@pytest.mark.parametrize(
    ("target", "error", "said"),
    [
        (["a", "x"], UnknownName, "unknown item 'x'"),
        (["a", "a"], InvalidRanking, "holds an item once"),
        (["a", "b", "c", "d"], InvalidRanking, "1 to 3 items"),
        ([], InvalidRanking, "1 to 3 items"),
        ({}, InvalidInput, "at least one ranking"),
        ({("a",): 0.5, ("b",): 0.6}, InvalidInput, "add up to 1, got 1.1"),
        ({("a",): 1.5, ("b",): -0.5}, InvalidInput, "got -0.5"),
        ("no-such-policy", UnknownName, "unknown policy"),
    ],
)
def test_invalid_input_is_rejected(
    log: tuple[Fit, LoggedPropensities], target: Any, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        evaluate(log[0], target)


def test_propensities_of_another_page_are_refused(log: tuple[Fit, LoggedPropensities]) -> None:
    with pytest.raises(InvalidInput, match="one column per slot, 3, got 1"):
        evaluate(log[0], ["a"], propensities=LoggedPropensities([[0]], [0], [0.5]))


def test_warnings_when_the_log_cannot_answer() -> None:
    """Item 4 was never shown; items 2, 3 only in slot 2; item 0 never in slot 2."""
    seen = Rankings([[0, 2], [1, 3]], [[5, 3], [4, 2]], [9, 8], items=5)
    fit = Fit.of_rankings(seen, item_ids=IDS, estimator="scaling")
    assert "The log never showed e" in evaluate(fit, ["a", "e"]).warnings[0]
    text = "\n".join(evaluate(fit, ["c", "a"]).warnings)
    assert "The log never showed c in slot 1 and a in slot 2: the estimate rests on the model alone" in text
    assert "The log itself does not determine how c in slot 1 and a in slot 2 would do" in text
    assert evaluate(fit, ["c", "a"]).in_words() == "Which click rate to expect? This log does not determine it."
    assert "cannot answer" in text
    assert evaluate(fit, ["c", "a"]).to_dict()["by_model"]["click_rate"] is None
    assert "too wide" in "\n".join(evaluate(fit, ["a"]).warnings)


def test_the_model_extrapolates_and_reports_it() -> None:
    """Item 2 was never in slot 1, but items 0 and 1 determine the position bias."""
    shown = [[0, 1], [1, 0], [0, 2], [1, 2]]
    weights = np.outer([1.0, 0.5], [0.4, 0.6, 0.5])
    clicks = [[round(4_000 * weights[k, row[k]]) for k in range(2)] for row in shown]
    fit = Fit.of_rankings(Rankings(shown, clicks, [4_000] * 4, items=3), item_ids=["a", "b", "c"])
    found = evaluate(fit, ["c", "a"])
    assert found.by_model.click_rate == pytest.approx(0.7 / 1.7, rel=1e-3)
    assert len(found.warnings) == 1
    assert "The log never showed c in slot 1: " in found.warnings[0]


def test_a_million_items_are_no_obstacle() -> None:
    """Only the items on the list and the slots matter; some hundred thousand here, to be quick."""
    rng = np.random.default_rng(2)
    items = 100_000
    alpha = rng.gamma(1.0, 0.2, items)
    shown = rng.integers(0, items, (20_000, 4))
    shown = shown[(np.diff(np.sort(shown, axis=1), axis=1) > 0).all(axis=1)]
    bias = np.array([1.0, 0.6, 0.4, 0.3])
    total = (bias * alpha[shown]).sum(axis=1)
    clicked = np.where(rng.random(len(shown)) < total / (1 + total), rng.integers(0, 4, len(shown)), -1)
    fit = Fit.of_rankings(Rankings.of_rounds(shown, clicked, items=items))
    assert evaluate(fit, [str(item) for item in shown[0]]).by_model.high <= 1.0


def test_lists_shown_do_not_depend_on_clicks() -> None:
    log = pa.table({"items": [["a", "b"], ["b", "a"]], "clicked": [["a", "b"], []]})
    assert lists_shown(log) == {("a", "b"): 0.5, ("b", "a"): 0.5}


@pytest.mark.parametrize(
    "log",
    [
        {"items": [["a", "b"], ["b", "a"]]},
        {"items": ["a|b", "b|a"]},
        {"impression": [1, 1, 2, 2], "slot": [1, 2, 1, 2], "item": ["a", "b", "b", "a"]},
        # clicks of another page, or that nobody understands
        {"items": [["a", "b"], ["b", "a"]], "clicked": ["x", None]},
        {"impression": [1, 1, 2, 2], "slot": [1, 2, 1, 2], "item": ["a", "b", "b", "a"], "clicked": ["?", "?", "", ""]},
    ],
    ids=["lists", "text", "long", "stray", "odd"],
)
def test_lists_shown_need_no_clicks(log: dict[str, Any]) -> None:
    assert lists_shown(pa.table(log)) == {("a", "b"): 0.5, ("b", "a"): 0.5}


def test_where_no_impression_showed_the_list_the_model_answers() -> None:
    seen = Rankings([[0, 1], [1, 0]], [[30, 21], [12, 8]], [50, 50], items=2)
    fit = Fit.of_rankings(seen, item_ids=["a", "b"])
    logged = LoggedPropensities([[0, 1], [1, 0]], [0, -1], [0.5, 0.5])
    found = evaluate(fit, ["a"], propensities=logged)
    assert found.by_propensity is not None
    assert math.isnan(found.by_propensity.self_normalised.click_rate)
    assert found.closest == found.by_model
    assert evaluate(fit, ["a", "b"], propensities=logged).closest != found.by_model


#: two items, each in each of two slots, and nothing in the other slot; of 100 impressions of each 10 are clicked
ONE_SLOT = [[0, EMPTY], [1, EMPTY], [EMPTY, 0], [EMPTY, 1]]


@pytest.fixture(scope="module")
def one_slot() -> tuple[Fit, LoggedPropensities]:
    seen = Rankings(ONE_SLOT, [[10, 0], [10, 0], [0, 10], [0, 10]], [90] * 4, items=2)
    clicked = np.tile(np.repeat([True, False], [10, 90]), 4)
    shown = np.repeat(ONE_SLOT, 100, axis=0)
    slot = np.argmax(shown != EMPTY, axis=1)
    logged = LoggedPropensities(shown, np.where(clicked, slot, NO_CLICK), np.full((400, 2), 0.5))
    return Fit.of_rankings(seen, item_ids=["a", "b"]), logged


def test_a_list_is_compared_in_the_slots_that_the_log_fills(one_slot: tuple[Fit, LoggedPropensities]) -> None:
    """Nothing is to be gained, though a page with both slots filled has more clicks than one with one of them."""
    fit, logged = one_slot
    found = evaluate(fit, ["a", "b"], propensities=logged)
    assert found.by_propensity is not None
    assert found.by_propensity.plain.click_rate == pytest.approx(0.2)
    assert found.by_model.click_rate == pytest.approx((2 / 9) / (1 + 2 / 9), rel=0.02)
    assert found.as_filled is not None
    assert found.as_filled.click_rate == pytest.approx(0.1)
    assert "than the 10.0 % now. That is for impressions that fill 1 of 2 slots on average" in found.in_words()
    assert found.to_dict()["in_filled_slots"] == found.as_filled.to_dict()
    together = "No impression of the log fills all slots of the target at once"
    assert any(warning.startswith(together) for warning in found.warnings)
    assert not any(warning.startswith(together) for warning in evaluate(fit, ["a"], propensities=logged).warnings)


def test_the_lists_of_a_log_that_fills_one_slot(one_slot: tuple[Fit, LoggedPropensities]) -> None:
    fit, logged = one_slot
    own: Any = {("a", None): 0.25, ("b", None): 0.25, (None, "a"): 0.25, (None, "b"): 0.25}
    found = evaluate(fit, own, propensities=logged)
    assert found.by_propensity is not None
    assert found.by_propensity.doubly_robust is not None
    for rate in (found.by_propensity.plain, found.by_propensity.self_normalised, found.by_propensity.doubly_robust):
        assert rate.click_rate == pytest.approx(0.1)
    assert found.as_filled is not None
    assert found.as_filled == pytest.approx(found.closest)
    assert not any("average" in warning for warning in found.warnings)


def test_a_target_that_fills_other_slots_is_not_compared(one_slot: tuple[Fit, LoggedPropensities]) -> None:
    """A list with an empty slot says nothing of impressions that fill it; a policy fills every slot."""
    for found in (evaluate(one_slot[0], ["a"]), evaluate(one_slot[0], "epoch-ucb-upb-star", rounds=200)):
        assert found.as_filled is None
        assert found.in_words().endswith("and other slots than the target: the rates are not compared.")
        assert found.to_dict()["in_filled_slots"] is None


def test_a_list_that_is_shorter_than_full_pages_is_compared(log: tuple[Fit, LoggedPropensities]) -> None:
    found = evaluate(log[0], ["d"])
    assert found.as_filled == found.by_model
    assert "in_filled_slots" not in found.to_dict()
    assert "than the 35.9 % now" in found.in_words()


def test_a_slot_that_the_log_never_filled_has_no_estimate() -> None:
    """Slot 2 is empty in all impressions, and the target fills it."""
    shown = [[0, EMPTY, 1], [1, EMPTY, 0]]
    fit = Fit.of_rankings(Rankings(shown, [[10, 0, 5], [10, 0, 5]], [85] * 2, items=2), item_ids=["a", "b"])
    logged = LoggedPropensities(shown * 100, [0, NO_CLICK] * 100, np.full((200, 3), 0.5))
    found = evaluate(fit, ["a", "b"], propensities=logged)
    assert found.in_words() == "Which click rate to expect? This log does not determine it."
    assert "The log never filled slot 2: there are no data on it." in found.warnings
    assert found.by_model.low > 0.05
    assert found.by_model.high == 1.0
    json.dumps(found.to_dict(), allow_nan=False)
    assert not any("never filled" in warning for warning in evaluate(fit, ["a", None, "b"]).warnings)


def test_impressions_without_a_propensity_are_left_out() -> None:
    table = {
        "impression": [1, 2, 3, 4],
        "slot": [1, 2, 1, 2],
        "item": ["a", "b", "b", "a"],
        "clicked": [1, 0, 0, 0],
        "p": [0.5, 0.5, None, 0.5],
    }
    fit = logs.fit(pa.table(table), item_propensity="p")
    found = evaluate(fit, ["a", "b"], propensities=fit.logged)
    assert found.by_propensity is not None
    assert found.by_propensity.matching == 2
    assert any(warning.startswith("1 impressions have no propensity") for warning in found.warnings)
