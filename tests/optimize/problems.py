"""Small problems with goals of every kind, and what is best for them by trying everything."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from slotwise import EMPTY, MNL, Goal
from slotwise.click_models.base import allowed, reward
from slotwise.core.errors import InvalidInput
from slotwise.core.types import FloatArray, Ranking
from slotwise.optimize.compiled_constraints import rules_of
from slotwise.optimize.goal_value import Valued, valued


def random_goal(rng: np.random.Generator, slots: int, items: int) -> Goal:
    """Any combination of values, pins, exclusions, groups and empty slots that can be met, each as likely as not."""
    while True:
        pins = int(rng.integers(1, slots + 1)) if rng.random() < 0.4 else 0
        order = rng.permutation(items).tolist()
        groups = [("a", "a", "b", "b", None)[number] for number in rng.integers(5, size=items)]
        goal = Goal(
            random_numbers(rng, items, least=0.0) if rng.random() < 0.8 else None,
            pin=dict(zip(order[:pins], rng.permutation(slots).tolist(), strict=False)),
            exclude=order[pins : pins + int(rng.integers(0, 3))] if rng.random() < 0.4 else (),
            groups=groups,
            max_per_group={label: int(rng.integers(0, 3)) for label in {*groups} - {None} if rng.random() < 0.8},
            may_be_empty=bool(rng.random() < 0.5),
        )
        try:
            goal.check(slots, items)
        except InvalidInput:
            continue
        return goal


def random_numbers(rng: np.random.Generator, shape: int | tuple[int, int], least: float = 0.5) -> FloatArray:
    """Numbers with ties, or without."""
    return rng.choice([least, 1.0, 2.0], shape) if rng.random() < 0.3 else least / 10 + rng.exponential(1.0, shape)


def random_problem(rng: np.random.Generator) -> tuple[MNL, Goal]:
    """Small enough for every list to be tried."""
    items = int(rng.integers(1, 7))
    slots = int(rng.integers(1, min(items, 3) + 1))
    users = MNL(position_bias=random_numbers(rng, slots), attractiveness=random_numbers(rng, items))
    return users, random_goal(rng, slots, items)


def value_of(weight: FloatArray, goal: Goal, ranking: Any) -> float:
    """Σ_k v γ_k/(1+S) for any weights γ_kj, as it is written."""
    shown = [(slot, item) for slot, item in enumerate(ranking) if item != EMPTY]
    values = np.ones(weight.shape[1]) if goal.values is None else goal.values
    total = sum(weight[slot, item] for slot, item in shown)
    return float(sum(weight[slot, item] * values[item] for slot, item in shown) / (1.0 + total))


def best_value(weight: FloatArray, goal: Goal, holding: Any = None) -> float:
    """The largest value of all allowed lists, or of those that hold the same as another."""
    lists = [ranking.tolist() for ranking in allowed_lists(goal, *weight.shape)]
    return max(
        value_of(weight, goal, ranking) for ranking in lists if holding is None or sorted(ranking) == sorted(holding)
    )


def best_list_by_brute_force(users: MNL, goal: Goal) -> Ranking:
    """An allowed list of the largest expected value, by trying every list."""
    judged = valued(users, goal)
    return max(allowed_lists(goal, users.slots, users.items), key=lambda ranking: reward(judged, ranking))


def allowed_lists(goal: Goal, slots: int, items: int) -> list[Ranking]:
    """Every list that `goal` allows."""
    rules = rules_of(goal, slots, items)
    one_each = Valued(position_bias=np.ones(slots), attractiveness=np.ones(items), rules=rules)
    entries = [*range(items), *[EMPTY] * (slots if goal.may_be_empty else 0)]
    every = sorted(set(itertools.permutations(entries, slots)))
    return [np.array(ranking) for ranking in every if allowed(one_each, np.array(ranking))]
