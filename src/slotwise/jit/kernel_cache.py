"""Compile with numba and cache the machine code on disk; stale code is never used.

numba notices an edit in the file of a cached function, but not in the files of the functions that it calls. The folder
of the cache therefore carries a hash of every file that kernels are made of: an edit of any of them, or an upgrade,
starts a new folder, and an edit of anything else compiles nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator
from numba.core.registry import CPUDispatcher

from slotwise.jit.cache_files import KernelFiles
from slotwise.jit.compiler_pipeline import Part, Whole
from slotwise.jit.interpreter_mode import Kernel
from slotwise.jit.refcount_elision import LoopCompiler

Function = TypeVar("Function", bound=Callable[..., object])

PACKAGE = Path(__file__).resolve().parents[1]
KEEP_UNUSED_DAYS = 30
#: numba's options for all code, including implementations of generic functions: 1/0 is infinity, not an exception
OPTIONS = {"nogil": True, "error_model": "numpy"}
#: the options of functions that compiled code calls
PART = {**OPTIONS, "pipeline_class": Part}

#: the decorators of functions and classes to compile
DECORATORS = {"jit", "inlined", "loop", "record", "generic"}

log = logging.getLogger("slotwise")


def jit(function: Function) -> Function:
    """Compile `function` on first call, without the GIL, from the cache if it is one of ours."""
    return _or_interpreted(compile_only(function))


def inlined(function: Function) -> Function:
    """The same for a small function in a hot loop: its machine code becomes part of its callers'."""
    return _or_interpreted(compile_only(function, inline=True))


def loop(function: Function) -> Function:
    """The same for a simulation loop: reference counting is left out if that is safe (`LoopCompiler`)."""
    return _or_interpreted(compile_only(function, pipeline_class=LoopCompiler))


def compile_only(function: Function, inline: bool = False, **options: Any) -> Function:
    """The same for functions that Python never runs uncompiled."""
    compiled: Any = numba.njit(**OPTIONS, forceinline=inline, **options)(function)
    if isinstance(compiled, CPUDispatcher):
        compiled.__class__ = Whole
    if _is_ours(function) and cache_folder() is not None:
        compiled._cache = _Cache(function)
    return cast(Function, compiled)


def _or_interpreted(compiled: Function) -> Function:
    if isinstance(compiled, CPUDispatcher):
        compiled.__class__ = Kernel
        compiled.part = numba.njit(**PART, forceinline=compiled.targetoptions["forceinline"])(compiled.py_func)
    return compiled


class _InVersion(UserProvidedCacheLocator):  # type: ignore[misc]
    """Finds a kernel by its file's place in the package, so that copies of the same sources share kernels.

    numba uses a file's path and time, which differ between copies. The folder of the cache is that of exactly these
    sources. It is not set in numba's configuration, which all threads share.
    """

    @classmethod
    def from_function(cls, py_func: Callable[..., object], py_file: str) -> _InVersion | None:
        locator = cls(py_func, py_file)
        try:
            locator.ensure_cache_path()
        except OSError:
            return None
        return locator

    def __init__(self, py_func: Callable[..., object], py_file: str) -> None:
        super().__init__(py_func, py_file)
        place = Path(py_file).resolve().relative_to(PACKAGE).parent
        # numba does not distinguish its own versions within a folder
        program = f"numba-{numba.__version__}-{sys.implementation.cache_tag}"
        self._cache_path = str(Path(cache_folder() or "", program, place))

    def get_source_stamp(self) -> str:
        return ""


class _KernelCache(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_InVersion,)


class _Cache(FunctionCache):  # type: ignore[misc]
    """numba's cache, with files that several processes may write at the same time.

    If the disk is full or read-only, the next process compiles again, and nothing else is lost.
    """

    _impl_class = _KernelCache

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)
        self._cache_file = KernelFiles(self._cache_path, self._impl.filename_base)

    def save_overload(self, signature: object, compiled: object) -> None:
        try:
            super().save_overload(signature, compiled)
        except OSError as problem:
            _warn_unsaved(str(problem))


@cache
def _warn_unsaved(why: str) -> None:
    global _everything_was_saved
    _everything_was_saved = False
    log.warning(f"compiled kernels cannot be cached, so the next start compiles again: {why}")


_everything_was_saved = True


def everything_was_saved() -> bool:
    """Whether every kernel that this process compiled and meant to keep could be written."""
    return _everything_was_saved


@cache
def uncached(compiled: Function) -> Function:
    """Return the kernel without a cache, for records from files that are not in the cache's hash."""
    function = getattr(compiled, "py_func", compiled)
    return _or_interpreted(cast(Function, numba.njit(**OPTIONS, forceinline=False)(function)))


def _is_ours(function: Callable[..., object]) -> bool:
    return _is_in_package(function.__code__.co_filename)


@cache
def _is_in_package(file: str) -> bool:
    return Path(file).resolve().is_relative_to(PACKAGE)


def kernel_hash(package: Path = PACKAGE) -> str:
    """Return a hash of the files that determine the kernels."""
    return hash_of(kernel_files(package), package)


def hash_of(files: Iterable[Path], package: Path = PACKAGE) -> str:
    """Return a hash of the names and contents of some files of the package."""
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(str(file.relative_to(package)).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def kernel_files(package: Path = PACKAGE) -> list[Path]:
    """Return every file with a function to compile, and every file from which such a file imports a constant.

    Functions and classes to compile have a decorator of `slotwise.jit`; constants are written in capitals.
    """
    imports = {file: _imports(file.read_text(encoding="utf-8")) for file in package.rglob("*.py")}
    files = {file for file, lines in imports.items() if any(_compiles(*line) for line in lines)}
    files.update((package / "jit").rglob("*.py"))
    new = files
    while new:
        sources = {
            _file(package, module) for file in new for module, names in imports[file] if any(map(str.isupper, names))
        }
        new = {file for file in sources if file in imports} - files
        files |= new
    return sorted(files)


_IMPORT = re.compile(rf"^from {PACKAGE.name}((?:\.\w+)*) import (\([^)]*\)|.*)$", re.MULTILINE)


def _imports(source: str) -> list[tuple[str, list[str]]]:
    """Module, less the package's name, and names of every import from the package."""
    return [(module.lstrip("."), re.findall(r"\w+", names)) for module, names in _IMPORT.findall(source)]


def _compiles(module: str, names: list[str]) -> bool:
    return module.partition(".")[0] == "jit" and not DECORATORS.isdisjoint(names)


def _file(package: Path, module: str) -> Path:
    path = package.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def cache_folder() -> str | None:
    """Return the folder of this version's kernels, or None if no writable folder is safe to load code from."""
    if config.DISABLE_JIT:
        return None
    for base in candidate_folders():
        folder = base / f"kernels-{kernel_hash()}"
        try:
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        # in a sticky folder, such as the temporary one, nobody can replace a folder of another user
        if not (_is_safe(base, allowed=stat.S_ISVTX) and _is_safe(folder)):
            continue
        os.utime(folder)
        _drop_unused(base)
        return str(folder)
    tried = ", ".join(str(base) for base in candidate_folders())
    log.warning(
        f"no folder for compiled kernels is safe and writable, so every start compiles again: set NUMBA_CACHE_DIR to "
        f"one that this user can write and no other user can, unlike {tried}"
    )
    return None


def _is_safe(folder: Path, allowed: int = 0) -> bool:
    """Whether `folder` belongs to this user or the administrator, and no other user can write to it.

    A kernel is unpickled, and unpickling runs code. Writing is harmless if the folder has a bit of `allowed`.
    """
    status = folder.lstat()
    is_writable = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not status.st_mode & allowed
    return stat.S_ISDIR(status.st_mode) and status.st_uid in (0, os.geteuid()) and not is_writable


def candidate_folders() -> list[Path]:
    """Return the folders that may hold the cache, best first."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    chosen = [Path(config.CACHE_DIR)] if config.CACHE_DIR else []
    return [*chosen, Path(home) / "slotwise", Path(tempfile.gettempdir()) / f"slotwise-{os.getuid()}"]


def _drop_unused(base: Path) -> None:
    """Delete the kernels of versions that have not been imported for a month."""
    with contextlib.suppress(OSError):
        for folder in base.glob("kernels-*"):
            if time.time() - folder.stat().st_mtime > KEEP_UNUSED_DAYS * 86_400:
                shutil.rmtree(folder, ignore_errors=True)
