from __future__ import annotations

import itertools
import math
import re
from typing import Any

import numpy as np
import pytest

from slotwise import EMPTY, Goal
from slotwise.core.errors import InvalidInput, InvalidRanking
from tests.optimize.problems import allowed_lists, random_goal


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"values": [1.0, math.nan]}, "values must be finite and not negative, at most 1e+100, got nan for item 1"),
        ({"values": [1.0, math.inf]}, "values must be finite and not negative, at most 1e+100, got inf for item 1"),
        ({"values": [-0.5, 1.0]}, "values must be finite and not negative, at most 1e+100, got -0.5 for item 0"),
        ({"values": [1e101]}, "values must be finite and not negative, at most 1e+100, got 1e+101 for item 0"),
        ({"values": []}, "values must be a list of at least one number, got []"),
        ({"values": ["1"]}, "values must be a list of numbers, got ['1']"),
        ({"values": [[1.0]]}, "values must be a list of at least one number, got [[1.0]]"),
        ({"values": 3.0}, "values must be a list of at least one number, got 3.0"),
        ({"pin": {0: 1, 2: 1}}, "pin puts both item 0 and item 2 into slot 1"),
        ({"pin": {-1: 0}}, "an item in pin must be at least 0, got -1"),
        ({"pin": {"x": 0}}, "an item in pin must be a whole number, got 'x'"),
        ({"pin": {0: 0.5}}, "the slot of item 0 in pin must be a whole number, got 0.5"),
        ({"pin": [0]}, "pin must map items to slots, got [0]"),
        ({"exclude": [1], "pin": {1: 0}}, "item 1 is both pinned, to slot 0, and excluded"),
        ({"exclude": [-2]}, "an item in exclude must be at least 0, got -2"),
        ({"exclude": [0.5]}, "an item in exclude must be a whole number, got 0.5"),
        ({"exclude": "12"}, "exclude must be a list of items, got '12'"),
        ({"exclude": 3}, "exclude must be a list of items, got 3"),
        ({"max_per_group": {"a": 1}}, "max_per_group limits group 'a', which no item of groups is in"),
        (
            {"groups": ["b", None], "max_per_group": {"a": 1}},
            "max_per_group limits group 'a', which no item of groups is in",
        ),
        (
            {"groups": ["b", None], "max_per_group": {None: 1}},
            "max_per_group limits group None, which no item of groups is in",
        ),
        ({"groups": ["a"], "max_per_group": {"a": -1}}, "max_per_group of group 'a' must be at least 0, got -1"),
        ({"groups": ["a"], "max_per_group": {"a": 1.5}}, "max_per_group of group 'a' must be a whole number, got 1.5"),
        ({"groups": ["a"], "max_per_group": ["a"]}, "max_per_group must map groups to numbers, got ['a']"),
        ({"groups": "aab"}, "groups must be a list of one label or None for each item, got 'aab'"),
        ({"groups": [["a", "b"], None]}, "a label in groups must be text, a number or None, got ['a', 'b']"),
        ({"may_be_empty": "no"}, "may_be_empty must be true or false, got 'no'"),
    ],
)
def test_contradictory_goals_are_rejected_by_name(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        Goal(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"values": [1.0, 2.0]}, "values must have one entry for each of the 4 items, got 2"),
        ({"groups": ["a"] * 5}, "groups must have one entry for each of the 4 items, got 5"),
        ({"pin": {4: 0}}, "pin names item 4, but items are 0 to 3"),
        ({"pin": {0: 3}}, "pin puts item 0 into slot 3, but slots are 0 to 2"),
        ({"exclude": [9]}, "exclude names item 9, but items are 0 to 3"),
        (
            {"groups": ["a", "a", None, None], "max_per_group": {"a": 1}, "pin": {0: 0, 1: 1}},
            "max_per_group allows 1 of group 'a', but 2 are pinned",
        ),
        ({"exclude": [0, 1]}, "exclude and max_per_group leave 2 items to show at once, which cannot fill 3 slots"),
        (
            {"groups": ["a", "a", "a", None], "max_per_group": {"a": 1}},
            "exclude and max_per_group leave 2 items to show at once, which cannot fill 3 slots",
        ),
    ],
)
def test_goals_that_do_not_fit_the_page_are_rejected_by_name(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        Goal(**fields).check(slots=3, items=4)


def test_empty_slots_make_few_items_enough() -> None:
    Goal(exclude=[0, 1, 2, 3], may_be_empty=True).check(slots=3, items=4)
    Goal(groups=["a"] * 4, max_per_group={"a": 0}, may_be_empty=True).check(slots=3, items=4)


@pytest.mark.parametrize(
    ("ranking", "message"),
    [
        ([1, 0, 2], "item 0 is pinned to slot 0, got [1, 0, 2]"),
        ([0, 1, 5], "item 5 is excluded, got [0, 1, 5]"),
        ([0, 1, 2], "at most 2 of group 'a' may be shown, got 3 in [0, 1, 2]"),
        ([0, EMPTY, 3], "a ranking holds items 0 to 5, got -2 in [0, -2, 3]"),
        ([0, 3, 3], "a ranking holds an item once, got [0, 3, 3]"),
    ],
)
def test_a_list_that_is_not_allowed_is_refused_by_name(ranking: list[int], message: str) -> None:
    goal = Goal(pin={0: 0}, exclude=[5], groups=["a", "a", "a", None, "b", "b"], max_per_group={"a": 2})
    with pytest.raises(InvalidRanking, match=re.escape(message)):
        goal.ranking_of(ranking, slots=3, items=6)
    assert goal.ranking_of([0, 1, 3], slots=3, items=6).tolist() == [0, 1, 3]


def test_compiled_rules_allow_the_same_lists_as_the_goal() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        items = int(rng.integers(1, 6))
        slots = int(rng.integers(1, min(items, 3) + 1))
        goal = random_goal(rng, slots, items)
        allowed = {tuple(ranking.tolist()) for ranking in allowed_lists(goal, slots, items)}
        assert allowed
        for ranking in itertools.product(range(-1, items), repeat=slots):
            try:
                goal.ranking_of(ranking, slots=slots, items=items)
            except InvalidRanking:
                assert ranking not in allowed
            else:
                assert ranking in allowed


def test_values_are_copied_and_stay() -> None:
    given_values = np.array([1.0, 2.0])
    goal = Goal(given_values)
    given_values[0] = 9.0
    assert goal.values is not None
    assert goal.values.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        goal.values[0] = 3.0
