"""Nobody waits for the compiler: learners start on plain Python, and go over to compiled kernels once they are there.

The plain twin of a policy's record gives the same lists for the same seed. While the first decisions are made on it,
another process fills the cache with what this policy needs; a thread of this one then loads that, on a learner of its
own; and between two decisions the policy's record becomes a compiled one. Where the cache is filled already, everything
is compiled from the start.

`SLOTWISE_COMPILE` in the environment, or `compiling`, says when to compile instead: `first`, before the first decision,
as simulations always do, or `never`.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple

from numba.core import config
from numba.core.compiler_lock import global_compiler_lock

from slotwise.jit import interpreted
from slotwise.jit.compile_process import Abandoned, Outcome, abandoned_on, fill, is_filled

When = Literal["background", "first", "never"]
SETTING = "SLOTWISE_COMPILE"
#: a plain decision among more items than this takes longer than anybody would call an answer: about 20 µs per item
MAX_PLAIN_ITEMS = 10_000
#: and the estimates, which are hundreds of decisions, are worth waiting for the kernels if there are more than this
MAX_PLAIN_ESTIMATED = 1_000

log = logging.getLogger("slotwise")
_asked: ContextVar[When | None] = ContextVar("when to compile", default=None)
_lock = threading.Lock()
#: by what is to be compiled
_in_preparation: dict[str, Kernels] = {}
#: what was taken out of the cache in this process
_loaded: set[str] = set()
_is_held = False


@contextmanager
def compiling(when: When) -> Iterator[None]:
    """Learners that are made inside have their kernels compiled then, whatever the environment says."""
    token = _asked.set(when)
    try:
        yield
    finally:
        _asked.reset(token)


def when_to_compile() -> str:
    """The innermost `compiling`, else the environment's setting, unchecked, else in the background."""
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
    """The kernels that a script calls: one object for all whose kernels are being prepared in this process."""
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
        """Whether to go over to them."""
        if self._are_wanted and self._thread is None:
            # in the child of a fork, which has none of its parent's threads
            self.prepare()
        return self._are_there

    def or_interpreted(self) -> AbstractContextManager[None]:
        """As long as they are not there, what happens inside is plain Python."""
        return nullcontext() if self.are_there else interpreted()

    def for_estimates(self, items: int) -> AbstractContextManager[None]:
        """The same for estimates; those of many items wait for the kernels."""
        if items > MAX_PLAIN_ESTIMATED:
            self.wait()
        return self.or_interpreted()

    def load(self) -> None:
        """If they are there, take them out of the cache now, so that nobody waits for that later."""
        text = self._warm_up.text
        if self.are_there and text and text not in _loaded:
            self._warm_up.run()
            _loaded.add(text)

    def prepare(self) -> None:
        """Begin to compile or load them in the background, unless that was begun before."""
        with _lock:
            self._are_wanted = True
            # an interpreter that is about to end starts no threads
            with contextlib.suppress(RuntimeError):
                if self._thread is None and not self._stopped.is_set():
                    thread = threading.Thread(target=self._prepare, name="slotwise-kernels", daemon=True)
                    thread.start()
                    self._thread = thread

    def wait(self) -> bool:
        """Wait until they are there, or will not be; True if they are."""
        if self._thread is not None:
            self._thread.join()
        return self.are_there

    def stop(self) -> None:
        """End what is going on in the background, and wait for that."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def is_in_preparation(self) -> bool:
        """Whether a thread is at work on them."""
        return self._thread is not None and self._thread.is_alive()

    def forget_thread(self) -> None:
        """In the child of a fork."""
        self._stopped, self._thread = threading.Event(), None

    def _prepare(self) -> None:
        try:
            outcome = fill(self._warm_up.module, self._warm_up.text, self._stopped)
            if outcome is Outcome.KILLED:
                log.warning("the process that compiles was killed: decisions stay slow until the next start")
            elif outcome is not Outcome.STOPPED:
                with abandoned_on(self._stopped):
                    self._warm_up.run()
                self._are_there = True
        except Abandoned:
            pass
        except Exception:
            log.exception("kernels cannot be compiled: decisions stay slow")

    def __reduce__(self) -> Any:
        return kernels_for, (self._warm_up, self._items)


def _stop_all() -> None:
    """At the end of the process: an interpreter must not be taken down under a compiler at work."""
    for kernels in list(_in_preparation.values()):
        kernels.stop()


def _hold_compiler() -> None:
    """Before a fork: the child must not be left with half of what a thread was compiling."""
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
