"""Named items as callers give them, checked: what is wrong is named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from slotwise.core import validation
from slotwise.core.errors import InvalidInput


def checked_id(item: Any) -> str:
    """The id of an item: text, not empty, without control characters."""
    if not isinstance(item, str) or not item:
        raise InvalidInput(f"an item must be text and not empty, got {validation.short(item)}")
    if validation.has_control_characters(item):
        raise InvalidInput(f"an item must not have control characters, got {validation.short(item)}")
    return item


def checked_value(item: Any, value: Any) -> float:
    """What a click on an item is worth."""
    return validation.positive_number(f"the value of {validation.short(item)}", value)


class Items:
    """Items by id, numbered from 0 in the order in which they came; none is ever dropped."""

    def __init__(self, ids: Any) -> None:
        self.ids: list[str] = []
        self.numbers: dict[str, int] = {}
        for item in listed("items", ids):
            self.add(item)

    def add(self, item: Any) -> int:
        """Number a new item."""
        if checked_id(item) in self.numbers:
            raise InvalidInput(f"items must differ, got {validation.short(item)} twice")
        self.numbers[item] = len(self.ids)
        self.ids.append(item)
        return self.numbers[item]

    def number(self, field: str, item: Any) -> int:
        """The number of an item that `field` names."""
        number = self.numbers.get(item) if isinstance(item, str) else None
        if number is None:
            raise InvalidInput(f"{field} names {validation.short(item)}, which is not one of the {len(self.ids)} items")
        return number

    def numbered(self, field: str, items: Any) -> list[int]:
        """The numbers of several items."""
        return [self.number(field, item) for item in listed(field, items)]

    def pinned(self, pin: Any, slots: int) -> dict[int, int]:
        """From items and slots counted from 1 to numbers and slots counted from 0."""
        if pin is None:
            return {}
        if not isinstance(pin, Mapping):
            raise InvalidInput(f"pin must map items to slots, got {validation.short(pin)}")
        found: dict[int, int] = {}
        taken: dict[int, str] = {}
        for item, slot in pin.items():
            number = self.number("pin", item)
            place = (
                validation.whole_number(f"the slot of {validation.short(item)} in pin", slot, at_least=1, at_most=slots)
                - 1
            )
            if place in taken:
                raise InvalidInput(f"pin puts both {taken[place]!r} and {item!r} into slot {slot}")
            taken[place], found[number] = item, place
        return found

    def valued(self, values: Any) -> dict[int, float]:
        """Values by number."""
        if values is None:
            return {}
        if not isinstance(values, Mapping):
            raise InvalidInput(f"values must map items to numbers, got {validation.short(values)}")
        return {self.number("values", item): checked_value(item, value) for item, value in values.items()}

    def __len__(self) -> int:
        return len(self.ids)


def listed(field: str, given: Any) -> list[Any]:
    """A list of items; one text would be taken apart into letters."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InvalidInput(f"{field} must be a list of items, got {validation.short(given)}")
    return list(given)
