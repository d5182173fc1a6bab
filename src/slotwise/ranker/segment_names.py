"""The names of segments, numbered in the order in which they come."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput

#: the number of visitors without a segment
UNNAMED = 0

#: as callers name a segment: a whole number stands for its text, and None for visitors without one
Name = str | int | None


class SegmentNames:
    """The names of segments 1, 2 and so on."""

    def __init__(self, names: Iterable[Name] = ()) -> None:
        self._numbers: dict[str, int] = {}
        for name in names:
            text = checked_name(name)
            if text is None or text in self._numbers:
                raise InvalidInput(f"segments must be named and differ, got {validation.short(name)}")
            self.add(text)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order in which they came."""
        return tuple(self._numbers)

    def known(self, name: object) -> int | None:
        """The number of a segment, or None if it was never seen."""
        text = checked_name(name)
        return UNNAMED if text is None else self._numbers.get(text)

    def number(self, name: object) -> int:
        """The number of a segment that must be known."""
        number = self.known(name)
        if number is None:
            raise InvalidInput(
                f"segment {validation.short(name)} is not one of the {len(self._numbers)} that were seen"
            )
        return number

    def add(self, name: object) -> int:
        """Add a segment; its number."""
        number = len(self._numbers) + 1
        self._numbers[str(name)] = number
        return number


def checked_name(name: object) -> str | None:
    """The name of a segment as text, or None for visitors without one."""
    if name is None:
        return None
    if isinstance(name, int | np.integer) and not isinstance(name, bool):
        return str(int(name))
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"a segment must be text, not empty, or a whole number, got {validation.short(name)}")
    if validation.has_control_characters(name):
        raise InvalidInput(f"a segment must not have control characters, got {validation.short(name)}")
    return name
