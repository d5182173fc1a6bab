"""The catalog: named items, their values and features, which are retired, and the constraints of a decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.types import EMPTY, FloatArray, IntArray
from slotwise.optimize.dynamic_constraints import pins
from slotwise.ranker.feature_table import FeatureTable

NO_NEWCOMERS: Final[Mapping[str, int]] = MappingProxyType({})


@dataclass(frozen=True)
class Worth:
    """Per item the value of a click, and the items that are not shown without being asked for."""

    values: FloatArray
    excluded: IntArray


class DecisionConstraints(NamedTuple):
    """The constraints of one decision, by item number; slots count from 0."""

    exclude: frozenset[int]
    pinned: tuple[tuple[int, int], ...]
    #: the only items that may be shown; None if all may
    candidates: frozenset[int] | None = None

    def __bool__(self) -> bool:
        return bool(self.exclude or self.pinned or self.candidates is not None)


class CheckedConstraints(NamedTuple):
    """The constraints of a decision together with the retired items, checked: some list meets them."""

    #: items, in order
    excluded: IntArray
    #: from items to slots, counted from 0
    pinned: Mapping[int, int]
    #: the number of items left to show
    allowed: int

    def pins(self, slots: int) -> IntArray:
        """The item of each slot, as `slotwise.optimize.dynamic_constraints.impose` takes it."""
        return pins(slots, self.allowed, self.pinned)


class Catalog:
    """All items by id, numbered from 0 in the order of the tally; retired items stay.

    Spare columns have no item yet: a decision may show newcomers in them, and `admit` gives one to an item.
    """

    def __init__(
        self,
        ids: object,
        values: object = None,
        retired: object = (),
        features: object = None,
        reserve: object = (),
        spare: int = 0,
    ) -> None:
        self.ids: list[str] = []
        self.numbers: dict[str, int] = {}
        for item in listed("items", ids):
            self._add(item)
        #: by number, the items that are shown only as candidates of a decision
        self.reserve = set(self.numbered("reserve", reserve))
        #: the numbers of spare columns
        self.spare = [self._number(f"\0{len(self)}") for _ in range(spare)]
        self.reserve.update(self.spare)
        self.features = FeatureTable()
        if features is not None and not isinstance(features, Mapping):
            raise InvalidInput(f"features must map items to their features, got {validation.short(features)}")
        for item, given in (features or {}).items():
            self.features.set(self.number("features", item), item, given)
        #: per item
        self.values = np.ones(len(self))
        if values is not None and not isinstance(values, Mapping):
            raise InvalidInput(f"values must map items to numbers, got {validation.short(values)}")
        for item, value in (values or {}).items():
            self.values[self.number("values", item)] = checked_value(item, value)
        #: by number
        self.retired = set(self.numbered("retired", retired))
        if len(self.retired) == len(self):
            raise InvalidInput(f"retired must leave an item to show, got all {len(self)}")

    def __len__(self) -> int:
        return len(self.ids)

    def number(self, field: str, item: object) -> int:
        """The number of an item that `field` names."""
        number = self.numbers.get(item) if isinstance(item, str) else None
        if number is None:
            raise InvalidInput(f"{field} names {validation.short(item)}, which is not one of the {len(self.ids)} items")
        return number

    def numbered(self, field: str, items: object) -> list[int]:
        """The numbers of several items."""
        return [self.number(field, item) for item in listed(field, items)]

    def named(self, numbers: IntArray, newcomers: Mapping[str, int] = NO_NEWCOMERS) -> tuple[str, ...]:
        """The ids in a list, without its empty slots."""
        ids = self.named_with(newcomers)
        return tuple(ids(number) for number in numbers.tolist() if number != EMPTY)

    def named_with(self, newcomers: Mapping[str, int]) -> Callable[[int], str]:
        """The function from a number to its id."""
        if not newcomers:
            return self.ids.__getitem__
        names = {number: item for item, number in newcomers.items()}
        return lambda number: names.get(number) or self.ids[number]

    def seated(self, newcomers: Iterable[str]) -> dict[str, int]:
        """A spare column for each newcomer."""
        items = list(newcomers)
        for item in items:
            if item in self.numbers:
                raise InvalidInput(f"newcomers names {validation.short(item)}, which is an item")
        if len(items) > len(self.spare):
            raise InvalidInput(f"newcomers must be at most {len(self.spare)}, got {len(items)}")
        # the last ones: `admit` takes the first
        return dict(zip(items, reversed(self.spare), strict=False))

    def admit(self, item: str) -> int:
        """Give the first spare column to an item, which stays in reserve; returns its number."""
        number = self.spare[0]
        id = checked_id(item)
        if id in self.numbers:
            raise InvalidInput(f"items must differ, got {validation.short(id)} twice")
        del self.numbers[self.ids[number]]
        self.ids[number], self.numbers[id] = id, number
        self.spare = self.spare[1:]
        return number

    def copy(self) -> Catalog:
        """A catalog that `admit` changes without changing this one."""
        catalog = copy(self)
        catalog.ids, catalog.numbers, catalog.reserve = list(self.ids), dict(self.numbers), set(self.reserve)
        return catalog

    def offer(self, item: str, value: float, features: Mapping[str, float | str] | None) -> None:
        """Add a new item, or show a retired one again; its features stay if `features` is None."""
        number = self.numbers.get(item) if isinstance(item, str) else None
        if number is not None and number in self.retired:
            self.retired.discard(number)
            self.values[number] = value
        else:
            number = self._add(item)
            self.values = np.append(self.values, value)
        if features is not None:
            self.features.set(number, item, features)

    def retire(self, item: str) -> None:
        """Stop showing an item."""
        number = self.number("retire", item)
        if number in self.retired:
            raise InvalidInput(f"{item!r} is retired already")
        if len(self) - len(self.retired) == 1:
            raise InvalidInput(f"{item!r} cannot be retired: it is the last item left")
        self.retired.add(number)

    def set_value(self, item: str, value: object) -> None:
        """Set the value of a click on an item."""
        number = self.number("value", item)
        self.values[number] = checked_value(item, value)

    @property
    def worth(self) -> Worth:
        """The values of clicks, and the items that are retired or in reserve."""
        return Worth(self.values, np.array(sorted(self.retired | self.reserve), np.int64))

    def constraints(
        self,
        exclude: object,
        pin: object,
        slots: int,
        candidates: object = None,
        newcomers: Mapping[str, int] = NO_NEWCOMERS,
    ) -> DecisionConstraints:
        """The constraints of a decision, from ids, and slots counted from 1; newcomers are candidates."""
        excluded = frozenset(self.numbered("exclude", exclude))
        only = None if candidates is None else frozenset(self.numbered("candidates", candidates))
        if newcomers:
            only = frozenset(newcomers.values()).union(only or ())
        if not pin and isinstance(pin, Mapping | None):
            return DecisionConstraints(excluded, (), only)
        checked = validation.pins("pin", pin, first=1, last=slots)
        pinned = tuple(
            (newcomers[item] if item in newcomers else self.number("pin", item), slot - 1)
            for item, slot in checked.items()
        )
        return DecisionConstraints(excluded, pinned, only)

    def checked(self, constraints: DecisionConstraints) -> CheckedConstraints:
        """The constraints of a decision together with the retired items; an error that names why no list meets them."""
        only = constraints.candidates
        is_excluded = np.full(len(self), only is not None)
        if only is not None:
            is_excluded[[*only]] = False
        is_excluded[[*constraints.exclude, *self.retired]] = True
        if only is None:
            is_excluded[[*self.reserve]] = True
        excluded = np.flatnonzero(is_excluded)
        allowed = len(self) - len(excluded)
        for number, slot in constraints.pinned:
            item = self.ids[number]
            if number in self.retired:
                raise InvalidInput(f"pin names {item!r}, which is retired")
            if only is None and number in self.reserve:
                raise InvalidInput(f"pin names {item!r}, which is shown only as a candidate")
            if number in constraints.exclude:
                raise InvalidInput(f"{item!r} is both in pin and in exclude")
            if only is not None and number not in only:
                raise InvalidInput(f"pin names {item!r}, which is not in candidates")
            if slot >= allowed:
                raise InvalidInput(
                    f"pin puts {item!r} into slot {slot + 1}, but only {allowed} of the items are left to show"
                )
        if allowed == 0 and only is not None:
            raise InvalidInput(f"candidates leave nothing to show: none of the {len(only)} may be shown")
        if allowed == 0:
            raise InvalidInput(f"exclude leaves nothing to show: it names all of the {len(constraints.exclude)} items")
        return CheckedConstraints(excluded, dict(constraints.pinned), allowed)

    def _add(self, item: object) -> int:
        id = checked_id(item)
        if id in self.numbers:
            raise InvalidInput(f"items must differ, got {validation.short(id)} twice")
        return self._number(id)

    def _number(self, id: str) -> int:
        self.numbers[id] = len(self.ids)
        self.ids.append(id)
        return self.numbers[id]


def checked_id(item: object) -> str:
    """The id of an item: text, not empty, without control characters."""
    if not isinstance(item, str) or not item:
        raise InvalidInput(f"an item must be text and not empty, got {validation.short(item)}")
    if validation.has_control_characters(item):
        raise InvalidInput(f"an item must not have control characters, got {validation.short(item)}")
    return item


def checked_value(item: object, value: object) -> float:
    """The value of a click on an item."""
    return validation.positive_number(f"the value of {validation.short(item)}", value)


def listed(field: str, given: object) -> list[object]:
    """Return a list of items; a single text is an error, as it would be split into letters."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InvalidInput(f"{field} must be a list of items, got {validation.short(given)}")
    return list(given)
