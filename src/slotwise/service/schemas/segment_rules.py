"""For whom: what a placement tells apart in visitors, and which kind a visitor is of.

A segment is written as the JSON object of what is known of a visitor, the keys in order, and as nothing where nothing
is. What is not known, or not listed, is *other*, and left out: what was written under one definition can be read under
the next.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from slotwise.core.errors import InvalidInput

#: what a value that is not listed, or missing, is called
OTHER: Final = "other"
#: combinations of values that are listed
MAX_COMBINATIONS: Final = 1_000

Known = Mapping[str, str]


def known(segment: str) -> dict[str, str]:
    """What is known of the visitors of a segment as it is stored.

    >>> known('{"device":"mobile"}'), known("")
    ({'device': 'mobile'}, {})
    """
    return dict(json.loads(segment)) if segment else {}


class VisitorSegments:
    """Kinds of visitors, numbered from 0, which is *other* in every respect.

    There are as many as combinations of values, with *other* as one more value of each key.

    >>> segments = VisitorSegments({"device": ["mobile", "desktop"], "visitor": ["new", "returning"]})
    >>> len(segments)
    9
    >>> segments.text({"device": "mobile", "visitor": "a stranger"})
    '{"device":"mobile"}'
    >>> segments.number('{"device":"mobile"}'), segments.number(""), segments.number('{"colour":"red"}')
    (3, 0, 0)
    >>> segments.known(3)
    {'device': 'mobile'}
    """

    def __init__(self, listed: Mapping[str, Sequence[str]] | None = None) -> None:
        # in one order, so that numbers and texts do not depend on how it was written
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
        """What is told apart, in order."""
        return tuple(self._values)

    def text(self, context: Known) -> str:
        """The segment of a visitor, as it is stored; an unknown key is an error."""
        if not context:
            return ""
        for key in context:
            if key not in self._values:
                known = f"one of {', '.join(map(repr, self._values))}" if self._values else "none, without segments"
                raise InvalidInput(f"context has a key {key!r}, where it must be {known}")
        listed = tuple(
            (key, context[key]) for key, places in self._places.items() if places.get(context.get(key, OTHER))
        )
        if listed not in self._texts:
            self._texts[listed] = json.dumps(dict(listed), ensure_ascii=False, separators=(",", ":")) if listed else ""
        return self._texts[listed]

    def number(self, text: str) -> int:
        """Of a segment as it is stored, under this definition or another."""
        if text not in self._numbers:
            known = json.loads(text)
            number = 0
            for key, places in self._places.items():
                number = number * len(places) + places.get(known.get(key, OTHER), 0)
            self._numbers[text] = number
        return self._numbers[text]

    def is_current(self, text: str) -> bool:
        """Whether a stored segment is written as this definition writes it.

        >>> segments = VisitorSegments({"device": ["mobile"]})
        >>> segments.is_current('{"device":"mobile"}'), segments.is_current('{"device":"tablet"}')
        (True, False)
        """
        return self.text(self.known(self.number(text))) == text

    def known(self, number: int) -> dict[str, str]:
        """What is known of the visitors of a segment, without what is *other*."""
        found = {}
        for key, values in reversed(self._values.items()):
            number, place = divmod(number, len(values))
            if place:
                found[key] = values[place]
        return dict(sorted(found.items()))

    def asked(self, wanted: Iterable[str]) -> list[int]:
        """The numbers of the segments that KEY:VALUE, each of them, is true of; all of them if there is none.

        >>> VisitorSegments({"device": ["mobile"], "visitor": ["new"]}).asked(["device:mobile"])
        [2, 3]
        """
        places: dict[str, int] = {}
        for one in wanted:
            key, colon, value = one.partition(":")
            if not colon or key not in self._places:
                raise InvalidInput(f"segment must be KEY:VALUE with one of the keys {list(self._places)}, got {one!r}")
            if value not in self._places[key]:
                raise InvalidInput(f"segment names {one!r}, where {key!r} is one of {self._values[key]}")
            if places.setdefault(key, self._places[key][value]) != self._places[key][value]:
                raise InvalidInput(f"segment names {key!r} twice, with different values")
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
