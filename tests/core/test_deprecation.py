from __future__ import annotations

import inspect

import pytest

from slotwise.core.deprecation import deprecated, renamed_argument
from slotwise.core.errors import InvalidInput


@deprecated("Ranker.tally", removed_in="2.0")
def counts(slots: int, *, items: int = 2) -> int:
    """The counts."""
    return slots * items


@renamed_argument("memory", "half_life", removed_in="2.0")
def serve(name: str, *, half_life: float = 1.0) -> tuple[str, float]:
    return name, half_life


def test_a_deprecated_function_names_its_replacement_and_still_works() -> None:
    with pytest.warns(
        DeprecationWarning, match=r"^counts is deprecated and will be removed in version 2\.0: use Ranker\.tally$"
    ) as caught:
        assert counts(3, items=4) == 12
    # the warning is about the line that calls it, or nobody would find it
    assert [warning.filename for warning in caught] == [__file__]


def test_a_deprecated_function_looks_like_itself() -> None:
    assert counts.__doc__ == "The counts."
    assert list(inspect.signature(counts).parameters) == ["slots", "items"]


def test_the_former_name_of_an_argument_warns_and_works() -> None:
    with pytest.warns(DeprecationWarning, match=r"^memory of serve .* in version 2\.0: use half_life$") as caught:
        assert serve("home", memory=24.0) == ("home", 24.0)
    assert [warning.filename for warning in caught] == [__file__]


def test_the_new_name_of_an_argument_does_not_warn() -> None:
    # warnings are errors in this project's tests
    assert serve("home", half_life=24.0) == ("home", 24.0)
    assert serve("home") == ("home", 1.0)


def test_both_names_at_once_are_refused() -> None:
    with pytest.raises(InvalidInput, match="half_life is given twice: memory is its former name"):
        serve("home", half_life=1.0, memory=2.0)
