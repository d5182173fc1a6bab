"""Compiles kernels in the background while plain Python decides.

The plain twin of a policy's record gives the same lists for the same seed. While it makes the first decisions, another
process fills the cache with the kernels of this policy, and a thread of this one then loads them. Between two decisions
the plain record becomes a compiled one. If the cache is filled already, everything is compiled from the start.

`SLOTWISE_COMPILE` in the environment, or `compiling`, sets another time to compile: `first`, before the first decision,
as simulations always do, or `never`.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Literal, NamedTuple

from numba.core import config
from numba.core.compiler_lock import global_compiler_lock

from slotwise.jit import interpreted
from slotwise.jit.compile_process import Abandoned, CompileOutcome, abandoned_on, fill, is_filled

When = Literal["background", "first", "never"]
SETTING = "SLOTWISE_COMPILE"
#: with more items, decisions wait for the kernels: a plain decision takes about 20 µs per item
MAX_PLAIN_ITEMS = 10_000
#: with more items, estimates wait for the kernels: they take hundreds of times as long as a decision
MAX_PLAIN_ESTIMATED = 1_000

log = logging.getLogger("slotwise")
_asked: ContextVar[When | None] = ContextVar("when to compile", default=None)
_lock = threading.Lock()
#: by the text of the script
_in_preparation: dict[str, Kernels] = {}
#: the texts of scripts that this process has loaded from the cache
_loaded: set[str] = set()
_is_held = False


@contextmanager
def compiling(when: When) -> Iterator[None]:
    """Set the time to compile for learners that are created inside; it overrides the environment."""
    token = _asked.set(when)
    try:
        yield
    finally:
        _asked.reset(token)


def when_to_compile() -> str:
    """Return the innermost `compiling`, else the environment's setting, unchecked, else in the background."""
    return _asked.get() or os.environ.get(SETTING) or "background"


class WarmUp(NamedTuple):
    """A script that calls every kernel once: `python -m MODULE TEXT PARENT`, or `MODULE.run(TEXT)` in this process."""

    module: str
    #: the same text, the same kernels; empty if the script cannot be written down
    text: str
    #: whether another process can run it
    is_shared: bool

    def run(self) -> None:
        """Run it in this process."""
        importlib.import_module(self.module).run(self.text)


def kernels_for(warm_up: WarmUp, items: int) -> Kernels:
    """Return the kernels that a script calls; all callers in this process with the same script share one object."""
    when = when_to_compile()
    if when == "never":
        return Kernels(warm_up, items)
    if when == "first" or config.DISABLE_JIT or not warm_up.is_shared or is_filled(warm_up.text):
        return Kernels(warm_up, items, are_there=True)
    with _lock:
        kernels = _in_preparation.setdefault(warm_up.text, Kernels(warm_up, items))
    kernels.prepare()
    if items > MAX_PLAIN_ITEMS and kernels.is_in_preparation():
        log.warning(f"compiling before the first decision among {items:,} items: half a minute, once on this machine")
        kernels.wait()
    return kernels


class Kernels:
    """Tracks whether the kernels that a script calls are compiled."""

    def __init__(self, warm_up: WarmUp, items: int, *, are_there: bool = False) -> None:
        self._warm_up = warm_up
        self._items = items
        self._are_there = are_there
        self._are_wanted = False
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def are_there(self) -> bool:
        """Whether compiled kernels can be used."""
        if self._are_wanted and self._thread is None:
            # in the child of a fork, which has none of its parent's threads
            self.prepare()
        return self._are_there

    def or_interpreted(self) -> AbstractContextManager[None]:
        """Run the block as plain Python until the kernels are compiled."""
        return nullcontext() if self.are_there else interpreted()

    def for_estimates(self, items: int) -> AbstractContextManager[None]:
        """The same for estimates; those of many items wait for the kernels."""
        if items > MAX_PLAIN_ESTIMATED:
            self.wait()
        return self.or_interpreted()

    def load(self) -> None:
        """Load compiled kernels from the cache now, so that no decision waits for that."""
        text = self._warm_up.text
        if self.are_there and text and text not in _loaded:
            self._warm_up.run()
            _loaded.add(text)

    def prepare(self) -> None:
        """Begin to compile or load the kernels in the background, unless that was begun before."""
        with _lock:
            self._are_wanted = True
            # an interpreter that is about to end starts no threads
            with contextlib.suppress(RuntimeError):
                if self._thread is None and not self._stopped.is_set():
                    thread = threading.Thread(target=self._prepare, name="slotwise-kernels", daemon=True)
                    thread.start()
                    self._thread = thread

    def wait(self) -> bool:
        """Wait until the kernels are compiled, or cannot be; True if they are."""
        if self._thread is not None:
            self._thread.join()
        return self.are_there

    def stop(self) -> None:
        """Stop the work in the background, and wait for its end."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def is_in_preparation(self) -> bool:
        """Whether a thread prepares the kernels."""
        return self._thread is not None and self._thread.is_alive()

    def forget_thread(self) -> None:
        """Drop the thread, which the child of a fork does not have."""
        self._stopped, self._thread = threading.Event(), None

    def _prepare(self) -> None:
        try:
            outcome = fill(self._warm_up.module, self._warm_up.text, self._stopped)
            if outcome is CompileOutcome.KILLED:
                log.warning("the process that compiles was killed: decisions stay slow until the next start")
            elif outcome is not CompileOutcome.STOPPED:
                with abandoned_on(self._stopped):
                    self._warm_up.run()
                self._are_there = True
        except Abandoned:
            pass
        except Exception:
            log.exception("kernels cannot be compiled: decisions stay slow")

    def __reduce__(self) -> tuple[Callable[[WarmUp, int], Kernels], tuple[WarmUp, int]]:
        return kernels_for, (self._warm_up, self._items)


def _stop_all() -> None:
    """Stop all compilers at the end of the process: the interpreter must not shut down under one."""
    for kernels in list(_in_preparation.values()):
        kernels.stop()


def _hold_compiler() -> None:
    """Hold the compiler before a fork: the child must not inherit half of a compilation."""
    global _is_held
    _is_held = any(kernels.is_in_preparation() for kernels in list(_in_preparation.values()))
    if _is_held:
        global_compiler_lock.acquire()


def _release_compiler() -> None:
    if _is_held:
        global_compiler_lock.release()


def _begin_again() -> None:
    global _lock
    _release_compiler()
    _lock = threading.Lock()
    for kernels in _in_preparation.values():
        kernels.forget_thread()


atexit.register(_stop_all)
os.register_at_fork(before=_hold_compiler, after_in_parent=_release_compiler, after_in_child=_begin_again)
