from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slotwise import Tally
from slotwise.core.errors import InvalidInput
from slotwise.core.types import NO_CLICK
from slotwise.ranker.segment_counts import LearnerCounts


def _filled(half_life: Any, rounds: int) -> LearnerCounts:
    """Round by round, segments in turn, a click in every third."""
    counts = LearnerCounts(2, 3, half_life)
    for now in range(rounds):
        counts.count(now % 2, [now % 3, (now + 1) % 3], NO_CLICK if now % 3 else now % 2)
    return counts


def _sum(periods: list[dict[int, Tally]], segment: int) -> Tally:
    return sum((tallies[segment] for tallies in periods if segment in tallies), Tally.empty(2, 3))


@pytest.mark.parametrize("half_life", ["none", "auto", 40.0, 1.0])
def test_periods_and_segments_add_up(half_life: Any) -> None:
    counts = _filled(half_life, 700)
    for segment in (0, 1):
        assert _sum(counts.in_order(), segment) == counts.tally(segment)
    assert counts.tally() == counts.tally(0) + counts.tally(1) == _sum(counts.for_everybody(), 0)
    assert counts.tally().rounds == counts.rounds == 700
    assert counts.shown().sum() == 2 * 700
    assert (counts.shown(0) + counts.shown(1) == counts.shown()).all()


def test_recent_periods_are_short_and_old_ones_are_merged() -> None:
    few, many = _filled(20.0, 60), _filled(20.0, 6_000)
    lengths = [period.rounds for period in many._periods]
    assert sum(lengths) == 6_000
    assert lengths[-1] == 1
    # a hundred times as long, and a logarithm more of them; one round each would be 6,000
    assert len(lengths) < 3 * len(few._periods) < 80
    since = np.cumsum(lengths[::-1])[::-1]
    assert all(length <= 1 or length <= 0.25 * after for length, after in zip(lengths, since[1:], strict=False))


def test_without_a_half_life_no_periods_are_kept() -> None:
    assert _filled("none", 50)._periods == []
    assert [list(tallies) for tallies in _filled("none", 50).in_order()] == [[0, 1]]


@pytest.mark.parametrize("half_life", ["none", 40.0])
def test_counts_survive_writing_and_reading(half_life: Any) -> None:
    counts, again = _filled(half_life, 300), LearnerCounts(2, 3, half_life)
    again.restore(counts.arrays(), segments=2)
    assert again.in_order() == counts.in_order()
    assert again.shown(1).tolist() == counts.shown(1).tolist()
    again.count(1, [0, 2], NO_CLICK)
    counts.count(1, [0, 2], NO_CLICK)
    assert again.in_order() == counts.in_order()
    empty = LearnerCounts(2, 3, half_life)
    empty.restore(LearnerCounts(2, 3, half_life).arrays(), segments=1)
    assert empty.tally().rounds == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sums": np.zeros((2, 2, 2, 4), int)}, r"sums must have shape \(2, 2, 2, 3\), got \(2, 2, 2, 4\)"),
        ({"shown": np.zeros((1, 3), int)}, r"shown must have shape \(2, 3\)"),
        ({"shown": np.full((2, 3), -1)}, "shown must hold whole numbers that are not negative"),
        ({"shown": np.full((2, 3), 0.5)}, "shown must hold whole numbers"),
        ({"segments": np.array([0, 2])}, "segments must be below 2, got 2"),
        ({"period_sums": None}, "the counts of periods must sum to the total counts"),
    ],
)
def test_inconsistent_counts_are_rejected(change: dict[str, Any], message: str) -> None:
    arrays = _filled(40.0, 300).arrays()
    if "period_sums" in change:
        change = {"period_sums": arrays["period_sums"] + 1}
    with pytest.raises(InvalidInput, match=message):
        LearnerCounts(2, 3, 40.0).restore(arrays | change, segments=2)


def test_periods_are_refused_where_nothing_is_forgotten() -> None:
    with pytest.raises(InvalidInput, match="the counts of periods must sum to the total counts"):
        LearnerCounts(2, 3).restore(_filled(40.0, 300).arrays(), segments=2)


def test_items_become_more() -> None:
    counts = _filled(40.0, 100)
    before = counts.tally()
    counts.make_room(5)
    counts.count(0, [4, 3], 0)
    assert counts.tally()[:3] == before
    assert counts.tally().clicks[0, 4] == 1
    assert _wide(counts) == counts.tally()


def _wide(counts: LearnerCounts) -> Tally:
    return sum((tally for tallies in counts.in_order() for tally in tallies.values()), Tally.empty(2, 5))


def test_weighed_counts_need_not_be_whole() -> None:
    counts = LearnerCounts(1, 2, weighed=True)
    counts.add(0, counts.tally_from([[0.5, 0.0]], [[1.25, 2.0]]), np.array([1.75, 2.0]))
    counts.add(1, counts.tally_from([[1, 0]], [[0, 0]]), np.array([1.0, 0.0]))
    counts.make_room(3)
    assert counts.tally().clicks.tolist() == [[1.5, 0.0, 0.0]]
    assert counts.tally(0).passes.tolist() == [[1.25, 2.0, 0.0]]
    assert counts.shown().tolist() == [2.75, 2.0, 0.0]
    # 3.75 and 1, each at least
    assert counts.rounds == 5


@pytest.mark.parametrize(
    ("clicks", "named"),
    [
        ([[-0.5, 1.0]], "clicks must be finite and not negative, got -0.5 in slot 0, item 0"),
        ([[1.0, np.nan]], "clicks must be finite and not negative, got nan in slot 0, item 1"),
        ([[1.0, np.inf]], "clicks must be finite and not negative, got inf in slot 0, item 1"),
        ([["a", "b"]], "clicks must hold numbers"),
        ([1.0, 2.0], "clicks must be a slots × items array"),
        ([[1.0, 2.0, 3.0]], "but passes is"),
    ],
)
def test_invalid_weighted_counts_are_rejected(clicks: Any, named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        LearnerCounts(1, 2, weighed=True).tally_from(clicks, [[1.0, 1.0]])


def test_weighed_counts_are_neither_stored_nor_forgotten_twice() -> None:
    with pytest.raises(InvalidInput, match="stored"):
        LearnerCounts(1, 2, weighed=True).arrays()
    with pytest.raises(InvalidInput, match="half_life must be none if counts are weighed, got 'auto'"):
        LearnerCounts(1, 2, "auto", weighed=True)
    with pytest.raises(InvalidInput, match="whole numbers"):
        LearnerCounts(1, 2).tally_from([[0.5, 1.0]], [[1.0, 1.0]])
