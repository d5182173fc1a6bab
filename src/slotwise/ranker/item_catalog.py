"""What there is to show: named items, what a click on each is worth, what is known of it, and which are retired."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from slotwise.core.errors import InvalidInput
from slotwise.core.types import EMPTY, IntArray
from slotwise.ranker.feature_table import Features
from slotwise.ranker.item_arguments import Items, checked_value
from slotwise.ranker.posterior_cache import Worth
from slotwise.ranker.request_constraints import Rules, Ruling


class Catalogue(Items):
    """Every item there ever was, in the order of the tally, and what was said of each."""

    def __init__(self, ids: Any, values: Any = None, retired: Any = (), features: Any = None) -> None:
        super().__init__(ids)
        self.features = Features(self, features)
        #: per item
        self.values = np.ones(len(self))
        for number, value in self.valued(values).items():
            self.values[number] = value
        #: by number
        self.retired = set(self.numbered("retired", retired))
        if len(self.retired) == len(self):
            raise InvalidInput(f"retired must leave an item to show, got all {len(self)}")

    def offer(self, item: str, value: float, known: Mapping[str, float | str] | None) -> None:
        """A new item, or a retired one again; what is known of a retired one stays if that is None."""
        number = self.numbers.get(item) if isinstance(item, str) else None
        if number is not None and number in self.retired:
            self.retired.discard(number)
            self.values[number] = value
        else:
            number = self.add(item)
            self.values = np.append(self.values, value)
        if known is not None:
            self.features.tell(number, item, known)

    def retire(self, item: str) -> None:
        """Show an item no more."""
        number = self.number("retire", item)
        if number in self.retired:
            raise InvalidInput(f"{item!r} is retired already")
        if len(self) - len(self.retired) == 1:
            raise InvalidInput(f"{item!r} cannot be retired: it is the last item left")
        self.retired.add(number)

    def value(self, item: str, value: Any) -> None:
        """What a click on an item is worth from here on."""
        number = self.number("value", item)
        self.values[number] = checked_value(item, value)

    @property
    def worth(self) -> Worth:
        """What decides beside attractiveness."""
        return Worth(self.values, np.array(sorted(self.retired), np.int64))

    def ruling(self, rules: Rules) -> Ruling:
        """The rules of a decision, and of what is retired."""
        return rules.together_with(self.retired, self)

    def named(self, numbers: IntArray) -> tuple[str, ...]:
        """The ids in a list, without its empty slots."""
        return tuple(self.ids[number] for number in numbers.tolist() if number != EMPTY)
