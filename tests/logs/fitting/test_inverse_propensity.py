"""Inverse propensity: unbiased where chance chose the lists, and plain about where it did not."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from slotwise import NO_CLICK
from slotwise.errors import InvalidInput
from slotwise.logs.fitting.inverse_propensity import Logged, inverse_propensity, warnings_of
from tests.chance import assert_mean_is

ODDS = np.outer([1.0, 0.4], [0.5, 0.2, 0.9])
LISTS = np.array(list(itertools.permutations(range(3), 2)))
#: not all lists are equally likely
CHANCES = np.array([0.05, 0.1, 0.15, 0.2, 0.2, 0.3])
SUMS = ODDS[np.arange(2), LISTS].sum(axis=1)
TRUE = SUMS / (1 + SUMS)


def logged(impressions: int, rng: np.random.Generator) -> Logged:
    which = rng.choice(len(LISTS), impressions, p=CHANCES)
    clicked = np.where(rng.random(impressions) < TRUE[which], 0, NO_CLICK)
    return Logged(LISTS[which], clicked, CHANCES[which])


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
    data = Logged(lists[rng.integers(0, 20, 400)], np.full(400, NO_CLICK), np.full(400, 0.05))
    weights = rng.dirichlet(np.ones(20))
    every = inverse_propensity(data, lists, weights)
    one_by_one = [inverse_propensity(data, lists[[i]], np.ones(1)).mean_weight for i in range(20)]
    assert every.mean_weight == pytest.approx(weights @ one_by_one)


@pytest.mark.parametrize(
    ("value", "said"), [(0.0, "0.0"), (1.5, "1.5"), (None, "null"), (float("nan"), "null"), (-0.1, "-0.1")]
)
def test_what_is_no_probability_is_named(value: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=f"at most 1, got {said} for impression 2 .1 of 3 are not"):
        Logged([[0], [1], [0]], [0, NO_CLICK, 0], [0.5, value, 0.5])


def test_shapes_are_checked() -> None:
    with pytest.raises(InvalidInput, match="propensity must have one entry per impression, 2, got 1"):
        Logged([[0], [1]], [0, 0], [0.5])
    with pytest.raises(InvalidInput, match="clicked must be"):
        Logged([[0], [1]], [0], [0.5, 0.5])


def test_warnings() -> None:
    rng = np.random.default_rng(4)
    few = inverse_propensity(logged(300, rng), LISTS[[0]], np.ones(1))
    assert "too few to rely on" in warnings_of(few)[0]
    data = logged(20_000, rng)
    wrong = Logged(data.shown, data.clicked, np.full(20_000, 0.1))
    assert "should average 1" in warnings_of(inverse_propensity(wrong, LISTS[[5]], np.ones(1)))[0]
    none = inverse_propensity(Logged([[0, 1]], [0], [1.0]), np.array([[1, 0]]), np.ones(1))
    assert warnings_of(none) == ["No impression showed this list, so inverse propensity cannot say anything of it."]
    assert (none.plain.low, none.plain.high) == (0.0, 1.0)


def test_a_rate_of_nothing_has_an_interval() -> None:
    data = Logged([[0]] * 200, [NO_CLICK] * 200, [1.0] * 200)
    rate = inverse_propensity(data, np.array([[0]]), np.ones(1)).self_normalised
    # the score interval: z²/(n + z²)
    assert rate.click_rate == rate.low == 0.0
    assert rate.high == pytest.approx(1.96**2 / (200 + 1.96**2), rel=1e-3)
