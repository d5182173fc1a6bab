"""Ctrl-C and the compiler."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def postponed_interrupt() -> Iterator[None]:
    """Let Ctrl-C wait until the block ends: an interrupted compiler raises whatever it happens to trip over.

    A second Ctrl-C does not wait.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    asked = []

    def remember(number: int, _: FrameType | None) -> None:
        asked.append(number)
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if asked:
        raise KeyboardInterrupt
