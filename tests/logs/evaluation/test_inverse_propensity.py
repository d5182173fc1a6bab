"""Inverse propensity: unbiased where chance chose the lists, and plain about where it did not."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from slotwise import EMPTY, NO_CLICK
from slotwise.core.errors import InvalidInput
from slotwise.logs.counting.logged_propensities import LoggedPropensities
from slotwise.logs.evaluation.inverse_propensity import inverse_propensity, warnings_of
from tests.logs.synthetic_impressions import drawn
from tests.statistical_assertions import assert_mean_is

ODDS = np.outer([1.0, 0.4], [0.5, 0.2, 0.9])
LISTS = np.array(list(itertools.permutations(range(3), 2)))
#: not all lists are equally likely
CHANCES = np.array([0.05, 0.1, 0.15, 0.2, 0.2, 0.3])
SUMS = ODDS[np.arange(2), LISTS].sum(axis=1)
TRUE = SUMS / (1 + SUMS)


def logged(impressions: int, rng: np.random.Generator) -> LoggedPropensities:
    which = rng.choice(len(LISTS), impressions, p=CHANCES)
    clicked = np.where(rng.random(impressions) < TRUE[which], 0, NO_CLICK)
    return LoggedPropensities(LISTS[which], clicked, CHANCES[which])


@pytest.mark.parametrize("target", [[0], [5], [0, 3]])
def test_plain_weights_are_unbiased_and_intervals_hold_the_truth(target: list[int]) -> None:
    rng = np.random.default_rng(1)
    shares = np.full(len(target), 1 / len(target))
    expected = shares @ TRUE[target]
    plain, covered = [], []
    for _ in range(500):
        found = inverse_propensity(logged(1_500, rng), LISTS[target], shares, 0.9)
        plain.append(found.plain.click_rate)
        covered.append([rate.low <= expected <= rate.high for rate in (found.plain, found.self_normalised)])
    assert_mean_is(expected, plain)
    # how far from its level the coverage may truly be: the rarest list has 75 impressions
    assert_mean_is(np.clip(np.mean(covered, axis=0), 0.88, 0.92), covered)


def test_effective_impressions_and_the_mean_weight() -> None:
    data = logged(20_000, np.random.default_rng(2))
    one = inverse_propensity(data, LISTS[[2]], np.ones(1))
    assert one.matching == (data.shown == LISTS[2]).all(axis=1).sum()
    assert one.effective_impressions == pytest.approx(one.matching)
    assert one.mean_weight == pytest.approx(1.0, abs=5 * one.mean_weight_error)
    assert not warnings_of(one)
    logging = inverse_propensity(data, LISTS, CHANCES)
    assert logging.effective_impressions == pytest.approx(20_000)
    assert logging.plain.click_rate == pytest.approx((data.clicked != NO_CLICK).mean())


def test_many_lists_are_matched_like_few() -> None:
    rng = np.random.default_rng(3)
    lists = np.array(list(itertools.permutations(range(5), 2)))
    data = LoggedPropensities(lists[rng.integers(0, 20, 400)], np.full(400, NO_CLICK), np.full(400, 0.05))
    weights = rng.dirichlet(np.ones(20))
    every = inverse_propensity(data, lists, weights)
    one_by_one = [inverse_propensity(data, lists[[i]], np.ones(1)).mean_weight for i in range(20)]
    assert every.mean_weight == pytest.approx(weights @ one_by_one)


@pytest.mark.parametrize(
    ("value", "said"), [(0.0, "0.0"), (1.5, "1.5"), (None, "null"), (float("nan"), "null"), (-0.1, "-0.1")]
)
def test_an_invalid_probability_is_named(value: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=f"at most 1, got {said} for impression 2 .1 of 3 are not"):
        LoggedPropensities([[0], [1], [0]], [0, NO_CLICK, 0], [0.5, value, 0.5])


def test_shapes_are_checked() -> None:
    with pytest.raises(InvalidInput, match="propensity must have one entry per impression, 2, got 1"):
        LoggedPropensities([[0], [1]], [0, 0], [0.5])
    with pytest.raises(InvalidInput, match="clicked must be"):
        LoggedPropensities([[0], [1]], [0], [0.5, 0.5])


def test_warnings() -> None:
    rng = np.random.default_rng(4)
    few = inverse_propensity(logged(300, rng), LISTS[[0]], np.ones(1))
    assert "too few to rely on" in warnings_of(few)[0]
    data = logged(20_000, rng)
    wrong = LoggedPropensities(data.shown, data.clicked, np.full(20_000, 0.1))
    assert "should average 1" in warnings_of(inverse_propensity(wrong, LISTS[[5]], np.ones(1)))[0]
    none = inverse_propensity(LoggedPropensities([[0, 1]], [0], [1.0]), np.array([[1, 0]]), np.ones(1))
    assert warnings_of(none) == ["No impression showed this list, so inverse propensity has no estimate."]
    assert (none.plain.low, none.plain.high) == (0.0, 1.0)


def test_a_rate_of_nothing_has_an_interval() -> None:
    data = LoggedPropensities([[0]] * 200, [NO_CLICK] * 200, [1.0] * 200)
    rate = inverse_propensity(data, np.array([[0]]), np.ones(1)).self_normalised
    # the score interval: z²/(n + z²)
    assert rate.click_rate == rate.low == 0.0
    assert rate.high == pytest.approx(1.96**2 / (200 + 1.96**2), rel=1e-3)


#: the probability of a click on each slot, independent of the other, as propensities of items in slots take for granted
ALONE = np.array([[0.3, 0.1, 0.4], [0.1, 0.05, 0.2]])
#: of each item to be in each slot, over LISTS
IN_SLOTS = np.array([[CHANCES[LISTS[:, slot] == item].sum() for item in range(3)] for slot in range(2)])


def logged_by_item(impressions: int, rng: np.random.Generator) -> LoggedPropensities:
    shown = LISTS[rng.choice(len(LISTS), impressions, p=CHANCES)]
    upto = np.cumsum(ALONE[np.arange(2), shown], axis=1)
    place = (rng.random((impressions, 1)) > upto).sum(axis=1)
    return LoggedPropensities(shown, np.where(place < 2, place, NO_CLICK), IN_SLOTS[np.arange(2), shown])


@pytest.mark.parametrize("odds", [ODDS, np.outer([1.0, 1.0], [0.1, 0.1, 0.1])])
@pytest.mark.parametrize("by_item", [False, True])
def test_every_estimate_is_unbiased_under_any_model(by_item: bool, odds: Any) -> None:
    """Plain and doubly robust without bias, and intervals that hold the truth; the model is right, or very wrong."""
    rng = np.random.default_rng(5)
    lists, shares = LISTS[[3, 5]], np.array([0.4, 0.6])
    expected = shares @ (ALONE[np.arange(2), lists].sum(axis=1) if by_item else TRUE[[3, 5]])
    rates, covered = [], []
    for _ in range(400):
        found = inverse_propensity((logged_by_item if by_item else logged)(1_500, rng), lists, shares, 0.9, odds)
        assert found.doubly_robust is not None
        every = (found.plain, found.doubly_robust, found.self_normalised)
        rates.append([rate.click_rate for rate in every[:2]])
        covered.append([rate.low <= expected <= rate.high for rate in every])
        assert found.mean_weight == pytest.approx(1.0, abs=6 * found.mean_weight_error)
    assert_mean_is(np.full(2, expected), rates)
    # propensities of items: intervals also allow for competition between slots, which there is none of here
    assert_mean_is(np.clip(np.mean(covered, axis=0), 0.88, 0.97 if by_item else 0.92), covered)


def test_a_model_that_is_right_helps() -> None:
    data = logged(20_000, np.random.default_rng(6))
    found = inverse_propensity(data, LISTS[[0]], np.ones(1), odds=ODDS)
    assert found.doubly_robust is not None
    assert found.doubly_robust.high - found.doubly_robust.low < 0.9 * (found.plain.high - found.plain.low)


@pytest.mark.parametrize("by_item", [False, True])
def test_no_interval_collapses_without_clicks(by_item: bool) -> None:
    """Of 1,000 impressions 250 show the list, and none is clicked: three clicks of weight 4 are not unlikely."""
    propensity = np.full((1_000, 2), 0.25) if by_item else np.full(1_000, 0.25)
    shown = np.tile([[0, 1], [1, 0], [2, 0], [1, 2]], (250, 1))
    found = inverse_propensity(
        LoggedPropensities(shown, [NO_CLICK] * 1_000, propensity), LISTS[[0]], np.ones(1), odds=ODDS / 50
    )
    assert found.doubly_robust is not None
    for rate in (found.plain, found.self_normalised, found.doubly_robust):
        assert rate.click_rate == pytest.approx(0.0, abs=0.002)
        assert 0.01 < rate.high < 0.03
    # a gamma quantile: -log(0.025) clicks of weight 4 in 1,000 impressions
    assert found.plain.high == pytest.approx(-np.log(0.025) * 4 / 1_000)


@pytest.mark.parametrize("clicks", [1, 3, 10])
def test_with_few_clicks_intervals_hold_the_truth(clicks: int) -> None:
    """At least at their level, as these limits are conservative; false alarms: see tests/statistical_assertions.py."""
    rng = np.random.default_rng(clicks)
    covered = []
    for _ in range(600):
        which = rng.choice(len(LISTS), 3_000, p=CHANCES)
        hit = rng.random(3_000) < clicks / (3_000 * CHANCES[0])
        data = LoggedPropensities(LISTS[which], np.where(hit, 0, NO_CLICK), CHANCES[which])
        rate = inverse_propensity(data, LISTS[[0]], np.ones(1), 0.9).plain
        covered.append(rate.low <= clicks / (3_000 * CHANCES[0]) <= rate.high)
    assert_mean_is(max(0.9, float(np.mean(covered))), covered)


def test_impressions_that_stand_for_several() -> None:
    rng = np.random.default_rng(7)
    few, times = logged_by_item(50, rng), rng.integers(1, 9, 50)
    repeated: list[Any] = [np.repeat(one, times, axis=0) for one in (few.shown, few.clicked, few.propensity)]
    many = LoggedPropensities(repeated[0], repeated[1], repeated[2])
    counted = LoggedPropensities(few.shown, few.clicked, few.propensity, times)
    found, wanted = (inverse_propensity(one, LISTS[[2, 4]], np.array([0.3, 0.7]), odds=ODDS) for one in (counted, many))
    for name in ("plain", "self_normalised", "doubly_robust", "matching", "effective_impressions", "mean_weight_error"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name))


def test_intervals_allow_for_items_that_compete() -> None:
    """Item 2 is always in slot 1: it leaves fewer clicks to slot 2 than slot 1 does on average over the log."""
    shown, clicked = drawn(3 * ODDS, 8_000, np.random.default_rng(10))
    data = LoggedPropensities(shown, clicked, np.full((8_000, 2), 1 / 3))
    every = np.array([[2, 0], [2, 1]]), np.full(2, 0.5)
    alone, competing = (inverse_propensity(data, *every, odds=odds) for odds in (None, 3 * ODDS))
    total = (3 * ODDS)[np.arange(2), every[0]].sum(axis=1)
    truth = float((total / (1 + total)).mean())
    assert competing.plain.click_rate == alone.plain.click_rate > alone.plain.low > truth
    assert competing.plain.low < truth < competing.plain.high == alone.plain.high


def test_a_slot_that_never_held_the_target_item_is_named() -> None:
    data = LoggedPropensities([[0, 1], [0, 1]], [0, NO_CLICK], [[1.0, 1.0], [1.0, 1.0]])
    found = inverse_propensity(data, np.array([[0, 2]]), np.ones(1))
    assert found.unseen == ("slot 2",)
    assert any("The log never showed the target's items in slot 2" in warning for warning in warnings_of(found))
    for rate in (found.plain, found.self_normalised):
        assert math.isnan(rate.click_rate)
        assert rate.high == 1.0
    with pytest.raises(InvalidInput, match="one entry per slot"):
        LoggedPropensities([[0, 1]], [0], [[0.5]])


#: one of two slots is filled, with item 0 or 1
ONE_SLOT = np.array([[0, EMPTY], [1, EMPTY], [EMPTY, 0], [EMPTY, 1]])


def of_one_slot(odds: Any, impressions: int, rng: np.random.Generator, *, by_item: bool) -> LoggedPropensities:
    """Slot 1 is filled three times as often as slot 2, and item 1 in 0.7 of the impressions of either."""
    which = rng.choice(4, impressions, p=np.outer([0.75, 0.25], [0.3, 0.7]).ravel())
    slot, item = np.divmod(which, 2)
    clicked = np.where(rng.random(impressions) < odds[slot, item] / (1 + odds[slot, item]), slot, NO_CLICK)
    chance = np.array([0.3, 0.7])[item]
    return LoggedPropensities(ONE_SLOT[which], clicked, np.repeat(chance[:, None], 2, axis=1) if by_item else chance)


@pytest.mark.parametrize("by_item", [False, True])
def test_a_log_that_fills_one_slot_against_itself(by_item: bool) -> None:
    """Each item is in each slot as often as its propensity says, so every estimate is the observed rate."""
    shown, clicked = np.repeat(ONE_SLOT, [50, 50, 25, 25], axis=0), np.full(150, NO_CLICK)
    clicked[:30], clicked[100:110] = 0, 1
    data = LoggedPropensities(shown, clicked, np.full((150, 2) if by_item else 150, 0.5))
    found = inverse_propensity(data, ONE_SLOT, np.array([2, 2, 1, 1]) / 6, odds=ODDS[:, :2])
    assert found.doubly_robust is not None
    for rate in (found.plain, found.self_normalised, found.doubly_robust):
        assert rate.click_rate == pytest.approx(40 / 150)
    assert found.mean_weight == pytest.approx(1.0)
    assert found.matching == 150
    assert found.effective_impressions == pytest.approx(50)


@pytest.mark.parametrize("model", [1.0, 5.0], ids=["right model", "wrong model"])
@pytest.mark.parametrize("by_item", [False, True])
@pytest.mark.parametrize("lists", [[0, 1, 2, 3], [0, 3]])
def test_pages_that_fill_one_slot(lists: list[int], by_item: bool, model: float) -> None:
    """Plain and doubly robust without bias, and intervals of 90 % that cover the truth."""
    rng = np.random.default_rng(8)
    odds, shares = ODDS[:, :2] / 2, np.full(len(lists), 1 / len(lists))
    rates = (odds / (1 + odds)).ravel()
    expected, estimates, covered = shares @ rates[lists], [], []
    for _ in range(300):
        data = of_one_slot(odds, 1_000, rng, by_item=by_item)
        found = inverse_propensity(data, ONE_SLOT[lists], shares, 0.9, model * odds)
        assert found.doubly_robust is not None
        every = (found.plain, found.doubly_robust, found.self_normalised)
        estimates.append([rate.click_rate for rate in every[:2]])
        covered.append([rate.low <= expected <= rate.high for rate in every])
    assert_mean_is(np.full(2, expected), estimates)
    assert_mean_is(np.clip(np.mean(covered, axis=0), 0.88, 0.92), covered)


def test_propensities_among_all_impressions() -> None:
    """They hold for pages that fill different slots as well, and the log says which propensities it has."""
    data = of_one_slot(ODDS[:, :2], 4_000, np.random.default_rng(9), by_item=False)
    share = np.where(data.shown[:, 0] == EMPTY, 0.25, 0.75)
    among_all = LoggedPropensities(data.shown, data.clicked, data.propensity * share)
    assert data.given_slots
    assert not among_all.given_slots
    one, other = (inverse_propensity(each, ONE_SLOT, np.full(4, 0.25)).plain for each in (data, among_all))
    assert one.click_rate == pytest.approx(other.click_rate, rel=0.05)


def test_an_empty_slot_in_the_middle() -> None:
    data = LoggedPropensities(
        [[0, EMPTY, 1], [1, EMPTY, 0]] * 50, [0, NO_CLICK, 2, NO_CLICK] * 25, np.full((100, 3), 0.5)
    )
    found = inverse_propensity(data, np.array([[0, EMPTY, 1]]), np.ones(1))
    assert found.plain.click_rate == pytest.approx(1.0)
    assert not found.unseen
    filled = inverse_propensity(data, np.array([[0, 1, EMPTY]]), np.ones(1))
    assert filled.unseen == ("slot 2",)
    assert filled.plain.low > 0.2
    assert filled.plain.high == 1.0


def test_whole_lists_in_slots_that_the_log_never_filled() -> None:
    """Half of the target has no counterpart in the log: it may bring no click, or a click each time."""
    data = LoggedPropensities([[0, EMPTY], [1, EMPTY]] * 500, [0, NO_CLICK] * 500, [0.5] * 1_000)
    found = inverse_propensity(data, np.array([[1, EMPTY], [EMPTY, 0]]), np.array([0.5, 0.5]), odds=ODDS[:, :2])
    assert found.unseen == ("slot 2 alone",)
    assert found.doubly_robust is not None
    for rate in (found.plain, found.self_normalised, found.doubly_robust):
        assert math.isnan(rate.click_rate)
        assert rate.low == pytest.approx(0.0, abs=0.001)
        assert rate.high == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("clicked", [0, NO_CLICK])
@pytest.mark.parametrize("propensity", [[0.5], [[0.5, 0.5]]], ids=["list", "items"])
def test_one_impression(propensity: Any, clicked: int) -> None:
    found = inverse_propensity(
        LoggedPropensities([[0, EMPTY]], [clicked], propensity), np.array([[0, EMPTY]]), np.ones(1), odds=ODDS
    )
    assert found.doubly_robust is not None
    for rate in (found.plain, found.self_normalised, found.doubly_robust):
        assert 0.0 <= rate.low <= rate.click_rate <= rate.high
        assert rate.high > 0.75
    assert "worth 1: too few to rely on" in " ".join(warnings_of(found))


def test_no_impression_with_a_propensity() -> None:
    none = LoggedPropensities(np.zeros((0, 2), int), np.zeros(0, int), np.zeros(0))
    assert math.isnan(inverse_propensity(none, np.array([[0, 1]]), np.ones(1)).plain.click_rate)
