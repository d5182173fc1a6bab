from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotwise import EMPTY, NO_CLICK, Tally
from slotwise.core.errors import InvalidInput, InvalidRanking
from slotwise.core.rankings import Rankings

rounds = st.lists(st.tuples(st.permutations(range(4)), st.integers(NO_CLICK, 2)), max_size=30)


def _counted(history: list[tuple[list[int], int]]) -> Rankings:
    seen = Rankings.empty(slots=3, items=4)
    for ranking, clicked in history:
        seen.count(ranking[:3], clicked)
    return seen


@given(rounds, st.data())
def test_rankings_are_additive_and_order_free(history: list[Any], data: st.DataObject) -> None:
    whole = _counted(history)
    cut = data.draw(st.integers(0, len(history)))
    assert _counted(history[:cut]) + _counted(history[cut:]) == whole
    assert _counted(data.draw(st.permutations(history))) == whole
    assert sum([_counted([one]) for one in history], start=Rankings.empty(3, 4)) == whole
    assert whole.rounds == len(history)


@given(rounds)
def test_their_tally_is_the_one_counted_round_by_round(history: list[Any]) -> None:
    tally = Tally.empty(3, 4)
    showings = np.zeros((3, 4), int)
    for ranking, clicked in history:
        tally.count(ranking[:3], clicked)
        showings[range(3), ranking[:3]] += 1
    assert _counted(history).tally == tally
    assert _counted(history).showings.tolist() == showings.tolist()


@given(rounds.filter(bool))
def test_many_rounds_at_once_are_the_same_rounds(history: list[Any]) -> None:
    lists, clicked = zip(*history, strict=True)
    at_once = Rankings.of_rounds([ranking[:3] for ranking in lists], clicked, items=4)
    assert at_once == _counted(history)
    assert len(np.unique(at_once.shown, axis=0)) == len(at_once.shown)


def test_counting_goes_on_where_it_was() -> None:
    seen = Rankings.empty(2, 3)
    for now in range(3_000):
        seen.count([now % 3, (now + 1) % 3], NO_CLICK if now % 2 else now % 4 // 2)
    assert seen.passes.tolist() == [500, 500, 500]
    assert (seen + seen).rounds == 6_000
    total = sum([seen])
    assert isinstance(total, Rankings)
    total.count([0, 1], 0)
    assert seen.rounds == 3_000


def test_an_empty_slot_holds_nothing() -> None:
    seen = Rankings.of_rounds([[2, EMPTY], [2, EMPTY], [EMPTY, EMPTY], [0, 2]], [0, NO_CLICK, NO_CLICK, 1], items=3)
    assert seen.tally.passes.tolist() == [[0, 0, 1], [0, 0, 0]]
    assert seen.tally.clicks.tolist() == [[0, 0, 1], [0, 0, 1]]
    with pytest.raises(InvalidInput, match=re.escape("clicked must be a slot with an item, got 1 in [2, -2]")):
        seen.count([2, EMPTY], 1)


def test_keys_too_large_for_a_number_are_kept_apart() -> None:
    """Ten slots of ten million items would need 230 bits."""
    rng = np.random.default_rng(0)
    few = rng.choice(10_000_000, (50, 10), replace=False)
    place = rng.integers(0, 50, 100_000)
    seen = Rankings.of_rounds(few[place], np.full(100_000, NO_CLICK), items=10_000_000)
    order = np.lexsort(few.T[::-1])
    assert seen.shown.tolist() == few[order].tolist()
    assert seen.passes.tolist() == np.bincount(place)[order].tolist()


@pytest.mark.parametrize(
    ("rankings", "clicked", "message"),
    [
        ([[0, 0]], [0], "a ranking holds an item once, got [0, 0]"),
        ([[0, 3]], [0], "a ranking holds items 0 to 2, got 3 in [0, 3]"),
        ([[0, -1]], [0], "got -1 in [0, -1]"),
        ([[0.5, 1.0]], [0], "rankings must hold a whole number for every slot"),
        ([0, 1], [0], "rankings must hold a whole number for every slot"),
        ([[0, 1], [0]], [0, 0], "rankings must hold a whole number for every slot"),
        ([[0, 1]], [2], "clicked must be a slot from 0 to 1 or -1, got 2"),
        ([[0, 1]], [0, 1], "clicked must be a slot or -1 for each of the 1 rounds"),
        ([[0, 1]], [0.0], "clicked must be a slot or -1 for each of the 1 rounds"),
    ],
)
def test_rounds_are_checked(rankings: Any, clicked: Any, message: str) -> None:
    with pytest.raises((InvalidInput, InvalidRanking), match=re.escape(message)):
        Rankings.of_rounds(rankings, clicked, items=3)


def test_counts_are_checked() -> None:
    with pytest.raises(InvalidInput, match=re.escape("shown is (1, 2), but clicks is (1, 1)")):
        Rankings([[0, 1]], [[1]], [1], items=3)
    with pytest.raises(InvalidInput, match="passes must be a count for each of the 1 rankings"):
        Rankings([[0, 1]], [[1, 1]], [-1], items=3)
    with pytest.raises(InvalidInput, match="clicks must be on items, got 1 on the empty slot 1"):
        Rankings([[0, EMPTY]], [[1, 1]], [1], items=3)
    with pytest.raises(InvalidRanking, match="one item for each of the 2 slots"):
        Rankings.empty(2, 3).count([0], 0)
    with pytest.raises(InvalidInput, match="cannot be added"):
        _ = Rankings.empty(2, 3) + Rankings.empty(2, 4)
    assert Rankings.empty(2, 3) != "rankings"
    assert "0 rankings of 2 slots and 3 items" in repr(Rankings.empty(2, 3))
