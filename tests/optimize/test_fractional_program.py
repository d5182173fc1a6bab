from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.optimize import linprog

from slotwise import EMPTY, Goal
from slotwise.optimize.assignment import assigned
from slotwise.optimize.fractional_assignment import for_goal_pairs
from slotwise.optimize.fractional_program import for_goal_lists
from slotwise.optimize.list_solver import arrange, arrange_pairs
from slotwise.optimize.sort_solver import sorted_lists
from tests.optimize.problems import allowed_lists, best_value, random_numbers, random_problem, value_of
from tests.statistical_assertions import assert_frequencies


@pytest.mark.parametrize("known", [True, False], ids=["known bias", "believed bias"])
def test_the_list_is_the_best_of_all_that_are_allowed(known: bool) -> None:
    rng = np.random.default_rng(1)
    for _ in range(1_000):
        users, goal = random_problem(rng)
        bias, attractiveness = users.position_bias, users.attractiveness
        lists = for_goal_lists(goal, users.slots, users.items, bias if known else None)
        ranking = np.zeros(users.slots, np.int64)
        arrange(lists, attractiveness, bias, ranking, rng)
        weight = np.outer(bias, attractiveness)
        goal.ranking_of(ranking, slots=users.slots, items=users.items)
        assert value_of(weight, goal, ranking) == pytest.approx(best_value(weight, goal), rel=1e-12), (users, goal)


def test_pairs_make_the_best_list_of_all_that_are_allowed() -> None:
    rng = np.random.default_rng(3)
    for _ in range(1_000):
        users, goal = random_problem(rng)
        shape = users.slots, users.items
        weight, ranking = random_numbers(rng, shape, least=0.0), np.zeros(users.slots, np.int64)
        arrange_pairs(for_goal_pairs(goal, *shape), weight, ranking, rng)
        goal.ranking_of(ranking, slots=users.slots, items=users.items)
        assert value_of(weight, goal, ranking) == pytest.approx(best_value(weight, goal), rel=1e-11), (weight, goal)


def test_a_better_item_of_a_full_group_pushes_out_another() -> None:
    """10 + 1 for the two slots, where handing items on, or taking what is spare, makes 5 + 1 at most."""
    weight = np.array([[10.0, 1.0, 1.0, 1.0], [0.0, 5.0, 1.0, 1.0]])
    pairs = for_goal_pairs(Goal(groups=["a", "a", None, None], max_per_group={"a": 1}), 2, 4)
    ranking, rng = np.zeros(2, np.int64), np.random.default_rng(4)
    for _ in range(20):  # whichever slot comes first
        arrange_pairs(pairs, weight, ranking, rng)
        assert ranking[0] == 0
        assert ranking[1] in (2, 3)


def test_weights_of_grouped_pairs_match_linear_programming() -> None:
    """Larger than can be tried out. Without values the best list has the largest weight; the program is integral."""
    rng, slots, items = np.random.default_rng(5), 5, 14
    for _ in range(60):
        groups = rng.integers(0, 4, items)
        at_most = {int(group): int(rng.integers(1, 3)) for group in np.unique(groups)}
        goal = Goal(groups=groups.tolist(), max_per_group=at_most, may_be_empty=True)
        weight, ranking = random_numbers(rng, (slots, items), least=0.0), np.zeros(slots, np.int64)
        arrange_pairs(for_goal_pairs(goal, slots, items), weight, ranking, rng)
        goal.ranking_of(ranking, slots=slots, items=items)
        one_an_item = np.tile(np.eye(items), slots)
        one_a_slot = np.repeat(np.eye(slots), items, axis=1)
        of_a_group = np.tile([groups == group for group in at_most], slots)
        program = linprog(
            -weight.ravel(),
            A_ub=np.vstack([one_an_item, one_a_slot, of_a_group]),
            b_ub=[1.0] * (items + slots) + [float(most) for most in at_most.values()],
        )
        shown = ranking != EMPTY
        assert weight[np.flatnonzero(shown), ranking[shown]].sum() == pytest.approx(-(program.fun or 0.0))


def test_without_values_and_constraints_it_is_sorting_and_assigning() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        bias, attractiveness, weight = rng.random(5), rng.random(40), rng.random((5, 40))
        one, other = np.zeros(5, np.int64), np.zeros(5, np.int64)
        arrange(for_goal_lists(Goal(), 5, 40, bias), attractiveness, bias, one, rng)
        arrange(sorted_lists(5, 40, bias), attractiveness, bias, other, rng)
        assert one.tolist() == other.tolist()
        arrange_pairs(for_goal_pairs(Goal(), 5, 40), weight, one, rng)
        arrange_pairs(assigned(5, 40), weight, other, rng)
        assert one.tolist() == other.tolist()


def test_many_groups_of_pairs_agree_with_products() -> None:
    """Larger than can be tried out: two algorithms that share nothing but Dinkelbach's step."""
    rng = np.random.default_rng(4)
    for _ in range(30):
        slots, items = 7, 60
        bias, attractiveness = rng.random(slots), rng.exponential(1.0, items)
        groups = rng.integers(0, 6, items).tolist()
        goal = Goal(
            rng.exponential(1.0, items),
            pin={5: 2, 9: 0},
            groups=groups,
            max_per_group={group: 1 + int(group in (groups[5], groups[9])) for group in set(groups)},
            may_be_empty=bool(rng.integers(2)),
        )
        one, other = np.zeros(slots, np.int64), np.zeros(slots, np.int64)
        arrange(for_goal_lists(goal, slots, items, bias), attractiveness, bias, one, rng)
        weight = np.outer(bias, attractiveness)
        arrange_pairs(for_goal_pairs(goal, slots, items), weight, other, rng)
        assert value_of(weight, goal, one) == pytest.approx(value_of(weight, goal, other), rel=1e-11)


def test_no_label_is_favoured_among_equals() -> None:
    """Five items alike, two of them in a group of at most one: every allowed list is equally likely by products."""
    goal = Goal(groups=["a", "a", None, None], max_per_group={"a": 1})
    lists, pairs = for_goal_lists(goal, 2, 4, None), for_goal_pairs(goal, 2, 4)
    every = [tuple(ranking.tolist()) for ranking in allowed_lists(goal, 2, 4)]
    assert len(every) == 10
    ranking, rng = np.zeros(2, np.int64), np.random.default_rng(5)
    seen: Counter[tuple[int, ...]] = Counter()
    items: Counter[int] = Counter()
    for _ in range(6_000):
        arrange(lists, np.ones(4), np.ones(2), ranking, rng)
        seen[tuple(ranking.tolist())] += 1
        arrange_pairs(pairs, np.ones((2, 4)), ranking, rng)
        items.update(ranking.tolist())
    assert set(seen) <= set(every)
    # the priority of each item is drawn independently: the set is {best of a, 2, 3} less the least of them
    for one, other in itertools.combinations(range(4), 2):
        assert seen[one, other] + seen[other, one] > 0 or {one, other} == {0, 1}
    for one, other in ((0, 1), (2, 3)):
        assert_frequencies([0.5, 0.5], [items[one], items[other]])
        first, second = (sum(count for shown, count in seen.items() if item in shown) for item in (one, other))
        assert_frequencies([0.5, 0.5], [first, second])
    by_slot = [Counter(ranking[slot] for ranking in seen.elements()) for slot in range(2)]
    for item in range(4):
        assert_frequencies([0.5, 0.5], [by_slot[0][item], by_slot[1][item]])


def test_unshown_items_are_tried_by_value_and_only_above_the_known_reward() -> None:
    """Item 0 is known to bring 1·2/(1+2) = 0.67 alone: new items of less are left alone."""
    goal = Goal([1.0, 0.9, 0.8, 0.5], may_be_empty=True)
    lists = for_goal_lists(goal, 2, 4, np.array([1.0, 0.5]))
    ranking, rng = np.zeros(2, np.int64), np.random.default_rng(6)
    bias = np.array([1.0, 0.5])
    arrange(lists, np.array([2.0, np.inf, np.inf, np.inf]), bias, ranking, rng)
    assert ranking.tolist() == [1, 0]
    arrange(lists, np.array([2.0, 0.1, np.inf, np.inf]), bias, ranking, rng)
    assert ranking.tolist()[0] == 2
    arrange(lists, np.array([2.0, 0.1, 0.1, np.inf]), bias, ranking, rng)
    assert 3 not in ranking.tolist()


def test_infinite_pairs_come_first_where_they_are_dear() -> None:
    pairs, ranking = for_goal_pairs(Goal([1.0, 0.1, 0.5]), 2, 3), np.zeros(2, np.int64)
    weight = np.array([[1.0, np.inf, 1.0], [np.inf, np.inf, 1.0]])
    arrange_pairs(pairs, weight, ranking, np.random.default_rng(7))
    assert ranking.tolist() == [2, 0]
    assert np.isfinite(weight).all()


def test_nothing_is_shown_where_nothing_may_be() -> None:
    goal = Goal(exclude=[0, 1], may_be_empty=True)
    ranking = np.zeros(2, np.int64)
    arrange(for_goal_lists(goal, 2, 2, None), np.ones(2), np.ones(2), ranking, np.random.default_rng(8))
    assert ranking.tolist() == [EMPTY, EMPTY]
    arrange_pairs(for_goal_pairs(goal, 2, 2), np.ones((2, 2)), ranking, np.random.default_rng(8))
    assert ranking.tolist() == [EMPTY, EMPTY]
