"""Admission: at most so many calls wait for a thread or a process; further ones are refused at once."""

from __future__ import annotations

from types import TracebackType

from slotwise.core.errors import SlotwiseError


class TooManyWaiting(SlotwiseError):
    """The queue of calls that run off the event loop is full."""


class Admission:
    """A context that refuses to be entered while `at_most` callers are in it.

    >>> reading = Admission(1, "reads")
    >>> with reading:
    ...     with reading:
    ...         pass
    Traceback (most recent call last):
    slotwise.service.placements.admission.TooManyWaiting: 1 reads are waiting already: try again later
    """

    def __init__(self, at_most: int, what: str) -> None:
        self._at_most, self._what = at_most, what
        self._inside = 0

    def __enter__(self) -> None:
        if self._inside >= self._at_most:
            raise TooManyWaiting(f"{self._at_most} {self._what} are waiting already: try again later")
        self._inside += 1

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inside -= 1
