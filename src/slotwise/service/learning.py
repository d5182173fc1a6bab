"""A placement's learner, by names of items."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from slotwise.choice import Goal
from slotwise.errors import InvalidInput
from slotwise.policies import Setting, absorb, choose
from slotwise.policies.epochs import Epochs
from slotwise.service.definition import Definition
from slotwise.service.store.contract import TallyRow
from slotwise.typing import IntArray

#: the horizon that policies are told, which a service does not have
ROUNDS = 1_000_000


class Learning:
    """What chooses for one placement."""

    def __init__(self, definition: Definition) -> None:
        self.items = tuple(item.id for item in definition.items)
        self._index = {item: index for index, item in enumerate(self.items)}
        self._slots = definition.slots
        values = [1.0 if item.value is None else item.value for item in definition.items]
        goal = Goal(values) if any(value != 1.0 for value in values) else None
        setting = Setting(definition.slots, len(self.items), ROUNDS, definition.bias(), goal)
        self._policy: Any = definition.acting().start(setting)
        self._rng = np.random.default_rng()

    @property
    def holds(self) -> bool:
        """Whether it shows one list until a no-click."""
        return isinstance(self._policy, Epochs)

    def check(self, exclude: Collection[str], pin: Mapping[str, int]) -> None:
        """Refuse what cannot be heeded, by name."""
        for item in [*exclude, *pin]:
            if item not in self._index:
                raise InvalidInput(f"there is no item {item!r}")

    def choose(self, exclude: Collection[str] = (), pin: Mapping[str, int] | None = None) -> tuple[str, ...]:
        """A list, the first slot first."""
        return tuple(self.items[index] for index in choose(self._policy, self._rng).tolist())

    def absorb(self, clicks: IntArray, passes: IntArray) -> None:
        """Take in more of the tally."""
        absorb(self._policy, clicks, passes)

    def matrices(self, rows: Iterable[TallyRow]) -> tuple[IntArray, IntArray]:
        """Clicks and passes, slots × items; rows of retired items and slots are left out."""
        clicks, passes = np.zeros((2, self._slots, len(self.items)), np.int64)
        for row in rows:
            index = self._index.get(row.item)
            if index is not None and row.slot < self._slots:
                clicks[row.slot, index] = row.clicks
                passes[row.slot, index] = row.passes
        return clicks, passes

    def estimates(self, rows: Iterable[TallyRow]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Items and slots with their intervals."""
        from slotwise.estimate import GammaPrior, maximum_a_posteriori
        from slotwise.tally import Tally

        found = maximum_a_posteriori(
            Tally(*self.matrices(rows)),
            attractiveness_prior=GammaPrior(0.5, 1.0),
            position_bias_prior=GammaPrior(2.0, 2.0),
        )
        alpha, bias = found.intervals(0.95)
        items = [
            {
                "id": id,
                "attractiveness": float(found.attractiveness[j]),
                "low": float(alpha.low[j]),
                "high": float(alpha.high[j]),
                "probability_in_best_list": 0.5,
            }
            for j, id in enumerate(self.items)
        ]
        slots = [
            {
                "slot": k + 1,
                "estimate": float(found.position_bias[k]),
                "low": float(bias.low[k]),
                "high": float(bias.high[k]),
            }
            for k in range(self._slots)
        ]
        return items, slots
