"""Reference counting is left out of loops that only read, and stays in all others."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from numba.core import config

from slotwise.core.types import FloatArray
from slotwise.jit import jit, loop, record
from slotwise.jit.refcount_elision import LoopLibrary, without_counts

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled with NUMBA_DISABLE_JIT")


@record
class Shelf:
    """Two arrays, in a record or in a record within it."""

    front: FloatArray
    back: FloatArray


@record
class Room:
    shelf: Any
    sum: float


def _room() -> tuple[Any, FloatArray, FloatArray]:
    front, back = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    return Room(shelf=Shelf(front=front, back=back), sum=0.0), front, back


@jit
def _front(room: Room) -> Any:
    return room.shelf.front


@jit
def _put_back_in_front(shelf: Shelf) -> None:
    shelf.front = shelf.back


@jit
def _tidy(room: Room) -> None:
    _put_back_in_front(room.shelf)


@loop
def _add(room: Room, times: int) -> float:
    for _ in range(times):
        for place in range(len(room.shelf.back)):
            room.sum += _front(room)[place] * room.shelf.back[place]
    return room.sum


@loop
def _add_copies(room: Room, times: int) -> float:
    for _ in range(times):
        room.sum += (room.shelf.front * 2.0).sum()
    return room.sum


@loop
def _tidy_often(room: Room, times: int) -> float:
    for _ in range(times):
        _tidy(room)
    return float(room.shelf.front[0])


@loop
def _tidy_here(room: Room, times: int) -> float:
    for _ in range(times):
        room.shelf.front = room.shelf.back
    return float(room.shelf.front[0])


@loop
def _the_front(room: Room, times: int) -> Any:
    for _ in range(times):
        room.sum += 1.0
    return room.shelf.front


def _is_elided(kernel: Any) -> bool:
    (compiled,) = kernel.overloads.values()
    assert isinstance(compiled.library, LoopLibrary)
    return compiled.library.is_elided


def _counts(kernel: Any) -> bool:
    (compiled,) = kernel.overloads.values()
    _, _, native = compiled.library.get_llvm_str().partition(f"@{compiled.fndesc.llvm_func_name}(")
    return "@NRT_incref" in native.partition("\n}")[0]


def test_a_loop_that_only_reads_does_not_count_and_leaves_counts_unchanged() -> None:
    room, front, back = _room()
    before = sys.getrefcount(front), sys.getrefcount(back)
    assert _add(room, 3) == 33.0
    assert _is_elided(_add)
    assert not _counts(_add)
    for _ in range(100):
        _add(room, 10)
    assert (sys.getrefcount(front), sys.getrefcount(back)) == before
    del room
    assert (sys.getrefcount(front), sys.getrefcount(back)) == (before[0] - 1, before[1] - 1)


@pytest.mark.parametrize("tidy", [_tidy_here, _tidy_often], ids=["itself", "in a part of a part"])
def test_a_loop_that_stores_a_reference_counts(tidy: Any) -> None:
    room, front, back = _room()
    of_front, of_back = sys.getrefcount(front), sys.getrefcount(back)
    for _ in range(10):
        assert tidy(room, 5) == 3.0
    assert not _is_elided(tidy)
    assert _counts(tidy)
    assert sys.getrefcount(front) == of_front - 1
    del room
    assert sys.getrefcount(back) == of_back - 1


def test_a_loop_that_allocates_counts_and_frees() -> None:
    room, front, _ = _room()
    before = sys.getrefcount(front)
    assert _add_copies(room, 4) == 24.0
    assert not _is_elided(_add_copies)
    assert sys.getrefcount(front) == before


def test_a_loop_that_returns_an_array_counts() -> None:
    room, _, _ = _room()
    arrays = [_the_front(room, 2) for _ in range(10)]
    assert not _is_elided(_the_front)
    del room
    assert [array.tolist() for array in arrays] == [[1.0, 2.0]] * 10


def test_entry_points_for_python_keep_counting() -> None:
    code = (
        "define i32 @loop(ptr %a) {\n  call void @NRT_incref(ptr %a)\n"
        "  tail call void @NRT_decref(ptr %a)\n  ret i32 0\n}\n"
        "define ptr @_ZN7cpython4loop(ptr %a) {\n  call void @NRT_decref(ptr %a)\n  ret ptr %a\n}\n"
    )
    elided = without_counts(code)
    assert elided is not None
    assert elided.count("NRT_") == 1
    assert "define i32 @loop(ptr %a) {\n  ret i32 0\n}" in elided
    assert without_counts(code.replace("ret i32", "%b = call ptr @NRT_MemInfo_alloc_aligned(i64 8)\n  ret i32")) is None
