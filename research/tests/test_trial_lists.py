from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from research.pmed.trial_lists import MAX_LISTS, TrialLists, find_shares, trial_lists
from slotwise.core.types import FloatArray

pytestmark = pytest.mark.usefixtures("interpreting")


def _kl(p: float, q: float) -> float:
    return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))


def _found(position_bias: list[float], attraction: list[float]) -> tuple[float, TrialLists]:
    trial = trial_lists(len(position_bias), len(attraction))
    trial.attraction[:], trial.position_bias[:] = attraction, position_bias
    return find_shares(trial), trial


def test_with_one_slot_it_is_the_limit_of_lai_and_robbins() -> None:
    attraction = [0.6, 0.5, 0.3, 0.1]
    limit, trial = _found([1.0], attraction)
    assert trial.shares.tolist() == pytest.approx([1 / _kl(theta, 0.6) for theta in attraction[1:]])
    assert limit == pytest.approx(sum((0.6 - theta) / _kl(theta, 0.6) for theta in attraction[1:]))


def _told(trial: TrialLists, theta: FloatArray, kappa: FloatArray) -> list[float]:
    """Per list, how well it tells these parameters from the truth."""
    return [
        sum(
            _kl(trial.attraction[item] * trial.position_bias[slot], theta[item] * kappa[slot])
            for slot, item in enumerate(ranking)
            if item != slot
        )
        for ranking in trial.lists
    ]


def test_with_two_slots_and_three_items_it_matches_a_grid_of_all_alternatives() -> None:
    attraction, bias = [0.7, 0.5, 0.3], [1.0, 0.6]
    limit, trial = _found(bias, attraction)
    seen = attraction[1] * bias[1]
    grid = np.linspace(0.01, 0.999, 300)
    # the two change places: κ' is what makes them equal, and the third may be anything
    rows = [_told(trial, np.array([0.7, 0.7, other]), np.array([1.0, seen / 0.7])) for other in grid]
    # the third comes in: κ' may be anything, and the third is as attractive as the second
    rows += [
        _told(trial, np.array([0.7, seen / kappa, seen / kappa]), np.array([1.0, kappa]))
        for kappa in grid
        if seen / kappa < 0.999
    ]
    exact = linprog(trial.cost, A_ub=-np.array(rows), b_ub=-np.ones(len(rows)))
    assert limit == pytest.approx(exact.fun, rel=0.01)


def test_near_alternatives_must_be_tried_more_often() -> None:
    apart, _ = _found([1.0, 0.5], [0.6, 0.4, 0.2, 0.1])
    near, _ = _found([1.0, 0.5], [0.6, 0.4, 0.35, 0.1])
    assert near > apart


def test_lists_move_items_along_and_none_is_the_best() -> None:
    lists = {tuple(ranking) for ranking in trial_lists(2, 3).lists.tolist()}
    assert lists == {(0, 2), (1, 0), (1, 2), (2, 0), (2, 1)}
    many = trial_lists(8, 30).lists
    assert len(many) < 30 * 30
    assert len(trial_lists(4, 10).lists) <= MAX_LISTS
    assert all(len(set(ranking)) == 8 for ranking in many.tolist())
    assert trial_lists(1, 1).lists.shape == (0, 1)


def test_equal_items_are_not_asked_about() -> None:
    """No list tells which of two equals is better; the others are still told."""
    limit, trial = _found([1.0, 0.5], [0.5, 0.5, 0.2])
    assert math.isfinite(limit)
    assert trial.shares.sum() > 0.0
