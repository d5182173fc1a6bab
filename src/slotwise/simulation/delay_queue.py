"""Pending outcomes: a heap ordered by the round before which a policy learns them, then by the round of their list."""

from __future__ import annotations

import numpy as np

from slotwise.core.types import BoolArray, IntArray, Ranking
from slotwise.jit import inlined, jit, record


@record
class DelayQueue:
    """The pending outcomes; the arrays have spare rows and grow when they are full."""

    #: number of pending outcomes
    count: int
    #: a permutation of rows: the first `count` are a heap, the others are free
    heap: IntArray
    #: per row: the round before which it is due, and the round, segment, list and clicks of the outcome
    due: IntArray
    shown: IntArray
    segment: IntArray
    ranking: IntArray
    clicks: BoolArray


def empty_queue(slots: int, room: int = 64) -> DelayQueue:
    """Return a queue without outcomes."""
    return DelayQueue(
        count=0,
        heap=np.arange(room),
        due=np.zeros(room, np.int64),
        shown=np.zeros(room, np.int64),
        segment=np.zeros(room, np.int64),
        ranking=np.zeros((room, slots), np.int64),
        clicks=np.zeros((room, slots), np.bool_),
    )


@inlined
def is_due(waiting: DelayQueue, now: int) -> bool:
    """Whether an outcome is due before round `now`."""
    return waiting.count > 0 and bool(waiting.due[waiting.heap[0]] <= now)


@jit
def put(waiting: DelayQueue, due: int, shown: int, segment: int, ranking: Ranking, clicks: BoolArray) -> None:
    """Add an outcome that is due before round `due`."""
    if waiting.count == len(waiting.heap):
        _grow(waiting)
    heap, place = waiting.heap, waiting.count
    row = heap[place]
    waiting.count += 1
    waiting.due[row], waiting.shown[row] = due, shown
    waiting.segment[row] = segment
    for slot in range(len(ranking)):
        waiting.ranking[row, slot], waiting.clicks[row, slot] = ranking[slot], clicks[slot]
    while place > 0 and _is_before(waiting, row, heap[(place - 1) // 2]):
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = row


@jit
def take(waiting: DelayQueue) -> int:
    """Remove the first outcome and return its row, which is valid until the next `put`."""
    heap = waiting.heap
    first = heap[0]
    waiting.count -= 1
    row, place, child = heap[waiting.count], 0, 1
    heap[waiting.count] = first
    while child < waiting.count:
        if child + 1 < waiting.count and _is_before(waiting, heap[child + 1], heap[child]):
            child += 1
        if not _is_before(waiting, heap[child], row):
            break
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    if waiting.count > 0:
        heap[place] = row
    return int(first)


@inlined
def _is_before(waiting: DelayQueue, row: int, other: int) -> bool:
    due = waiting.due
    if due[row] == due[other]:
        return bool(waiting.shown[row] < waiting.shown[other])
    return bool(due[row] < due[other])


@jit
def _grow(waiting: DelayQueue) -> None:
    """Double the number of rows."""
    room = len(waiting.heap)
    waiting.heap = np.concatenate((waiting.heap, np.arange(room, 2 * room)))
    waiting.due = np.concatenate((waiting.due, waiting.due))
    waiting.shown = np.concatenate((waiting.shown, waiting.shown))
    waiting.segment = np.concatenate((waiting.segment, waiting.segment))
    waiting.ranking = np.concatenate((waiting.ranking, waiting.ranking))
    waiting.clicks = np.concatenate((waiting.clicks, waiting.clicks))
