"""How often each list was shown, clicked or not: a table of bounded size, found by hash.

A tally throws away what was on the page when something was clicked. Where most visits click, that is most of what they
tell. This table keeps it for the lists that are shown most; the rarest make room for new ones.
"""

from __future__ import annotations

import math

import numpy as np

from slotwise.core.types import FloatArray, IntArray, Ranking
from slotwise.jit import inlined, jit, record

#: of a full table, the part that is given up at once
GIVEN_UP = 0.25


@record
class SeenLists:
    """The lists, each with the segment that it was shown to, and their rounds."""

    #: room × (1 + slots): the segment, then the items
    lists: IntArray
    #: counts of each, kinds × room: the kinds are whatever their owner makes them
    rounds: FloatArray
    count: int
    #: a hash table: the number of a list, or -1, at the first free place from its hash on
    table: IntArray
    #: the one that was asked for last, which mostly is the next
    last: int
    #: room for one list
    key: IntArray


def seen_lists(room: int, slots: int, kinds: int) -> SeenLists:
    """No lists yet; `room` may be 0, for those who keep none."""
    return SeenLists(
        lists=np.zeros((room, slots + 1), np.int64),
        rounds=np.zeros((kinds, room)),
        count=0,
        table=np.full(max(1, 4 * room), -1),
        last=0,
        key=np.zeros(slots + 1, np.int64),
    )


@jit
def number_of(seen: SeenLists, segment: int, ranking: Ranking) -> int:
    """The number of this list in the table, or a new one; -1 if it is new and the table is full."""
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
    """Where in the table this list is, or is to be."""
    hashed = 0
    for position in range(len(key)):
        # 31 bits at most, so that the product stays within 64
        hashed = (hashed * 1_000_003 + key[position] + 1) % 2_147_483_647
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
def are_rare(seen: SeenLists, kind: int) -> float:
    """A number of rounds, of one kind, that at least a quarter of the lists do not exceed."""
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
        if count >= GIVEN_UP * seen.count:
            return rare
        rare *= 2.0


@jit
def give_up(seen: SeenLists, kind: int, rare: float) -> None:
    """Forget the lists of no more than `rare` rounds of one kind: up to a quarter of all, the oldest first."""
    left, kept = int(GIVEN_UP * seen.count) + 1, 0
    for place in range(len(seen.table)):
        seen.table[place] = -1
    for number in range(seen.count):
        if is_given_up(seen, kind, rare, number, left):
            left -= 1
            continue
        for position in range(len(seen.key)):
            seen.lists[kept, position] = seen.lists[number, position]
            seen.key[position] = seen.lists[number, position]
        for each in range(len(seen.rounds)):
            seen.rounds[each, kept] = seen.rounds[each, number]
        seen.table[place_of(seen.table, seen.lists, seen.key)] = kept
        kept += 1
    for number in range(kept, seen.count):
        for each in range(len(seen.rounds)):
            seen.rounds[each, number] = 0.0
    seen.count = kept
    seen.last = 0


@inlined
def is_given_up(seen: SeenLists, kind: int, rare: float, number: int, left: int) -> bool:
    """Whether `give_up` forgets this list, when it is still to forget `left`."""
    return left > 0 and seen.rounds[kind, number] <= rare
