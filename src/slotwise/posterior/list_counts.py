"""Counts by list: how often each list was shown, clicked or not, in a hash table of bounded size.

A tally loses which other items were on the page at a click. If most visits click, that is most of the information. The
table keeps it for the lists that are shown most; the rarest make room for new ones.
"""

from __future__ import annotations

import math

import numpy as np

from slotwise.core.types import EMPTY, FloatArray, IntArray, Ranking
from slotwise.jit import inlined, jit, record

#: the part of a full table that is evicted at once
EVICTED_SHARE = 0.25


@record
class ListCounts:
    """Lists, each with the segment that it was shown to, and their rounds."""

    #: room × (1 + slots): the segment, then the items
    lists: IntArray
    #: rounds of each, kinds × room; the caller defines the kinds
    rounds: FloatArray
    count: int
    #: a hash table: the number of a list, or -1, at the first free place from its hash on
    table: IntArray
    #: the list looked up last, which mostly is the next one
    last: int
    #: scratch for one list
    key: IntArray


def empty_list_counts(room: int, slots: int, kinds: int) -> ListCounts:
    """Return a table without lists; `room` may be 0."""
    return ListCounts(
        lists=np.zeros((room, slots + 1), np.int64),
        rounds=np.zeros((kinds, room)),
        count=0,
        table=np.full(max(1, 4 * room), -1),
        last=0,
        key=np.zeros(slots + 1, np.int64),
    )


@jit
def find_or_add(seen: ListCounts, segment: int, ranking: Ranking) -> int:
    """Return the number of this list in the table, which may be new; -1 if it is new and the table is full."""
    key, lists, last = seen.key, seen.lists, seen.last
    if last < seen.count and lists[last, 0] == segment:
        same = True
        for slot in range(len(ranking)):
            same = same and lists[last, slot + 1] == ranking[slot]
        if same:
            return last
    key[0] = segment
    for slot in range(len(ranking)):
        key[slot + 1] = ranking[slot]
    place = place_of(seen.table, lists, key)
    number = seen.table[place]
    if number < 0 and seen.count < len(lists):
        number = seen.count
        seen.count += 1
        seen.table[place] = number
        for position in range(len(key)):
            lists[number, position] = key[position]
    if number >= 0:
        seen.last = number
    return int(number)


@jit
def place_of(table: IntArray, lists: IntArray, key: IntArray) -> int:
    """Return the place of this list in the table, or the free place for it."""
    hashed = 0
    for position in range(len(key)):
        # 31 bits at most, so that the product stays within 64
        hashed = (hashed * 1_000_003 + key[position] - EMPTY) % 2_147_483_647
    place = hashed % len(table)
    while table[place] >= 0:
        same = True
        for position in range(len(key)):
            same = same and lists[table[place], position] == key[position]
        if same:
            break
        place = (place + 1) % len(table)
    return place


@jit
def rarity_threshold(seen: ListCounts, kind: int) -> float:
    """Return a number of rounds, of one kind, that at least a quarter of the lists do not exceed."""
    least, most = math.inf, 0.0
    for number in range(seen.count):
        least = min(least, seen.rounds[kind, number])
        most = max(most, seen.rounds[kind, number])
    rare = max(least, 1e-9 * most)
    while True:
        count = 0
        for number in range(seen.count):
            if seen.rounds[kind, number] <= rare:
                count += 1
        if count >= EVICTED_SHARE * seen.count:
            return rare
        rare *= 2.0


@jit
def evict(seen: ListCounts, kind: int, rare: float) -> None:
    """Remove lists with at most `rare` rounds of one kind: up to a quarter of all, the oldest first."""
    left, target = int(EVICTED_SHARE * seen.count) + 1, 0
    for place in range(len(seen.table)):
        seen.table[place] = -1
    for number in range(seen.count):
        if is_evicted(seen, kind, rare, number, left):
            left -= 1
            continue
        for position in range(len(seen.key)):
            seen.lists[target, position] = seen.lists[number, position]
            seen.key[position] = seen.lists[number, position]
        for each in range(len(seen.rounds)):
            seen.rounds[each, target] = seen.rounds[each, number]
        seen.table[place_of(seen.table, seen.lists, seen.key)] = target
        target += 1
    for number in range(target, seen.count):
        for each in range(len(seen.rounds)):
            seen.rounds[each, number] = 0.0
    seen.count = target
    seen.last = 0


@inlined
def is_evicted(seen: ListCounts, kind: int, rare: float, number: int, left: int) -> bool:
    """Return whether `evict` removes this list if it still has to remove `left`."""
    return left > 0 and seen.rounds[kind, number] <= rare
