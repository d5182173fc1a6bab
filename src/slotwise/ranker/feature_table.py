"""What is known of items, by name: numbers and categories, and for each item as many of them as there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.feature_encoder import Encoder, check_value
from slotwise.core.types import FloatArray

#: numbers that an item may have, a category being one: what is learned of them takes time in proportion to the square
MAX_COLUMNS = 100

Given = Mapping[str, Mapping[str, float | str]]


class FeatureTable:
    """By item and by name; a feature that an item does not have is not known of it."""

    def __init__(self) -> None:
        #: by number of the item
        self._known: dict[int, dict[str, float | str]] = {}
        #: by name, whether it is text
        self._is_text: dict[str, bool] = {}
        #: as last encoded
        self._encoded: FloatArray | None = None

    def __bool__(self) -> bool:
        return bool(self._is_text)

    def tell(self, number: int, item: str, given: Any) -> None:
        """Know this, and nothing else, of an item."""
        checked = self.checked(item, given)
        for name, value in checked.items():
            self._is_text.setdefault(name, isinstance(value, str))
        self._known[number] = checked
        self._encoded = None

    def checked(self, item: str, given: Any) -> dict[str, float | str]:
        """What is given of an item, or an error that names what is wrong with it."""
        if not isinstance(given, Mapping):
            raise InvalidInput(
                f"the features of {validation.short(item)} must map names to values, got {validation.short(given)}"
            )
        for name, value in given.items():
            if not isinstance(name, str) or not name:
                raise InvalidInput(
                    f"features of {validation.short(item)} must have names of text, not empty, "
                    f"got {validation.short(name)}"
                )
            field = f"the feature {validation.short(name)} of {validation.short(item)}"
            check_value(field, value, self._is_text.get(name, isinstance(value, str)), "others of other items")
        return {name: value if isinstance(value, str) else float(value) for name, value in given.items()}

    def named(self, ids: Sequence[str]) -> dict[str, dict[str, float | str]]:
        """By the ids of items."""
        return {ids[number]: dict(known) for number, known in sorted(self._known.items())}

    def encoded(self, items: int) -> FloatArray | None:
        """Items × numbers, or None if nothing was ever told of any.

        Numbers are standardised, and what is not known is what is usual. A category that no two items share tells
        nothing of others and has no column; where there are too many, the least common have none.
        """
        if not self:
            return None
        if self._encoded is None or len(self._encoded) != items:
            self._encoded = self._encode(items)
        return self._encoded

    def _encode(self, items: int) -> FloatArray:
        # of some nothing is known any longer
        names = [name for name in self._is_text if any(name in known for known in self._known.values())]
        if not names:
            return np.zeros((items, 0))
        rows = [[self._known.get(item, {}).get(name) for name in names] for item in range(items)]
        shared = Counter(
            (column, value) for row in rows for column, value in enumerate(row) if isinstance(value, str)
        ).most_common(max(0, MAX_COLUMNS - sum(not self._is_text[name] for name in names)))
        return Encoder.of(rows).keeping({category for category, items in shared if items > 1}).encode(rows)
