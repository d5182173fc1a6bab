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
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, Literal, get_args

from numba.core import config
from numba.core.compiler_lock import global_compiler_lock

from slotwise.core import validation
from slotwise.jit import interpreted
from slotwise.policies import PolicyEntry
from slotwise.ranker.compile_process import Abandoned, Outcome, abandoned_on, fill, is_filled
from slotwise.ranker.warmup_script import Rehearsal

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


def kernels_for(policy: PolicyEntry, slots: int, items: int, *, bias_is_known: bool, pools: bool = False) -> Kernels:
    """The kernels of learners with this policy: one object for all whose kernels are being prepared in this process."""
    when = _asked.get() or os.environ.get(SETTING) or "background"
    validation.one_of(SETTING, when, get_args(When))
    play = Rehearsal(policy, slots, items, bias_is_known, pools)
    if when == "never":
        return Kernels(play)
    if when == "first" or config.DISABLE_JIT or not play.is_for_others or is_filled(play.text):
        return Kernels(play, are_there=True)
    with _lock:
        kernels = _in_preparation.setdefault(play.text, Kernels(play))
    kernels.prepare()
    if items > MAX_PLAIN_ITEMS and kernels.is_in_preparation():
        log.warning(f"compiling before the first decision among {items:,} items: half a minute, once on this machine")
        kernels.wait()
    return kernels


class Kernels:
    """What a policy, and what is told of it, need compiled, and whether that is there."""

    def __init__(self, play: Rehearsal, *, are_there: bool = False) -> None:
        self._play = play
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
        if self.are_there and self._play.text not in _loaded:
            self._play.run()
            _loaded.add(self._play.text)

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
        text = self._play.text
        try:
            outcome = fill(text, self._stopped)
            if outcome is Outcome.KILLED:
                log.warning("the process that compiles was killed: decisions stay slow until the next start")
            elif outcome is not Outcome.STOPPED:
                with abandoned_on(self._stopped):
                    self._play.run()
                self._are_there = True
        except Abandoned:
            pass
        except Exception:
            log.exception("kernels cannot be compiled: decisions stay slow")

    def __reduce__(self) -> Any:
        play = self._play
        return _kernels_again, (play.policy, play.slots, play.items, play.bias_is_known, play.pools)


def _kernels_again(policy: PolicyEntry, slots: int, items: int, bias_is_known: bool, pools: bool) -> Kernels:
    return kernels_for(policy, slots, items, bias_is_known=bias_is_known, pools=pools)


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
