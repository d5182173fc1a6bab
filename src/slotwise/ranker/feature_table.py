"""The features of items, by name: numbers and categories; an item may lack any of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.feature_encoder import Encoder, check_value, is_plain_value
from slotwise.core.types import FloatArray

#: columns of the encoded features, a category being one: fitting them takes time in proportion to the square
MAX_COLUMNS = 100

Given = Mapping[str, Mapping[str, float | str]]


class FeatureTable:
    """Features by item and by name."""

    def __init__(self) -> None:
        #: by number of the item
        self._features: dict[int, dict[str, float | str]] = {}
        #: by name, whether it is text
        self._is_text: dict[str, bool] = {}
        #: as last encoded, and the encoder with the names of its columns
        self._encoded: FloatArray | None = None
        self._encoder: Encoder | None = None
        self._names: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._is_text)

    def set(self, number: int, item: str, given: object) -> None:
        """Replace the features of an item."""
        checked = self.checked(item, given)
        for name, value in checked.items():
            self._is_text.setdefault(name, isinstance(value, str))
        self._features[number] = checked
        self._encoded = None

    def checked(self, item: str, given: object) -> dict[str, float | str]:
        """The features of an item, or an error that names the wrong one."""
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
            if name in self._is_text and is_plain_value(value, self._is_text[name]):
                continue
            field = f"the feature {validation.short(name)} of {validation.short(item)}"
            check_value(field, value, self._is_text.get(name, isinstance(value, str)), "others of other items")
        return {name: value if isinstance(value, str) else float(value) for name, value in given.items()}

    def named(self, ids: Sequence[str]) -> dict[str, dict[str, float | str]]:
        """By the ids of items."""
        return {ids[number]: dict(features) for number, features in sorted(self._features.items())}

    def encoded(self, items: int) -> FloatArray | None:
        """The features as a matrix, items × columns, or None if no item ever had any.

        Numbers are standardised, and missing ones are the average. A category that no two items share predicts nothing
        of others and has no column; if there are too many, the least common have none.
        """
        if not self:
            return None
        if self._encoded is None or len(self._encoded) != items:
            self._encoded = self._encode(items)
        return self._encoded

    def encoded_newcomers(self, newcomers: Given) -> FloatArray | None:
        """The features of items that are not in the table, as the table was last encoded; None if it is empty.

        Features that no item of the table has predict nothing, and are left out.
        """
        checked = [self.checked(item, given) for item, given in newcomers.items()]
        if self._encoder is None:
            return None if self._encoded is None else np.zeros((len(checked), 0))
        return self._encoder.encode([[features.get(name) for name in self._names] for features in checked])

    def _encode(self, items: int) -> FloatArray:
        # no item may have some of them any longer
        names = [name for name in self._is_text if any(name in features for features in self._features.values())]
        self._names, self._encoder = names, None
        if not names:
            return np.zeros((items, 0))
        rows = [[self._features.get(item, {}).get(name) for name in names] for item in range(items)]
        shared = Counter(
            (column, value) for row in rows for column, value in enumerate(row) if isinstance(value, str)
        ).most_common(max(0, MAX_COLUMNS - sum(not self._is_text[name] for name in names)))
        self._encoder = Encoder.of(rows).keeping({category for category, items in shared if items > 1})
        return self._encoder.encode(rows)
