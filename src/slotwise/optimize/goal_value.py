"""The expected value of a list, and the best list for a goal."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from slotwise.click_models.base import allowed, draw, may_be_empty, reward
from slotwise.click_models.mnl import MNL, draw_slot
from slotwise.core.goal import Goal
from slotwise.core.types import EMPTY, FloatArray, Ranking
from slotwise.jit import record
from slotwise.optimize.compiled_constraints import ANYWHERE, Constraints, rules_of
from slotwise.optimize.fractional_program import for_goal_lists
from slotwise.optimize.list_solver import arrange


@record
class Valued:
    """Users who choose by multinomial logit, with a goal: the reward of a list is its expected value."""

    position_bias: FloatArray
    attractiveness: FloatArray
    rules: Constraints

    @property
    def slots(self) -> int:
        """K."""
        return len(self.position_bias)

    @property
    def items(self) -> int:
        """J."""
        return len(self.attractiveness)


def valued(users: MNL, goal: Goal) -> Valued:
    """Return the users with `goal`, whose reward is the expected value."""
    rules = rules_of(goal, users.slots, users.items)
    return Valued(position_bias=users.position_bias, attractiveness=users.attractiveness, rules=rules)


@draw.register(Valued)
def _draw(users: Valued, ranking: Ranking, rng: np.random.Generator) -> int:
    return draw_slot(users.position_bias, users.attractiveness, ranking, True, rng)


@reward.register(Valued)
def _reward(users: Valued, ranking: Ranking) -> float:
    position_bias, attractiveness, values = users.position_bias, users.attractiveness, users.rules.values
    total, worth = 1.0, 0.0
    for slot in range(len(ranking)):
        if ranking[slot] != EMPTY:
            weight = position_bias[slot] * attractiveness[ranking[slot]]
            total += weight
            worth += weight * values[ranking[slot]]
    return worth / total


@may_be_empty.register(Valued)
def _may_be_empty(users: Valued) -> bool:
    return users.rules.may_be_empty


@allowed.register(Valued)
def _allowed(users: Valued, ranking: Ranking) -> bool:
    rules = users.rules
    for slot in range(len(ranking)):
        item = ranking[slot]
        if rules.pin[slot] != EMPTY and item != rules.pin[slot]:
            return False
        if item == EMPTY:
            if not rules.may_be_empty:
                return False
            continue
        if rules.place[item] != ANYWHERE and rules.place[item] != slot:
            return False
        group = rules.group[item]
        if group >= 0:
            # counted here and not in the record, because threads share it
            together = 0
            for other in ranking:
                if other != EMPTY and rules.group[other] == group:
                    together += 1
            if together > rules.limit[group]:
                return False
    return True


def expected_value(users: MNL, goal: Goal, ranking: ArrayLike) -> float:
    """Return the expected value Σ_k v γ_k/(1+S) of a list.

    Parameters
    ----------
    users
        Position bias and attractiveness.
    goal
        Values and constraints.
    ranking
        A list that `goal` allows.

    Examples
    --------
    >>> users = MNL(position_bias=[1.0, 0.5], attractiveness=[1.0, 2.0])
    >>> expected_value(users, Goal(values=[3.0, 1.0]), [0, 1])      # (1·3 + 1·1)/(1 + 1 + 1)
    1.3333333333333333
    """
    shown = goal.ranking_of(ranking, slots=users.slots, items=users.items)
    return float(reward(valued(users, goal), shown))


def best_list(users: MNL, goal: Goal) -> Ranking:
    """Return an allowed list of the largest expected value.

    Parameters
    ----------
    users
        Position bias and attractiveness.
    goal
        Values and constraints.

    Examples
    --------
    >>> users = MNL(position_bias=[1.0, 0.5], attractiveness=[1.0, 2.0])
    >>> best_list(users, Goal(values=[3.0, 1.0])).tolist()          # against attractiveness
    [0, 1]
    >>> best_list(users, Goal(values=[3.0, 1.0], may_be_empty=True)).tolist()
    [0, -2]
    """
    lists = for_goal_lists(goal, users.slots, users.items, users.position_bias)
    ranking = np.full(users.slots, EMPTY)
    arrange(lists, users.attractiveness, users.position_bias, ranking, np.random.default_rng(0))
    return ranking
