"""Ctrl-C and the compiler."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

Handler = Callable[[int, FrameType | None], object] | int


@contextlib.contextmanager
def postponed_interrupt() -> Iterator[None]:
    """Postpone Ctrl-C until the block ends: an interrupted compiler raises unrelated errors.

    A second Ctrl-C does not wait. After the block the previous handler is restored and receives the signal.
    """
    before = signal.getsignal(signal.SIGINT)
    # only the main thread can be interrupted; of nested blocks the outermost one postpones
    if threading.current_thread() is not threading.main_thread() or before is None or isinstance(before, _Postponed):
        yield
        return
    postponed = _Postponed(before)
    signal.signal(signal.SIGINT, postponed)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if postponed.is_asked:
        signal.raise_signal(signal.SIGINT)


class _Postponed:
    def __init__(self, before: Handler) -> None:
        self.before, self.is_asked = before, False

    def __call__(self, _: int, __: FrameType | None) -> None:
        self.is_asked = True
        signal.signal(signal.SIGINT, self.before)
