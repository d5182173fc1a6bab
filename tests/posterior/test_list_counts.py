"""The table of lists: each counted once, none lost but those that are given up, and those found again."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from slotwise.core.types import EMPTY
from slotwise.jit import interpreted
from slotwise.posterior.list_counts import (
    EVICTED_SHARE,
    ListCounts,
    empty_list_counts,
    evict,
    find_or_add,
    rarity_threshold,
)

Key = tuple[int, ...]
keys = st.tuples(st.integers(0, 2), st.permutations([EMPTY, 0, 1, 2]).map(lambda order: tuple(order[:3])))


def _seen(room: int, kinds: int = 1) -> ListCounts:
    with interpreted():
        return empty_list_counts(room, 3, kinds)


def _count(seen: ListCounts, segment: int, ranking: Any, kind: int = 0) -> int:
    number = find_or_add(seen, segment, np.array(ranking))
    if number >= 0:
        seen.rounds[kind, number] += 1.0
    return number


def _counted(seen: ListCounts, kind: int = 0) -> dict[Key, float]:
    return {tuple(seen.lists[n].tolist()): float(seen.rounds[kind, n]) for n in range(seen.count)}


@given(st.lists(keys, max_size=120))
def test_every_list_is_counted_once(shown: list[tuple[int, Key]]) -> None:
    seen = _seen(100)
    for segment, ranking in shown:
        _count(seen, segment, ranking)
    assert _counted(seen) == Counter((segment, *ranking) for segment, ranking in shown)


@given(st.lists(keys, min_size=1, max_size=60), st.integers(1, 8))
def test_lists_beyond_the_room_are_not_counted_and_do_no_harm(shown: list[tuple[int, Key]], room: int) -> None:
    seen, expected = _seen(room), Counter[Key]()
    for segment, ranking in shown:
        key = (segment, *ranking)
        fits = key in expected or len(expected) < room
        assert (_count(seen, segment, ranking) >= 0) == fits
        if fits:
            expected[key] += 1
    assert _counted(seen) == expected


@settings(max_examples=50)
@given(st.lists(keys, min_size=1, max_size=150), st.integers(4, 40))
def test_a_full_table_gives_up_the_rarest_and_finds_the_others(shown: list[tuple[int, Key]], room: int) -> None:
    seen = _seen(room, kinds=2)
    for number, (segment, ranking) in enumerate(shown):
        _count(seen, segment, ranking)
        _count(seen, segment, ranking, kind=1 if number % 3 else 0)
    before = [_counted(seen, kind) for kind in (0, 1)]
    rare = rarity_threshold(seen, 0)
    evict(seen, 0, rare)
    after = [_counted(seen, kind) for kind in (0, 1)]
    gone = before[0].keys() - after[0].keys()
    # at least a quarter, so that it is worth the while, and hardly more
    assert EVICTED_SHARE * len(before[0]) <= len(gone) <= int(EVICTED_SHARE * len(before[0])) + 1
    assert max(before[0][key] for key in gone) <= rare
    # as near the rarest quarter as doubling finds it
    counts = sorted(before[0].values())
    assert rare == counts[0] or sum(count <= rare / 2 for count in counts) < EVICTED_SHARE * len(counts)
    for kind in (0, 1):
        assert after[kind] == {key: count for key, count in before[kind].items() if key not in gone}
    numbers = [find_or_add(seen, key[0], np.array(key[1:])) for key in after[0]]
    assert numbers == list(range(seen.count))
    # an evicted list starts from 0
    for key in gone:
        number = find_or_add(seen, key[0], np.array(key[1:]))
        assert number >= len(after[0])
        assert seen.rounds[:, number].tolist() == [0.0, 0.0]


def test_a_list_is_another_for_another_segment_or_order() -> None:
    seen = _seen(10)
    numbers = [
        find_or_add(seen, segment, np.array(ranking))
        for segment, ranking in ((0, [0, 1, 2]), (1, [0, 1, 2]), (0, [1, 0, 2]), (0, [0, 1, EMPTY]), (0, [0, 1, 2]))
    ]
    assert numbers == [0, 1, 2, 3, 0]


def test_lists_with_equal_hashes_are_kept_apart() -> None:
    """Items a prime apart, in the last place, have one hash."""
    seen = _seen(4)
    assert [find_or_add(seen, 0, np.array([0, 1, item])) for item in (2, 2 + 2_147_483_647, 2)] == [0, 1, 0]


def test_without_room_nothing_is_kept() -> None:
    seen = _seen(0)
    assert find_or_add(seen, 0, np.array([0, 1, 2])) == -1
    assert seen.count == 0
