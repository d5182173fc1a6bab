"""Fills the cache with compiled kernels in another process.

A marker file in the cache's folder means that the kernels of a script are there. One process at a time fills a folder:
it holds a lock on a file, which the system releases when the process ends.
"""

from __future__ import annotations

import contextlib
import enum
import fcntl
import hashlib
import logging
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import llvmlite.binding
import numba
from numba.core import config, event

from slotwise.jit.kernel_cache import cache_folder, everything_was_saved

#: seconds between two checks whether the other process, or this one, has ended
LOOK_SECONDS = 0.1
#: niceness of the process that compiles: processes that answer requests go first
NICENESS = 5

log = logging.getLogger("slotwise")


class CompileOutcome(enum.Enum):
    """The result of filling the cache."""

    FILLED = enum.auto()
    #: it failed: this process may try itself
    FAILED = enum.auto()
    #: the compile process was killed, for example for lack of memory: this process must not try
    KILLED = enum.auto()
    #: this process ended meanwhile
    STOPPED = enum.auto()


def is_filled(what: str) -> bool:
    """Return whether the kernels for `what` are in the cache, for this machine and these versions."""
    marker = _marker(what)
    return marker is not None and marker.exists()


def mark_filled(what: str) -> None:
    """Mark them as filled, if all of them could be saved."""
    marker = _marker(what)
    if marker is not None and everything_was_saved():
        with contextlib.suppress(OSError):
            marker.touch()


def _marker(what: str) -> Path | None:
    folder = cache_folder()
    if folder is None:
        return None
    # numba distinguishes kernels by the same properties
    machine = (
        numba.__version__,
        sys.implementation.cache_tag,
        config.CPU_NAME or llvmlite.binding.get_host_cpu_name(),
        config.CPU_FEATURES or llvmlite.binding.get_host_cpu_features().flatten(),
        config.OPT,
    )
    digest = hashlib.sha256(repr((what, machine)).encode()).hexdigest()[:16]
    return Path(folder) / f"{digest}.filled"


def fill(module: str, what: str, stopped: threading.Event) -> CompileOutcome:
    """Let another process fill the cache: `python -m MODULE WHAT PARENT`, which calls `work_for` and `mark_filled`.

    Waits for that process, or for another one that is filling the cache already; a stop ends that process too.
    """
    folder = cache_folder()
    if folder is None or not _is_python(sys.executable):
        return CompileOutcome.FAILED
    try:
        with tempfile.TemporaryFile() as words:
            with open(Path(folder) / "filling.lock", "ab") as lock:
                while not is_filled(what) and not _taken(lock):
                    if stopped.wait(LOOK_SECONDS):
                        return CompileOutcome.STOPPED
                if is_filled(what):
                    return CompileOutcome.FILLED
                process = _start(module, what, folder, lock, words)
            # from here on only the other process holds the lock, until it ends
            return _outcome(what, process, words, stopped)
    except (OSError, ValueError) as problem:
        log.warning(f"no process could be started to compile kernels: {problem}")
        return CompileOutcome.FAILED


def _is_python(executable: str | None) -> bool:
    """Whether this process runs in an interpreter, and not in a program that has one built in."""
    return bool(executable) and os.path.basename(executable or "").startswith("python") and not hasattr(sys, "frozen")


def _taken(lock: IO[bytes]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _start(module: str, what: str, folder: str, lock: IO[bytes], words: IO[bytes]) -> subprocess.Popen[bytes]:
    environment = {
        **os.environ,
        # the modules and folder of this process, even if they were changed since it started
        "PYTHONPATH": os.pathsep.join(os.path.abspath(path) for path in sys.path if path),
        "NUMBA_CACHE_DIR": str(Path(folder).parent),
    }
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, what, str(os.getpid())],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=words,
        pass_fds=(lock.fileno(),),
        # Ctrl-C is meant for this process
        start_new_session=True,
    )


def _outcome(what: str, process: subprocess.Popen[bytes], words: IO[bytes], stopped: threading.Event) -> CompileOutcome:
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(LOOK_SECONDS)
            break
        if stopped.is_set():
            process.kill()
            process.wait()
            return CompileOutcome.STOPPED
    if is_filled(what):
        return CompileOutcome.FILLED
    if process.returncode < 0:
        return CompileOutcome.KILLED
    words.seek(0)
    said = words.read().decode(errors="replace").strip().splitlines() or [f"it ended with {process.returncode}"]
    log.warning(f"the process that compiles kernels failed: {said[-1]}")
    return CompileOutcome.FAILED


def work_for(parent: int) -> None:
    """Become the process that compiles for another one: lower the priority, and end when that one ends."""
    os.nice(NICENESS)

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_SECONDS)
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


class Abandoned(BaseException):
    """A compilation was abandoned because the process is about to end."""


@contextlib.contextmanager
def abandoned_on(stopped: threading.Event) -> Iterator[None]:
    """Raise `Abandoned` in a compilation of this thread soon after a stop, at the compiler's next step."""
    thread = threading.get_ident()

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, _: object) -> None:
            if stopped.is_set() and threading.get_ident() == thread:
                raise Abandoned

        def on_end(self, _: object) -> None:
            pass

    listener = Listener()
    event.register("numba:run_pass", listener)
    try:
        yield
    finally:
        event.unregister("numba:run_pass", listener)
