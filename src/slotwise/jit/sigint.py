"""Ctrl-C and the compiler."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any


@contextlib.contextmanager
def postponed_interrupt() -> Iterator[None]:
    """Let Ctrl-C wait until the block ends: an interrupted compiler raises whatever it happens to trip over.

    A second Ctrl-C does not wait. Whoever answers to it otherwise is the one who answers in the end.
    """
    before = signal.getsignal(signal.SIGINT)
    # only Python's own thread can be interrupted; and where it waits already, the outermost block is waited for
    if threading.current_thread() is not threading.main_thread() or before is None or isinstance(before, _Postponed):
        yield
        return
    postponed = _Postponed(before)
    signal.signal(signal.SIGINT, postponed)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if postponed.asked:
        signal.raise_signal(signal.SIGINT)


class _Postponed:
    def __init__(self, before: Any) -> None:
        self.before, self.asked = before, False

    def __call__(self, _: int, __: FrameType | None) -> None:
        self.asked = True
        signal.signal(signal.SIGINT, self.before)
