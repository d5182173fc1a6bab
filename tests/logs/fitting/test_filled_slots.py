"""Which slots the impressions of a log fill, and lists in these slots."""

from __future__ import annotations

import numpy as np
import pytest

from slotwise import EMPTY, Rankings
from slotwise.logs.fitting.filled_slots import FilledSlots
from slotwise.logs.fitting.fit_result import Fit

#: lists of two slots, the impressions of each, and the sets of slots with their shares
SINGLE = [[0, EMPTY], [EMPTY, 1], [1, EMPTY]], [10, 20, 10], {(False, True): 0.5, (True, False): 0.5}
SHORT = [[0, 1], [1, EMPTY]], [30, 10], {(True, True): 0.75, (True, False): 0.25}
FULL = [[0, 1], [1, 0]], [30, 10], {(True, True): 1.0}
GAP = [[0, EMPTY, 1], [1, EMPTY, 0]], [30, 10], {(True, False, True): 1.0}


def fitted(lists: list[list[int]], times: list[int]) -> Fit:
    clicks = np.zeros((len(lists), len(lists[0])), np.int64)
    return Fit.of_rankings(Rankings(lists, clicks, times, items=2))


@pytest.mark.parametrize("kept", [True, False], ids=["whole lists", "tally"])
@pytest.mark.parametrize(
    ("lists", "times", "wanted"), [SINGLE, SHORT, FULL, GAP], ids=["single", "short", "full", "gap"]
)
def test_sets_and_their_shares(
    lists: list[list[int]], times: list[int], wanted: dict[tuple[bool, ...], float], kept: bool
) -> None:
    fit = fitted(lists, times)
    filled = FilledSlots.of(fit.tally, fit.rankings if kept else None)
    assert {tuple(slots): share for slots, share in zip(filled.sets.tolist(), filled.shares, strict=True)} == wanted
    assert filled.mean == pytest.approx(fit.tally.showings.sum() / fit.tally.counted)
    assert filled.is_partial == (len(wanted) > 1)


def test_whole_lists_decide_what_counts_by_slot_cannot() -> None:
    """Slots 1 and 2 are filled in half of the impressions each: by turns, though the counts allow both or none."""
    fit = fitted([[0, EMPTY, 1], [EMPTY, 1, 0]], [20, 20])
    assert sorted(fit.filled.sets.sum(axis=1).tolist()) == [2, 2]
    assert sorted(FilledSlots.of(fit.tally, Rankings.empty(3, 2)).sets.sum(axis=1).tolist()) == [1, 3]


def test_a_list_that_fills_exactly_the_same_slots_comes_first() -> None:
    filled = FilledSlots(np.array([[True, False], [True, True]]), np.array([0.5, 0.5]))
    lists, chances = np.array([[3, EMPTY], [4, 5]]), np.array([0.9, 0.1])
    as_filled = filled.fill(lists, chances)
    assert as_filled is not None
    assert as_filled[0].tolist() == lists.tolist()
    assert as_filled[1].tolist() == [0.5, 0.5]
