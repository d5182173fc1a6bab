"""The results of a fit."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from slotwise import EMPTY, Rankings, simulate
from slotwise.core.errors import InvalidInput
from slotwise.estimators import ESTIMATORS
from slotwise.logs.fitting.fit_result import Fit, fits_to_dict
from tests.logs.synthetic_impressions import rankings
from tests.statistical_assertions import assert_mean_is

BIAS, ALPHA = np.array([1.0, 0.5, 0.3]), np.array([0.2, 0.4, 0.1, 0.6, 0.3])
#: two items, each in each of two slots, and nothing in the other slot
ONE_SLOT = [[0, EMPTY], [1, EMPTY], [EMPTY, 0], [EMPTY, 1]]


@pytest.fixture(scope="module")
def fit() -> Fit:
    seen = rankings(np.outer(BIAS, ALPHA), 4_000, np.random.default_rng(1))
    return Fit.of_rankings(seen, item_ids=["a", "b", "c", "d", "e"])


def test_json_is_as_documented(fit: Fit) -> None:
    found = json.loads(json.dumps(fit.to_dict(), allow_nan=False))
    assert list(found) == [
        "impressions",
        "no_click",
        "multi_click",
        "items",
        "position_bias",
        "converged",
        "identifiable",
        "log_likelihood",
        "shown_now",
        "best",
    ]
    assert list(found["items"]) == ["a", "b", "c", "d", "e"]
    assert list(found["items"]["a"]) == ["attractiveness", "low", "high", "shown", "clicks"]
    assert [list(slot) for slot in found["position_bias"]] == [["slot", "estimate", "low", "high"]] * 3
    assert [slot["slot"] for slot in found["position_bias"]] == [1, 2, 3]
    assert found["impressions"] == 4_000 == found["no_click"] + sum(item["clicks"] for item in found["items"].values())
    assert sum(item["shown"] for item in found["items"].values()) == 12_000
    best = fit.best()
    assert found["best"] == {"items": list(best.items), **best.rate._asdict(), "recommended": True}
    assert fits_to_dict([fit]) == fit.to_dict()


def test_a_guess_is_not_recommended() -> None:
    """Always the same list: its slots and its items cannot be separated."""
    found = Fit.of_rankings(Rankings([[0, 1]], [[30, 20]], [50], items=2)).to_dict()
    assert found["best"]["recommended"] is False
    unclicked = Fit.of_rankings(Rankings([[0, 1], [1, 0]], [[0, 0], [0, 0]], [50, 50], items=2)).to_dict()
    assert unclicked["best"]["recommended"] is False


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_infinite_numbers_are_null(estimator: str) -> None:
    """Item 2 was never shown; slot 2 cannot be compared."""
    seen = Rankings([[0, 1]], [[3, 2]], [4], items=3)
    fit = Fit.of_rankings(seen, estimator=estimator, placement="home")
    found = json.loads(json.dumps(fits_to_dict([fit]), allow_nan=False))["placements"]["home"]
    assert found["items"]["2"] == {"attractiveness": None, "low": 0.0, "high": None, "shown": 0, "clicks": 0}
    assert found["position_bias"][1]["high"] is None
    assert not found["identifiable"]


def test_the_log_likelihood_is_that_of_the_rounds(fit: Fit) -> None:
    assert fit.rankings is not None
    gamma = np.outer(fit.estimate.position_bias, fit.estimate.attractiveness)
    total = 0.0
    for ranking, clicks, passes in zip(fit.rankings.shown, fit.rankings.clicks, fit.rankings.passes, strict=True):
        weights = gamma[np.arange(3), ranking]
        total += clicks @ np.log(weights / (1 + weights.sum())) - passes * math.log(1 + weights.sum())
    assert fit.log_likelihood == pytest.approx(total)


def test_frames(fit: Fit) -> None:
    items, slots = fit.to_frame("items"), fit.to_frame("slots")
    assert list(items.columns) == ["item", "attractiveness", "low", "high", "shown", "clicks"]
    assert list(slots["slot"]) == [1, 2, 3]
    assert (items["low"] <= items["attractiveness"]).all()


def test_summary_has_the_numbers_of_the_frames(fit: Fit) -> None:
    assert repr(fit) in fit.summary()
    lines = [line.split() for line in fit.summary().splitlines()]
    for id, attractiveness, *_ in fit.rows("items"):
        assert [id, f"{attractiveness:.4g}"] in [line[:2] for line in lines]


def test_the_best_list_is_the_best(fit: Fit) -> None:
    best = fit.best()
    assert best.items == ("d", "b", "e")
    assert best.rate.low < best.rate.click_rate < best.rate.high
    total = BIAS @ ALPHA[[3, 1, 4]]
    assert best.rate.low < total / (1 + total) < best.rate.high
    assert best.caution() == ""


def test_luck_does_not_make_the_best_item() -> None:
    """Shown three times and clicked twice, with thirty others that were shown some hundred times."""
    rng = np.random.default_rng(2)
    known = rankings(np.outer([1.0, 0.5], np.linspace(0.1, 0.4, 30)), 3_000, rng)
    lists = Rankings(known.shown, known.clicks, known.passes, items=31)
    seen = lists + Rankings([[30, 0], [30, 1]], [[1, 0], [1, 0]], [1, 0], items=31)
    assert np.nanargmax(Fit.of_rankings(seen, estimator="scaling").estimate.attractiveness) == 30
    fit = Fit.of_rankings(seen)
    assert fit.best().items[0] != "30"
    assert 0.1 < fit.shrunken.attractiveness[30] < 0.5


def test_fewer_items_than_slots_leave_the_worst_slot_empty() -> None:
    seen = Rankings(
        [[0, 1, EMPTY], [1, 0, EMPTY], [0, EMPTY, 1]], [[3, 1, 0], [2, 2, 0], [4, 0, 1]], [5, 5, 9], items=2
    )
    best = Fit.of_rankings(seen).best()
    assert sorted(map(str, best.items)) == ["0", "1", "None"]
    assert best.never_there + best.hardly_shown > 0
    assert "fewer than 100 times" in best.caution()


def test_a_fit_starts_a_simulation(fit: Fit) -> None:
    users = fit.model()
    assert users.position_bias == pytest.approx(BIAS, rel=0.2)
    assert simulate(users, "thompson-sampling", rounds=100)["thompson-sampling"].mean >= 0


def test_ids_are_checked() -> None:
    with pytest.raises(InvalidInput, match="item_ids must have one entry per item, 2, got 1"):
        Fit.of_rankings(Rankings([[0, 1]], [[3, 2]], [4], items=2), item_ids=["a"])


def test_nineteen_in_twenty_hold_the_parameters() -> None:
    rng = np.random.default_rng(3)
    covered = []
    for _ in range(300):
        found = Fit.of_rankings(rankings(np.outer(BIAS, ALPHA), 800, rng)).to_dict()
        ends = [(item["low"], item["high"]) for item in found["items"].values()]
        ends += [(slot["low"], slot["high"]) for slot in found["position_bias"][1:]]
        truth = np.concatenate([ALPHA, BIAS[1:]])
        covered.append(np.mean([low <= value <= high for (low, high), value in zip(ends, truth, strict=True)]))
    # how far from its level the coverage may truly be with some fifty clicks an item
    assert_mean_is(np.clip(np.mean(covered), 0.94, 0.96), covered)


def test_an_item_without_a_finite_estimate_does_not_lower_the_likelihood() -> None:
    """Item 2 is clicked whenever it is shown: at the maximum these impressions are certain."""
    seen = Rankings([[0, 1], [1, 0], [2, 0]], [[9, 5], [7, 4], [6, 0]], [20, 20, 0], items=3)
    rest = Rankings([[0, 1], [1, 0]], [[9, 5], [7, 4]], [20, 20], items=2)
    found, alone = (Fit.of_rankings(one, estimator="maximum-likelihood").log_likelihood for one in (seen, rest))
    assert found == pytest.approx(alone, abs=1e-6)


def test_a_list_is_compared_in_the_slots_that_impressions_fill() -> None:
    """Items and slots are alike, and each impression fills one of two slots: no list has more clicks than the log."""
    seen = Rankings(ONE_SLOT, [[10, 0], [10, 0], [0, 10], [0, 10]], [90] * 4, items=2)
    best = Fit.of_rankings(seen).best()
    assert best.rate.click_rate == pytest.approx(0.1, rel=0.02)
    assert best.rate.low < 0.1 < best.rate.high
    odds = 2 * 0.1 / 0.9
    assert best.all_slots.click_rate == pytest.approx(odds / (1 + odds), rel=0.02)
    assert "impressions that fill 1 of 2 slots on average. With every slot filled" in best.slots_in_words()
    assert best.to_dict()["all_slots"] == best.all_slots.to_dict()


def test_a_list_that_leaves_slots_of_the_log_empty_is_not_compared() -> None:
    """Two items cannot fill three slots, and each impression fills one."""
    shown = [[0, EMPTY, EMPTY], [1, EMPTY, EMPTY], [EMPTY, 0, EMPTY], [EMPTY, 1, EMPTY], [EMPTY, EMPTY, 0]]
    clicks = [[10 * (item != EMPTY) for item in ranking] for ranking in shown]
    best = Fit.of_rankings(Rankings(shown, clicks, [90] * 5, items=2)).best()
    assert math.isnan(best.rate.click_rate)
    assert math.isfinite(best.all_slots.click_rate)
    assert best.slots_in_words().endswith("some of them slots that the list leaves empty: the rates are not compared.")
