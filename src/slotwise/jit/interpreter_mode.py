"""Run kernels as plain Python: nothing is compiled, and results are the same, but slower."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba.core import types

from slotwise.jit.compiler_pipeline import Whole

#: the plain twins of all records
PLAIN: set[type] = set()


class _ThisThread(threading.local):
    interpreting = False


_this_thread = _ThisThread()


@contextmanager
def interpreted() -> Iterator[None]:
    """Build records plain and run kernels uncompiled in the block, in this thread."""
    before, _this_thread.interpreting = _this_thread.interpreting, True
    try:
        # 1/0 is infinity without a warning, as in compiled code
        with np.errstate(all="ignore"):
            yield
    finally:
        _this_thread.interpreting = before


def is_interpreting() -> bool:
    """Whether this thread is inside `interpreted`."""
    return _this_thread.interpreting


_call_compiled = Whole.__call__


class Kernel(Whole):
    """A compiled function that Python can also run uncompiled; compiled code calls its part."""

    part: Any

    @property
    def _numba_type_(self) -> Any:
        # one that calls itself is its own part
        return types.Dispatcher(self if self.is_compiling else self.part)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if _this_thread.interpreting:
            return self.py_func(*arguments, **named)
        if arguments and type(arguments[0]) in PLAIN:
            # this call, and all that it calls
            with interpreted():
                return self.py_func(*arguments, **named)
        return _call_compiled(self, *arguments, **named)
