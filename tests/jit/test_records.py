from __future__ import annotations

import pickle

import numpy as np
import pytest

from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import FloatArray
from slotwise.jit import generic, is_ours, is_record, jit, plain, record
from slotwise.policies.policy_registry import available_policies


@record
class Counter:
    """Counts."""

    total: int
    values: FloatArray


@generic()
def bump(counter: Counter, by: int) -> int:  # type: ignore[empty-body]
    """Add."""


@bump.register(Counter)
def _bump(counter: Counter, by: int) -> int:
    counter.total += by
    counter.values[0] += by
    return counter.total


@jit
def bump_twice(counter: Counter) -> int:
    bump(counter, 2)
    result: int = bump(counter, 3)
    return result


def test_scalars_and_arrays_are_mutable_in_compiled_code() -> None:
    counter = Counter(total=1, values=np.zeros(2))
    assert bump_twice(counter) == 6
    assert bump(counter, 1) == 7
    assert (counter.total, counter.values.tolist()) == (7, [6.0, 0.0])


def test_the_plain_twin_runs_the_same_functions() -> None:
    counter = plain(Counter(total=1, values=np.zeros(2)))
    assert bump(counter, 5) == 6
    assert counter.total == 6
    assert is_record(counter)
    assert not is_record("counter")


def test_records_are_built_by_field_name() -> None:
    with pytest.raises(TypeError, match="Counter has the fields total, values, got total"):
        Counter(total=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Counter(1, np.zeros(2))  # type: ignore[call-arg]


def test_records_are_shown_and_pickled() -> None:
    counter = Counter(total=3, values=np.ones(1))
    assert repr(counter) == "Counter(total=3, values=array([1.]))"
    assert Counter.__doc__ == "Counts."
    again = pickle.loads(pickle.dumps(counter))
    assert (again.total, again.values.tolist()) == (3, [1.0])


def test_an_object_that_is_no_record_answers_with_its_method() -> None:
    class Other:
        def bump(self, by: int) -> str:
            return f"by {by}"

    assert bump(Other(), 4) == "by 4"
    with pytest.raises(AttributeError):
        bump(object(), 4)


@generic(default=lambda counter: 7)
def lucky(counter: Counter) -> int:  # type: ignore[empty-body]
    """A number."""


@jit
def ask_lucky(counter: Counter) -> int:
    result: int = lucky(counter)
    return result


def test_the_default_answers_for_types_without_an_implementation() -> None:
    counter = Counter(total=1, values=np.zeros(1))
    assert ask_lucky(counter) == lucky(counter) == lucky(plain(counter)) == lucky(object()) == 7

    class Other:
        def lucky(self) -> int:
            return 13

    assert lucky(Other()) == 13


def test_only_records_of_the_package_are_ours() -> None:
    assert not is_ours(Counter(total=1, values=np.zeros(2)))
    task = PolicyTask(2, 3, 10, np.ones(2))
    assert all(is_ours(entry.start(task)) for entry in available_policies())
