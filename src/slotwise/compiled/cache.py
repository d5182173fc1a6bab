"""Compile with numba and keep the machine code on disk, never a stale one.

numba notices an edit in the file of a cached function, but not in the files of the functions that it calls. The folder
of the cache therefore carries a hash of every source file of the package: any edit or upgrade starts a new folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import config

Function = TypeVar("Function", bound=Callable[..., object])

PACKAGE = Path(__file__).resolve().parents[1]
KEEP_UNUSED_DAYS = 30
#: how everything is compiled, the implementations of generic functions too: 1/0 is infinity and not an exception
OPTIONS = {"nogil": True, "error_model": "numpy"}


def jit(function: Function) -> Function:
    """Compile `function` on first call, without the GIL, from the cache if it is one of ours."""
    return _compile(function, inline=False)


def inlined(function: Function) -> Function:
    """The same for a small function in a hot loop: its machine code becomes part of its callers'."""
    return _compile(function, inline=True)


def _compile(function: Function, inline: bool) -> Function:
    folder = cache_folder() if _is_ours(function) else None
    outside = config.CACHE_DIR
    # numba reads its setting when it decorates; put it back for the caller's own kernels
    config.CACHE_DIR = folder or outside
    try:
        compiled: Any = numba.njit(**OPTIONS, cache=folder is not None, forceinline=inline)(function)
    finally:
        config.CACHE_DIR = outside
    return cast(Function, compiled)


@cache
def uncached(compiled: Function) -> Function:
    """The same kernel outside the cache: for records from files whose edits the cache's hash does not see."""
    function = getattr(compiled, "py_func", compiled)
    return cast(Function, numba.njit(**OPTIONS)(function))


def _is_ours(function: Callable[..., object]) -> bool:
    return Path(function.__code__.co_filename).resolve().is_relative_to(PACKAGE)


def source_hash(package: Path = PACKAGE) -> str:
    """A fingerprint of every Python file of the package: names and contents."""
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        digest.update(str(file.relative_to(package)).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@cache
def cache_folder() -> str | None:
    """The folder of this version's kernels, or None where no folder can be written."""
    if config.DISABLE_JIT:
        return None
    for base in candidate_folders():
        folder = base / f"kernels-{source_hash()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        os.utime(folder)
        _drop_unused(base)
        return str(folder)
    return None


def candidate_folders() -> list[Path]:
    """Where kernels may be kept, best first."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    chosen = [Path(config.CACHE_DIR)] if config.CACHE_DIR else []
    return [*chosen, Path(home) / "slotwise", Path(tempfile.gettempdir()) / f"slotwise-{os.getuid()}"]


def _drop_unused(base: Path) -> None:
    """Delete the kernels of versions that have not been imported for a month."""
    with contextlib.suppress(OSError):
        for folder in base.glob("kernels-*"):
            if time.time() - folder.stat().st_mtime > KEEP_UNUSED_DAYS * 86_400:
                shutil.rmtree(folder, ignore_errors=True)
