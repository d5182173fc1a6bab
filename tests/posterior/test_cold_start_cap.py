"""The cold-start cap: new items take at most their share of the slots, unless nothing else can fill them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slotwise import NO_CLICK, Goal, PolicyTask
from slotwise.core.types import EMPTY, FloatArray, Ranking
from slotwise.jit import interpreted
from slotwise.optimize.dynamic_constraints import impose, pins
from slotwise.optimize.list_solver import arrange
from slotwise.optimize.solver_factory import make_lists
from slotwise.posterior import HierarchicalPosterior, apply_cold_start_cap, update
from tests.posterior.plain_posterior import plain_hierarchical_posterior

SLOTS = 3


def _warm(known: int, new: int, part: float = 0.2) -> HierarchicalPosterior:
    """Some items with a counted outcome, the others new, and no longer at the beginning."""
    posterior = plain_hierarchical_posterior(PolicyTask(SLOTS, known + new, 100), new_items_at_most=part)
    for first in range(0, known, SLOTS):
        update(posterior, np.array([(first + slot) % max(known, SLOTS) for slot in range(SLOTS)]), NO_CLICK)
    posterior.cold_start.slots_left = 0.0
    return posterior


def _lists(items: int, goal: Goal | None = None, *, per_decision: bool = False) -> Any:
    with interpreted():
        return make_lists(SLOTS, items, None, goal, per_decision)


def _chosen(posterior: HierarchicalPosterior, lists: Any, index: FloatArray, rng: np.random.Generator) -> Ranking:
    """As policies do it."""
    ranking = np.zeros(SLOTS, np.int64)
    with interpreted():
        arrange(lists, index, posterior.position_bias, ranking, rng)
        apply_cold_start_cap(posterior, lists, index, ranking, rng)
    return ranking


def _new_in(posterior: HierarchicalPosterior, ranking: Ranking) -> int:
    return sum(item != EMPTY and posterior.counts.item_rounds[item] == 0.0 for item in ranking)


INDICES: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "new ones best": lambda new, drawn: np.where(new, 2.0 + drawn, 1.0),
    "new ones best and equal": lambda new, drawn: np.where(new, 2.0, drawn),
    "all equal": lambda new, drawn: np.ones(len(drawn)),
    "random": lambda new, drawn: drawn,
}


def _index(name: str, posterior: HierarchicalPosterior, rng: np.random.Generator) -> FloatArray:
    return INDICES[name](posterior.counts.item_rounds == 0.0, rng.random(len(posterior.counts.item_rounds)))


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("part", [0.05, 0.2, 0.5, 1.0])
def test_new_items_take_their_part_in_the_long_run_and_no_more(index: str, part: float) -> None:
    """Their outcomes never come here, so that they stay new."""
    posterior, lists, rng = _warm(5, 6, part), _lists(11), np.random.default_rng(1)
    taken, decisions = 0, 200
    for now in range(1, decisions + 1):
        ranking = _chosen(posterior, lists, _index(index, posterior, rng), rng)
        assert len(set(ranking.tolist())) == SLOTS
        taken += _new_in(posterior, ranking)
        assert taken <= part * SLOTS * now + 1e-9
    if index.startswith("new ones best"):
        assert taken > part * SLOTS * decisions - 1.0


@settings(max_examples=40)
@given(st.data(), st.floats(0.05, 1.0), st.integers(SLOTS, 6), st.integers(0, 5))
def test_no_index_gives_them_more(data: st.DataObject, part: float, known: int, new: int) -> None:
    """Few values, so that there are ties; values of items that turn the order of the indices round.

    All items are worth more than the best list earns a visit. Where one is worth less, a list that must be full is best
    with an item that nobody clicks in its place, and that is what an item looks like that is held back.
    """
    posterior, items, rng = _warm(known, new, part), known + new, np.random.default_rng(2)
    few, worths = st.sampled_from([0.1, 0.2, 0.5]), st.sampled_from([1.0, 1.3, 1.6])
    worth = data.draw(st.one_of(st.none(), st.lists(worths, min_size=items, max_size=items)))
    lists, taken = _lists(items, None if worth is None else Goal(values=worth)), 0
    for now in range(1, 9):
        index = np.array(data.draw(st.lists(few, min_size=items, max_size=items)))
        taken += _new_in(posterior, _chosen(posterior, lists, index, rng))
        assert taken <= part * SLOTS * now + 1e-9


def test_the_best_of_the_new_ones_come_first_and_the_list_is_otherwise_that_of_the_index() -> None:
    posterior, lists, rng = _warm(5, 4, 1 / 3), _lists(9), np.random.default_rng(3)
    index = np.array([0.5, 0.4, 0.3, 0.2, 0.1, 2.0, 4.0, 3.0, 1.0])
    assert set(_chosen(posterior, lists, index, rng).tolist()) == {6, 0, 1}


def test_unused_slots_are_saved_up_for_one_list_at_most() -> None:
    posterior, lists, rng = _warm(5, 6, 0.5), _lists(11), np.random.default_rng(4)
    for _ in range(50):
        assert (
            _new_in(
                posterior,
                _chosen(posterior, lists, _index("random", posterior, rng) * (posterior.counts.item_rounds > 0), rng),
            )
            == 0
        )
    assert posterior.cold_start.slots_left == SLOTS
    taken = [
        _new_in(posterior, _chosen(posterior, lists, _index("new ones best", posterior, rng), rng)) for _ in range(9)
    ]
    assert taken[0] == SLOTS
    assert sum(taken) <= SLOTS + 8 * 0.5 * SLOTS


def test_a_cold_start_is_not_capped_until_a_list_has_no_new_item() -> None:
    posterior, lists, rng = plain_hierarchical_posterior(PolicyTask(SLOTS, 7, 100)), _lists(7), np.random.default_rng(5)
    for _ in range(3):
        index, ranking = _index("new ones best", posterior, rng), np.zeros(SLOTS, np.int64)
        with interpreted():
            arrange(lists, index, posterior.position_bias, ranking, rng)
            before = ranking.tolist()
            assert not apply_cold_start_cap(posterior, lists, index, ranking, rng)
        assert ranking.tolist() == before
        assert _new_in(posterior, ranking) > 0
        assert posterior.cold_start.slots_left == math.inf
        update(posterior, ranking, NO_CLICK)
    assert (posterior.counts.item_rounds > 0).all()
    _chosen(posterior, lists, _index("random", posterior, rng), rng)
    # from here on there is something to keep
    assert posterior.cold_start.slots_left == 0.0
    posterior.counts.item_rounds[2] = 0.0
    assert 2 not in _chosen(posterior, lists, _index("new ones best", posterior, rng), rng)


def test_where_all_that_is_left_is_new_it_is_shown() -> None:
    posterior, lists, rng = _warm(2, 5), _lists(7), np.random.default_rng(7)
    posterior.counts.item_rounds[2] = 0.0  # counted to fill the list that the others were counted in
    for _ in range(10):
        ranking = _chosen(posterior, lists, _index("new ones best", posterior, rng), rng)
        assert {0, 1} < set(ranking.tolist())
        assert _new_in(posterior, ranking) == 1
        assert posterior.cold_start.slots_left == 0.0


def test_exclusions_of_a_decision_are_kept_and_other_items_are_shown() -> None:
    posterior, lists, rng = _warm(5, 4), _lists(9, per_decision=True), np.random.default_rng(8)
    worth, nobody = np.ones(9), np.zeros(0, np.int64)
    taken, free = 0, 0
    for now in range(60):
        excluded = np.array([0, 1, 2, 5]) if now % 2 else nobody
        with interpreted():
            impose(lists, worth, excluded, pins(SLOTS, 9 - len(excluded)))
        ranking = _chosen(posterior, lists, _index("new ones best and equal", posterior, rng), rng)
        assert not set(ranking.tolist()) & set(excluded.tolist())
        if now % 2:
            # two known ones are left for three slots
            assert {3, 4} <= set(ranking.tolist()) or _new_in(posterior, ranking) <= 1 + 0.2 * SLOTS * 2
            assert _new_in(posterior, ranking) >= 1
        else:
            taken, free = taken + _new_in(posterior, ranking), free + 1
    assert taken <= 0.2 * SLOTS * 60
    # two slots for three items, one of them closed
    with interpreted():
        impose(lists, worth, np.array([0, 1, 2, 3, 4, 5, 6]), pins(SLOTS, 2))
    assert sorted(_chosen(posterior, lists, _index("all equal", posterior, rng), rng).tolist()) == [EMPTY, 7, 8]


def test_a_pinned_new_item_stays_in_its_slot() -> None:
    posterior, lists, rng = _warm(5, 4), _lists(9, per_decision=True), np.random.default_rng(9)
    with interpreted():
        impose(lists, np.ones(9), np.zeros(0, np.int64), pins(SLOTS, 9, {7: 1}))
    ranking = _chosen(posterior, lists, _index("new ones best", posterior, rng), rng)
    assert ranking[1] == 7
    assert _new_in(posterior, ranking) == 1
