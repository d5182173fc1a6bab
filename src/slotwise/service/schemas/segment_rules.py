"""Segments of visitors: their numbers, and their text in the store.

The text of a segment is a JSON object of the context's keys and values, with keys in order, or an empty text. Values
that are missing or not listed are *other*, and left out. A segment that was stored under one definition of a placement
can be read under the next.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from slotwise.core.errors import InvalidInput

#: the value of a key that is missing or whose value is not listed
OTHER: Final = "other"
#: combinations of values that are listed
MAX_COMBINATIONS: Final = 1_000

Context = Mapping[str, str]


def context_of(segment: str) -> dict[str, str]:
    """The context of a stored segment.

    >>> context_of('{"device":"mobile"}'), context_of("")
    ({'device': 'mobile'}, {})
    """
    return dict(json.loads(segment)) if segment else {}


class VisitorSegments:
    """Segments numbered from 0, the segment in which every key is *other*.

    There is a segment for each combination of values, with *other* as one more value of each key.

    >>> segments = VisitorSegments({"device": ["mobile", "desktop"], "visitor": ["new", "returning"]})
    >>> len(segments)
    9
    >>> segments.text({"device": "mobile", "visitor": "a stranger"})
    '{"device":"mobile"}'
    >>> segments.number('{"device":"mobile"}'), segments.number(""), segments.number('{"colour":"red"}')
    (3, 0, 0)
    >>> segments.context(3)
    {'device': 'mobile'}
    """

    def __init__(self, listed: Mapping[str, Sequence[str]] | None = None) -> None:
        # sorted, so that numbers and texts do not depend on the order in the definition
        self._values = {key: [OTHER, *values] for key, values in sorted((listed or {}).items())}
        self._places = {
            key: {value: place for place, value in enumerate(values)} for key, values in self._values.items()
        }
        self._numbers: dict[str, int] = {"": 0}
        self._texts: dict[tuple[tuple[str, str], ...], str] = {}

    def __len__(self) -> int:
        return math.prod(len(values) for values in self._values.values())

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the context, in order."""
        return tuple(self._values)

    def text(self, context: Context) -> str:
        """The stored text of the segment of a context; an unknown key is an error."""
        if not context:
            return ""
        for key in context:
            if key not in self._values:
                keys = f"one of {', '.join(map(repr, self._values))}" if self._values else "none, without segments"
                raise InvalidInput(f"context: a key must be {keys}, got {key!r}")
        listed = tuple(
            (key, context[key]) for key, places in self._places.items() if places.get(context.get(key, OTHER))
        )
        if listed not in self._texts:
            self._texts[listed] = json.dumps(dict(listed), ensure_ascii=False, separators=(",", ":")) if listed else ""
        return self._texts[listed]

    def number(self, text: str) -> int:
        """The number of a stored segment, written under this definition or another."""
        if text not in self._numbers:
            context = json.loads(text)
            number = 0
            for key, places in self._places.items():
                number = number * len(places) + places.get(context.get(key, OTHER), 0)
            self._numbers[text] = number
        return self._numbers[text]

    def is_current(self, text: str) -> bool:
        """Whether this definition writes the segment with the same text.

        >>> segments = VisitorSegments({"device": ["mobile"]})
        >>> segments.is_current('{"device":"mobile"}'), segments.is_current('{"device":"tablet"}')
        (True, False)
        """
        return self.text(self.context(self.number(text))) == text

    def context(self, number: int) -> dict[str, str]:
        """The context of a segment, without keys that are *other*."""
        context = {}
        for key, values in reversed(self._values.items()):
            number, place = divmod(number, len(values))
            if place:
                context[key] = values[place]
        return dict(sorted(context.items()))

    def matching(self, filters: Iterable[str]) -> list[int]:
        """The numbers of the segments that match every filter KEY:VALUE; all segments if there is no filter.

        >>> VisitorSegments({"device": ["mobile"], "visitor": ["new"]}).matching(["device:mobile"])
        [2, 3]
        """
        places: dict[str, int] = {}
        for text in filters:
            key, colon, value = text.partition(":")
            if not colon or key not in self._places:
                raise InvalidInput(f"segment must be KEY:VALUE with one of the keys {list(self._places)}, got {text!r}")
            if value not in self._places[key]:
                raise InvalidInput(f"segment: the value of {key!r} must be one of {self._values[key]}, got {text!r}")
            if places.setdefault(key, self._places[key][value]) != self._places[key][value]:
                raise InvalidInput(f"segment: a key must have one value, got {key!r} twice with different values")
        return [
            number
            for number in range(len(self))
            if all(self._place(number, key) == place for key, place in places.items())
        ]

    def _place(self, number: int, wanted: str) -> int:
        for key, values in reversed(self._values.items()):
            number, place = divmod(number, len(values))
            if key == wanted:
                return place
        raise KeyError(wanted)
