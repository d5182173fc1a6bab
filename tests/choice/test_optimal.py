from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slotwise import EMPTY, MNL, Goal
from slotwise.choice.arrange import arrange, arrange_pairs, rearrange
from slotwise.choice.optimal import optimal
from slotwise.choice.optimal_pairs import optimal_pairs
from slotwise.choice.sorted import assigned, sorted_lists
from slotwise.choice.valued import allowed_lists
from tests.chance import assert_frequencies
from tests.choice.problems import best_value, goals, problems, value_of, weights


@given(problems(), st.booleans(), st.integers(0, 99))
@settings(max_examples=300, deadline=None)
def test_the_list_is_the_best_of_all_that_are_allowed(problem: tuple[MNL, Goal], known: bool, seed: int) -> None:
    users, goal = problem
    bias, attractiveness = users.position_bias, users.attractiveness
    lists = optimal(goal, users.slots, users.items, bias if known else None)
    ranking = np.zeros(users.slots, np.int64)
    arrange(lists, attractiveness, bias, ranking, np.random.default_rng(seed))
    weight = np.outer(bias, attractiveness)
    goal.ranking_of(ranking, slots=users.slots, items=users.items)
    assert value_of(weight, goal, ranking) == pytest.approx(best_value(weight, goal), rel=1e-12)


@given(problems(), st.integers(0, 99))
@settings(max_examples=300, deadline=None)
def test_the_order_is_the_best_of_its_set(problem: tuple[MNL, Goal], seed: int) -> None:
    users, goal = problem
    bias, attractiveness = users.position_bias, users.attractiveness
    rng = np.random.default_rng(seed)
    every = allowed_lists(goal, users.slots, users.items)
    before = every[rng.integers(len(every))]
    ranking = before.copy()
    rearrange(optimal(goal, users.slots, users.items, None), attractiveness, bias, ranking, rng)
    weight = np.outer(bias, attractiveness)
    goal.ranking_of(ranking, slots=users.slots, items=users.items)
    assert sorted(ranking) == sorted(before)
    assert value_of(weight, goal, ranking) == pytest.approx(best_value(weight, goal, holding=before), rel=1e-12)


@given(st.data(), st.integers(0, 99))
@settings(max_examples=300, deadline=None)
def test_pairs_make_the_best_list_of_all_that_are_allowed(data: st.DataObject, seed: int) -> None:
    items = data.draw(st.integers(1, 5))
    slots = data.draw(st.integers(1, min(items, 4)))
    rows = st.lists(st.just(0.0) | weights, min_size=items, max_size=items)
    weight = np.array(data.draw(st.lists(rows, min_size=slots, max_size=slots)))
    goal = data.draw(goals(slots, items))
    ranking = np.zeros(slots, np.int64)
    arrange_pairs(optimal_pairs(goal, slots, items), weight, ranking, np.random.default_rng(seed))
    goal.ranking_of(ranking, slots=slots, items=items)
    assert value_of(weight, goal, ranking) == pytest.approx(best_value(weight, goal), rel=1e-11)


def test_without_values_and_constraints_it_is_sorting_and_assigning() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        bias, attractiveness, weight = rng.random(5), rng.random(40), rng.random((5, 40))
        one, other = np.zeros(5, np.int64), np.zeros(5, np.int64)
        arrange(optimal(Goal(), 5, 40, bias), attractiveness, bias, one, rng)
        arrange(sorted_lists(5, 40, bias), attractiveness, bias, other, rng)
        assert one.tolist() == other.tolist()
        arrange_pairs(optimal_pairs(Goal(), 5, 40), weight, one, rng)
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
            pinned={5: 2, 9: 0},
            groups=groups,
            at_most={group: 1 + int(group in (groups[5], groups[9])) for group in set(groups)},
            may_be_empty=bool(rng.integers(2)),
        )
        one, other = np.zeros(slots, np.int64), np.zeros(slots, np.int64)
        arrange(optimal(goal, slots, items, bias), attractiveness, bias, one, rng)
        weight = np.outer(bias, attractiveness)
        arrange_pairs(optimal_pairs(goal, slots, items), weight, other, rng)
        assert value_of(weight, goal, one) == pytest.approx(value_of(weight, goal, other), rel=1e-11)


def test_no_label_is_favoured_among_equals() -> None:
    """Five items alike, two of them in a group of at most one: every allowed list is equally likely by products."""
    goal = Goal(groups=["a", "a", None, None], at_most={"a": 1})
    lists, pairs = optimal(goal, 2, 4, None), optimal_pairs(goal, 2, 4)
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


def test_what_was_never_shown_is_tried_dearest_first_and_only_if_it_is_dear_enough() -> None:
    """Item 0 is known to bring 1·2/(1+2) = 0.67 alone: new items of less are left alone."""
    goal = Goal([1.0, 0.9, 0.8, 0.5], may_be_empty=True)
    lists, ranking, rng = optimal(goal, 2, 4, np.array([1.0, 0.5])), np.zeros(2, np.int64), np.random.default_rng(6)
    bias = np.array([1.0, 0.5])
    arrange(lists, np.array([2.0, np.inf, np.inf, np.inf]), bias, ranking, rng)
    assert ranking.tolist() == [1, 0]
    arrange(lists, np.array([2.0, 0.1, np.inf, np.inf]), bias, ranking, rng)
    assert ranking.tolist()[0] == 2
    arrange(lists, np.array([2.0, 0.1, 0.1, np.inf]), bias, ranking, rng)
    assert 3 not in ranking.tolist()


def test_infinite_pairs_come_first_where_they_are_dear() -> None:
    pairs, ranking = optimal_pairs(Goal([1.0, 0.1, 0.5]), 2, 3), np.zeros(2, np.int64)
    weight = np.array([[1.0, np.inf, 1.0], [np.inf, np.inf, 1.0]])
    arrange_pairs(pairs, weight, ranking, np.random.default_rng(7))
    assert ranking.tolist() == [2, 0]
    assert np.isfinite(weight).all()


def test_nothing_is_shown_where_nothing_may_be() -> None:
    goal = Goal(excluded=[0, 1], may_be_empty=True)
    ranking = np.zeros(2, np.int64)
    arrange(optimal(goal, 2, 2, None), np.ones(2), np.ones(2), ranking, np.random.default_rng(8))
    assert ranking.tolist() == [EMPTY, EMPTY]
    rearrange(optimal(goal, 2, 2, None), np.ones(2), np.ones(2), ranking, np.random.default_rng(8))
    assert ranking.tolist() == [EMPTY, EMPTY]
    arrange_pairs(optimal_pairs(goal, 2, 2), np.ones((2, 2)), ranking, np.random.default_rng(8))
    assert ranking.tolist() == [EMPTY, EMPTY]
