"""Rules imposed one after the other on one record, each time against trying every list."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slotwise.click_models import MNL
from slotwise.core.types import EMPTY
from slotwise.optimize import Goal
from slotwise.optimize.dynamic_constraints import impose, per_decision_lists, per_decision_pairs, pins
from slotwise.optimize.goal_value import expected_value
from slotwise.optimize.list_solver import arrange, arrange_pairs
from tests.optimize.problems import best_list_by_brute_force

SLOTS, ITEMS = 3, 5
NOTHING = np.zeros(0, np.int64)


def _users(rng: np.random.Generator, slots: int = SLOTS) -> MNL:
    return MNL(position_bias=rng.uniform(0.1, 1.0, slots), attractiveness=rng.uniform(0.1, 2.0, ITEMS))


def _rules(rng: np.random.Generator) -> tuple[Any, list[int], dict[int, int]]:
    values = rng.integers(1, 9, ITEMS).astype(float) if rng.random() < 0.6 else None
    excluded, pinned = rng.permutation(ITEMS)[: rng.integers(0, 3)].tolist(), {}
    if rng.random() < 0.6:
        item = int(rng.choice([item for item in range(ITEMS) if item not in excluded]))
        pinned[item] = int(rng.integers(SLOTS))
    return values, excluded, pinned


@pytest.mark.parametrize("pairs", [False, True], ids=["items", "pairs"])
def test_the_list_is_the_best_of_those_allowed_however_the_rules_change(pairs: bool) -> None:
    rng = np.random.default_rng(1)
    lists: Any = per_decision_pairs(SLOTS, ITEMS) if pairs else per_decision_lists(SLOTS, ITEMS, None)
    ranking = np.zeros(SLOTS, np.int64)
    for turn in range(150):
        users = _users(rng)
        # every third time none: the record sorts again
        values, excluded, pinned = _rules(rng) if turn % 3 else (None, [], {})
        goal = Goal(values=values, exclude=excluded, pin=pinned)
        weights = np.ones(ITEMS) if values is None else values
        impose(lists, weights, np.array(excluded, np.int64), pins(SLOTS, ITEMS - len(excluded), pinned))
        assert lists.are_rules == bool(values is not None or excluded or pinned)
        if pairs:
            # the assignment maximises clicks added up, which is the best list only where they are few
            users = MNL(position_bias=users.position_bias, attractiveness=users.attractiveness * 1e-6)
            arrange_pairs(lists, np.outer(users.position_bias, users.attractiveness), ranking, rng)
        else:
            arrange(lists, users.attractiveness, users.position_bias, ranking, rng)
        best = best_list_by_brute_force(users, goal)
        assert expected_value(users, goal, ranking) == pytest.approx(expected_value(users, goal, best), rel=1e-6)


@pytest.mark.parametrize("pairs", [False, True], ids=["items", "pairs"])
def test_slots_that_nothing_is_left_for_stay_empty_at_the_end(pairs: bool) -> None:
    rng = np.random.default_rng(2)
    lists: Any = per_decision_pairs(SLOTS, ITEMS) if pairs else per_decision_lists(SLOTS, ITEMS, None)
    for _ in range(30):
        excluded = rng.permutation(ITEMS)[:3]
        impose(lists, np.ones(ITEMS), excluded, pins(SLOTS, 2))
        # the last slot is the most visible, and yet the one that stays empty
        bias, attractiveness, ranking = np.array([0.2, 0.4, 0.9]), rng.uniform(0.1, 2.0, ITEMS), np.zeros(3, np.int64)
        if pairs:
            arrange_pairs(lists, np.outer(bias, attractiveness), ranking, rng)
        else:
            arrange(lists, attractiveness, bias, ranking, rng)
        left = np.setdiff1d(np.arange(ITEMS), excluded)
        assert ranking.tolist() == [*left[np.argsort(attractiveness[left])].tolist(), EMPTY]


def test_ties_are_broken_at_random_under_rules_too() -> None:
    rng = np.random.default_rng(4)
    lists = per_decision_lists(1, 4, None)
    impose(lists, np.ones(4), np.array([2]), pins(1, 3))
    ranking = np.zeros(1, np.int64)
    seen = set()
    for _ in range(200):
        arrange(lists, np.ones(4), np.ones(1), ranking, rng)
        seen.add(int(ranking[0]))
    # each is missed with probability (2/3)^200
    assert seen == {0, 1, 3}
