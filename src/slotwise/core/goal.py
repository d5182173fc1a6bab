"""The goal of a list: the value of a click on each item, and the constraints on lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from slotwise.core import validation
from slotwise.core.errors import InvalidInput, InvalidRanking
from slotwise.core.types import EMPTY, FloatArray, Ranking

#: a weight times a value must stay finite
MAX_VALUE = 1e100


@dataclass(frozen=True, eq=False, init=False)
class Goal:
    """Maximise the expected value Σ_k v γ_k/(1+S) of a list, among the lists that are allowed.

    Items and slots count from 0. With values, the best list may put a less attractive item first. It may also leave a
    slot empty, so that a cheap item does not take clicks from a valuable one.

    Parameters
    ----------
    values
        v, the value of a click on each item, finite and not negative; 1 for all if None.
    pin
        The slot of each item that must be in it.
    exclude
        Items that may not be shown.
    groups
        The label of each item's group, or None.
    max_per_group
        The maximum number of items of a group in one list.
    may_be_empty
        Whether a slot may stay empty.

    Examples
    --------
    >>> goal = Goal(values=[9.0, 1.0, 5.0], pin={2: 1}, may_be_empty=True)
    >>> goal.check(slots=3, items=3)
    >>> goal.ranking_of([0, 2, EMPTY], slots=3, items=3).tolist()
    [0, 2, -2]
    >>> goal.ranking_of([0, 1, 2], slots=3, items=3)
    Traceback (most recent call last):
    slotwise.core.errors.InvalidRanking: item 2 is pinned to slot 1, got [0, 1, 2]
    """

    #: v, per item; None counts every click as 1
    values: FloatArray | None
    #: the slot of each item that must be in it
    pin: Mapping[int, int]
    #: items that may not be shown
    exclude: frozenset[int]
    #: per item: the label of its group, or None
    groups: tuple[Hashable, ...] | None
    #: the maximum number of items of a group in one list; a group without an entry has no limit
    max_per_group: Mapping[Hashable, int]
    #: whether a slot may stay empty
    may_be_empty: bool

    def __init__(
        self,
        values: ArrayLike | None = None,
        *,
        pin: Mapping[int, int] | None = None,
        exclude: Collection[int] = (),
        groups: Sequence[Hashable] | None = None,
        max_per_group: Mapping[Any, int] | None = None,
        may_be_empty: bool = False,
    ) -> None:
        if not isinstance(may_be_empty, bool):
            raise InvalidInput(f"may_be_empty must be true or false, got {may_be_empty!r}")
        fields = {
            "values": None if values is None else _values(values),
            "pin": _pin(pin),
            "exclude": frozenset(_exclude(exclude)),
            "groups": _labels(groups),
            "max_per_group": _max_per_group(max_per_group),
            "may_be_empty": may_be_empty,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        self._check_itself()

    def _check_itself(self) -> None:
        """Raise an error for contradictions that do not depend on the numbers of slots and items."""
        for item, slot in self.pin.items():
            if item in self.exclude:
                raise InvalidInput(f"item {item} is both pinned, to slot {slot}, and excluded")
        for label in self.max_per_group:
            if label is None or label not in (self.groups or ()):
                raise InvalidInput(f"max_per_group limits group {label!r}, which no item of groups is in")

    def check(self, slots: int, items: int) -> None:
        """Raise an error unless the goal fits a page of `slots` slots and `items` items."""
        for name, given in (("values", self.values), ("groups", self.groups)):
            if given is not None and len(given) != items:
                raise InvalidInput(f"{name} must have one entry for each of the {items} items, got {len(given)}")
        for item, slot in self.pin.items():
            if item >= items:
                raise InvalidInput(f"pin names item {item}, but items are 0 to {items - 1}")
            if slot >= slots:
                raise InvalidInput(f"pin puts item {item} into slot {slot}, but slots are 0 to {slots - 1}")
        for item in self.exclude:
            if item >= items:
                raise InvalidInput(f"exclude names item {item}, but items are 0 to {items - 1}")
        pinned_of = self._count(self.pin)
        for label, most in self.max_per_group.items():
            if pinned_of[label] > most:
                raise InvalidInput(f"max_per_group allows {most} of group {label!r}, but {pinned_of[label]} are pinned")
        if not self.may_be_empty:
            self._check_enough(slots, items)

    def _check_enough(self, slots: int, items: int) -> None:
        enough = items - len(self.exclude)
        if self.max_per_group:
            shown = Counter(self._group(item) for item in range(items) if item not in self.exclude)
            enough = sum(min(count, self.max_per_group.get(label, count)) for label, count in shown.items())
        if enough < slots:
            raise InvalidInput(
                f"exclude and max_per_group leave {enough} items to show at once, which cannot fill {slots} slots; "
                "may_be_empty would allow it"
            )

    def ranking_of(self, ranking: ArrayLike, *, slots: int, items: int) -> Ranking:
        """Return the list as an array if this goal allows it, and raise `InvalidRanking` otherwise."""
        checked = validation.ranking_of(ranking, slots=slots, items=items, may_be_empty=self.may_be_empty)
        shown = checked.tolist()
        for item, slot in self.pin.items():
            if shown[slot] != item:
                raise InvalidRanking(f"item {item} is pinned to slot {slot}, got {shown}")
        for item in shown:
            if item in self.exclude:
                raise InvalidRanking(f"item {item} is excluded, got {shown}")
        for label, count in self._count(item for item in shown if item != EMPTY).items():
            if count > self.max_per_group.get(label, count):
                raise InvalidRanking(
                    f"at most {self.max_per_group[label]} of group {label!r} may be shown, got {count} in {shown}"
                )
        return checked

    def _group(self, item: int) -> Hashable:
        return None if self.groups is None else self.groups[item]

    def _count(self, items: Iterable[int]) -> Counter[Hashable]:
        return Counter(self._group(item) for item in items)


def _values(given: object) -> FloatArray:
    values = validation.number_vector("values", given)
    wrong = np.flatnonzero(~((values >= 0) & (values <= MAX_VALUE)))
    if wrong.size:
        raise InvalidInput(
            f"values must be finite and not negative, at most {MAX_VALUE:g}, got {float(values[wrong[0]])!r} "
            f"for item {wrong[0]}, counted from 0"
        )
    values.flags.writeable = False
    return values


def _pin(given: object) -> dict[int, int]:
    checked = validation.pins("pin", {} if given is None else given, first=0)
    return {validation.whole_number("an item in pin", item, at_least=0): slot for item, slot in checked.items()}


def _exclude(given: object) -> Iterable[int]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InvalidInput(f"exclude must be a list of items, got {validation.short(given)}")
    return [validation.whole_number("an item in exclude", item, at_least=0) for item in given]


def _labels(given: object) -> tuple[Hashable, ...] | None:
    if given is None:
        return None
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InvalidInput(f"groups must be a list of one label or None for each item, got {validation.short(given)}")
    labels = tuple(given)
    for label in labels:
        if not isinstance(label, Hashable):
            raise InvalidInput(f"a label in groups must be text, a number or None, got {validation.short(label)}")
    return labels


def _max_per_group(given: object) -> dict[Hashable, int]:
    return {
        label: validation.whole_number(f"max_per_group of group {label!r}", most, at_least=0)
        for label, most in _mapping("max_per_group", "groups to numbers", given).items()
    }


def _mapping(name: str, what: str, given: object) -> Mapping[Any, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidInput(f"{name} must map {what}, got {validation.short(given)}")
    return given
