"""Kernels called from Python as they are written: nothing is compiled, and the result is that of the compiled ones."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import numpy as np
import pytest

from slotwise.core.types import FloatArray
from slotwise.jit import compiled, generic, inlined, interpreted, is_plain, jit, plain, record


@inlined
def _over(value: float, by: float) -> float:
    return value / by


@jit
def shares(values: FloatArray) -> float:
    total = 0.0
    for value in values:
        total += _over(1.0, value)
    return total


@record
class Box:
    """Holds a value."""

    value: float
    count: int
    values: FloatArray


@record
class Shelf:
    """Holds a box."""

    box: Any
    is_open: bool


@generic()
def fill(shelf: Shelf, by: float) -> float:  # type: ignore[empty-body]
    """Add to what is in the box."""


@fill.register(Shelf)
def _fill(shelf: Shelf, by: float) -> float:
    shelf.box.value += by
    shelf.box.count += 1
    shelf.box.values[0] += shares(shelf.box.values)
    return float(shelf.box.value)


@jit
def fill_twice(shelf: Shelf, by: float) -> float:
    fill(shelf, by)
    return float(fill(shelf, by))


@generic(default=lambda shelf: fill_twice(shelf, 1.0))
def top_up(shelf: Shelf) -> float:  # type: ignore[empty-body]
    """By default, twice."""


def _shelf() -> Shelf:
    return Shelf(box=Box(value=1.0, count=0, values=np.array([1.0, 3.0])), is_open=True)


def _signatures() -> int:
    implementation: Any = fill._from_python[Shelf]
    kernels: list[Any] = [shares, _over, fill_twice, implementation]
    return sum(len(kernel.signatures) for kernel in kernels)


def test_inside_nothing_is_compiled_and_records_are_plain() -> None:
    before = _signatures()
    with interpreted():
        shelf = _shelf()
        assert is_plain(shelf)
        assert is_plain(shelf.box)
        assert fill_twice(shelf, 0.5) == 2.0
    assert _signatures() == before


def test_a_plain_record_as_first_argument_is_all_it_takes() -> None:
    with interpreted():
        shelf = _shelf()
    before = _signatures()
    assert fill(shelf, 0.5) == 1.5
    assert fill_twice(shelf, 0.5) == 2.5
    assert top_up(shelf) == 4.5
    assert shelf.box.count == 5
    assert _signatures() == before
    # and what follows is compiled again
    assert not is_plain(_shelf())
    assert fill(_shelf(), 0.5) == 1.5
    assert _signatures() > before


def test_division_by_zero_is_infinite_as_in_compiled_code() -> None:
    values = np.array([0.0, 2.0])
    with interpreted():
        assert shares(values) == np.inf
    assert shares(values) == np.inf


def test_an_error_inside_ends_it() -> None:
    with interpreted():
        shelf = _shelf()
    with pytest.raises(TypeError):
        fill(shelf, "much")
    assert not is_plain(_shelf())


def test_other_threads_are_not_affected() -> None:
    found = []
    with interpreted():
        thread = threading.Thread(target=lambda: found.append(is_plain(_shelf())))
        thread.start()
        thread.join()
    assert found == [False]


def test_there_and_back_is_the_same_record_with_the_same_arrays() -> None:
    like: Any = _shelf()
    with interpreted():
        shelf = _shelf()
    values = shelf.box.values
    fill(shelf, np.float64(0.5))
    # as Python keeps numbers, but not as compiled code does
    shelf.box.value = 2
    shelf.box.count = np.float64(1.0)
    again = compiled(shelf, like)
    assert again._numba_type_ == like._numba_type_  # type: ignore[attr-defined]
    assert (again.box.value, again.box.count, again.is_open) == (2.0, 1, True)
    fill(again, 1.0)
    np.testing.assert_array_equal(values, plain(again).box.values)
    assert np.shares_memory(values, again.box.values)


def test_other_objects_than_records_are_not_changed() -> None:
    mine = object()
    assert compiled(mine, like=object()) is mine


def test_plain_twins_are_instances_and_can_be_pickled() -> None:
    shelf = plain(_shelf())
    assert isinstance(shelf, Shelf)
    assert isinstance(_shelf(), Shelf)
    assert not isinstance(shelf, Box)
    again = pickle.loads(pickle.dumps(shelf))
    assert is_plain(again)
    assert again.box.values.tolist() == [1.0, 3.0]


def test_kernels_are_pickled_as_kernels() -> None:
    again = pickle.loads(pickle.dumps(shares))
    assert again(np.array([2.0])) == 0.5
    with interpreted():
        assert again(np.array([2.0])) == 0.5
