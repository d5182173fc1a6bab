"""A bounded cache, and tasks that all callers with the same key share."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LruCache(Generic[Key, Value]):
    """Drops the entries that were used least recently, until number and total size are within bounds.

    The newest entry always stays.

    Parameters
    ----------
    max_entries
        The number of entries.
    max_size
        The sum of the sizes of all entries.
    size
        The size of a value, in any unit.

    >>> cache = LruCache[str, str](max_entries=2)
    >>> cache.put("a", "first"), cache.put("b", "second"), cache.get("a"), cache.put("c", "third")
    (None, None, 'first', None)
    >>> cache.get("b") is None
    True
    """

    def __init__(
        self, max_entries: int, max_size: float = math.inf, size: Callable[[Value], float] = lambda _: 0.0
    ) -> None:
        self._max_entries, self._max_size, self._size_of = max_entries, max_size, size
        self._values: dict[Key, Value] = {}
        self._size = 0.0

    def get(self, key: Key) -> Value | None:
        """The value of a key, or None."""
        if key not in self._values:
            return None
        # the last key of the dictionary is the one that was used last
        value = self._values[key] = self._values.pop(key)
        return value

    def put(self, key: Key, value: Value) -> None:
        """Store a value in place of an earlier one."""
        self._drop(key)
        self._values[key] = value
        self._size += self._size_of(value)
        while len(self._values) > self._max_entries or (len(self._values) > 1 and self._size > self._max_size):
            self._drop(next(iter(self._values)))

    def _drop(self, key: Key) -> None:
        if key in self._values:
            self._size -= self._size_of(self._values.pop(key))


class SingleFlight(Generic[Key, Value]):
    """Runs one task per key at a time; callers with the same key wait for the same task."""

    def __init__(self) -> None:
        self._tasks: dict[Key, asyncio.Task[Value]] = {}

    def __len__(self) -> int:
        """The number of tasks that are running."""
        return len(self._tasks)

    async def run(self, key: Key, work: Callable[[], Awaitable[Value]]) -> Value:
        """The result of `work`, or of the task with this key that is running already."""
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.create_task(_awaited(work))
            task.add_done_callback(lambda _: self._tasks.pop(key, None))
        # a caller that is cancelled does not cancel the task, for which others may wait
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Cancel all tasks, and wait for their end."""
        for task in list(self._tasks.values()):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task


async def _awaited(work: Callable[[], Awaitable[Value]]) -> Value:
    return await work()
