"""The modules of ours that run during a call, in the order in which each is entered first."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

PACKAGE = "slotwise"


class Trace:
    """Records modules of every thread that starts while it is active, and only during `modules_of`."""

    def __init__(self) -> None:
        self._modules: dict[str, None] | None = None

    def modules_of(self, work: Callable[[], object]) -> list[str]:
        """The modules whose functions ran while `work` did."""
        modules = self._modules = {}
        try:
            work()
        finally:
            self._modules = None
        return list(modules)

    def profile(self, frame: FrameType, event: str, _: object) -> None:
        """Note the module of a function that is called."""
        modules = self._modules
        if modules is not None and event == "call" and frame.f_code.co_name != "<module>":
            name = frame.f_globals.get("__name__", "")
            if name.partition(".")[0] == PACKAGE:
                modules.setdefault(name)


@contextmanager
def tracing() -> Iterator[Trace]:
    """A trace of this thread, and of all that are started within."""
    trace, before = Trace(), sys.getprofile()
    threading.setprofile(trace.profile)
    sys.setprofile(trace.profile)
    try:
        yield trace
    finally:
        sys.setprofile(before)
        threading.setprofile(None)


def modules_of(work: Callable[[], object]) -> list[str]:
    """The modules whose functions ran while `work` did, in this thread and in those that it started.

    >>> from slotwise import Tally
    >>> modules_of(lambda: Tally.empty(2, 3))[0]
    'slotwise.core.tally'
    """
    with tracing() as trace:
        return trace.modules_of(work)
