"""Validation of arguments: each function returns a checked value or raises an error with field and value."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex, cast

import numpy as np

from slotwise.core.errors import InvalidInput, InvalidRanking
from slotwise.core.types import EMPTY, FloatArray, IntArray, Ranking


def whole_number(name: str, value: object, *, at_least: int, at_most: int | None = None) -> int:
    """Return an integer within its bounds."""
    try:
        number = operator.index(cast("SupportsIndex", value))
    except TypeError:
        raise InvalidInput(f"{name} must be a whole number, got {value!r}") from None
    if isinstance(value, bool) or number < at_least:
        raise InvalidInput(f"{name} must be at least {at_least}, got {value!r}")
    if at_most is not None and number > at_most:
        raise InvalidInput(f"{name} must be at most {at_most}, got {value!r}")
    return number


def positive_vector(name: str, values: object, each: str) -> FloatArray:
    """Return a new array of positive, finite numbers; `each` is the noun for one entry: slot or item."""
    vector = number_vector(name, values)
    wrong = np.flatnonzero(~(np.isfinite(vector) & (vector > 0)))
    if wrong.size:
        raise InvalidInput(
            f"{name} must be positive and finite, got {float(vector[wrong[0]])!r} for {each} {wrong[0] + 1}"
        )
    return vector


def probability_vector(name: str, values: object, each: str) -> FloatArray:
    """Return a new array of numbers from 0 to 1; `each` is the noun for one entry: slot or item."""
    vector = number_vector(name, values)
    wrong = np.flatnonzero(~((vector >= 0.0) & (vector <= 1.0)))
    if wrong.size:
        raise InvalidInput(f"{name} must be from 0 to 1, got {float(vector[wrong[0]])!r} for {each} {wrong[0] + 1}")
    return vector


def positive_number(name: str, value: object) -> float:
    """Return a positive, finite number."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise InvalidInput(f"{name} must be a number, got {short(value)}")
    if not 0.0 < value < np.inf:
        raise InvalidInput(f"{name} must be positive and finite, got {value!r}")
    return float(value)


def pins(name: str, given: object, *, first: int, last: int | None = None) -> dict[Any, int]:
    """Return a mapping from items to slots, counted from `first` to `last`; each slot has at most one item."""
    if not isinstance(given, Mapping):
        raise InvalidInput(f"{name} must map items to slots, got {short(given)}")
    checked: dict[Any, int] = {}
    label_of: dict[int, str] = {}
    for item, slot in given.items():
        label = f"item {item}" if isinstance(item, int) else short(item)
        checked[item] = place = whole_number(f"the slot of {label} in {name}", slot, at_least=first, at_most=last)
        if place in label_of:
            raise InvalidInput(f"{name} puts both {label_of[place]} and {label} into slot {place}")
        label_of[place] = label
    return checked


def share(name: str, value: object) -> float:
    """Return a number above 0 and at most 1."""
    number = positive_number(name, value)
    if number > 1.0:
        raise InvalidInput(f"{name} must be at most 1, got {value!r}")
    return number


def one_of(name: str, value: object, allowed: Sequence[str]) -> None:
    """Raise an error unless the value is one of `allowed`."""
    if value not in allowed:
        raise InvalidInput(f"{name} must be {' or '.join(allowed)}, got {value!r}")


def per_item(name: str, value: object, items: int) -> FloatArray:
    """Return a positive, finite number per item, from one number for all or from a list."""
    if np.asarray(value).ndim == 0:
        return np.full(items, positive_number(name, value))
    vector = positive_vector(name, value, each="item")
    if len(vector) != items:
        raise InvalidInput(f"{name} must have one entry per item, {items}, got {len(vector)}")
    return vector


def number_vector(name: str, values: object) -> FloatArray:
    """Return a new array of at least one number."""
    try:
        # before the conversion: numpy reads the text "1" and the truth value True as numbers
        entries = values if isinstance(values, Sequence) else np.asarray(values).flat
        if any(isinstance(entry, str | bool | np.bool_) for entry in entries):
            raise TypeError
        vector = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"{name} must be a list of numbers, got {short(values)}") from None
    if vector.ndim != 1 or vector.size == 0:
        raise InvalidInput(f"{name} must be a list of at least one number, got {short(values)}")
    return vector


#: controls, line and paragraph separators, and halves of characters that no file can hold
_CONTROL_CHARACTERS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def has_control_characters(text: str) -> bool:
    r"""Return whether a text has control characters, which cannot be shown.

    >>> has_control_characters("two\nlines"), has_control_characters("tea")
    (True, False)
    """
    return _CONTROL_CHARACTERS.search(text) is not None


def short(values: object) -> str:
    """Return the repr of a value, cut to 80 characters."""
    text = repr(values)
    return text if len(text) <= 80 else text[:77] + "..."


def counts(name: str, values: object) -> IntArray:
    """Return a slots × items array of whole numbers that are not negative."""
    matrix = _count_matrix(name, values, "iu", "whole numbers", "not be negative")
    return np.ascontiguousarray(matrix, dtype=np.int64)


def weighted_counts(name: str, values: object) -> FloatArray:
    """Return a slots × items array of finite numbers that are not negative."""
    matrix = _count_matrix(name, values, "iuf", "numbers", "be finite and not negative")
    return np.ascontiguousarray(matrix, dtype=np.float64)


def _count_matrix(name: str, values: object, kinds: str, noun: str, rule: str) -> np.ndarray[Any, Any]:
    matrix = np.asarray(values)
    if matrix.ndim != 2 or matrix.size == 0:
        raise InvalidInput(f"{name} must be a slots × items array, got shape {matrix.shape}")
    if matrix.dtype.kind not in kinds:
        raise InvalidInput(f"{name} must hold {noun}, got {matrix.dtype}")
    wrong = ~((matrix >= 0) & (matrix < np.inf))
    if wrong.any():
        slot, item = np.argwhere(wrong)[0]
        raise InvalidInput(f"{name} must {rule}, got {matrix[slot, item]} in slot {slot}, item {item}")
    return matrix


def ranking_of(ranking: object, *, slots: int, items: int, may_be_empty: bool = False) -> Ranking:
    """Return `slots` distinct items out of 0 … items-1; EMPTY is allowed if `may_be_empty`."""
    try:
        array = np.asarray(ranking)
    except ValueError:
        array = np.empty(0, object)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InvalidRanking(f"a ranking is a list of whole numbers, got {ranking!r}")
    if len(array) != slots:
        raise InvalidRanking(f"a ranking has one item for each of the {slots} slots, got {array.tolist()}")
    shown = array[array != EMPTY] if may_be_empty else array
    outside = shown[(shown < 0) | (shown >= items)]
    if outside.size:
        raise InvalidRanking(f"a ranking holds items 0 to {items - 1}, got {outside[0]} in {array.tolist()}")
    if len(np.unique(shown)) != len(shown):
        raise InvalidRanking(f"a ranking holds an item once, got {array.tolist()}")
    return np.ascontiguousarray(array, dtype=np.int64)
