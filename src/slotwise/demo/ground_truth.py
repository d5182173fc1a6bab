"""The visitors' true tastes, and the regret of lists."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from slotwise.click_models import MNL
from slotwise.core.errors import InvalidInput
from slotwise.demo.shop import DEVICES, FIRST, VISIBILITY, Device, Product
from slotwise.demo.simulated_visitors import Habits, SimulatedVisitors
from slotwise.jit import interpreted

#: attractiveness of a popular item relative to the most attractive other item
POPULAR: Final = 1.5
#: no late and no conflicting reports
HABITS: Final = Habits(late=0.0, conflicting=0.0)


@dataclass(frozen=True)
class Truth:
    """Attractiveness of items by device, and visibility of slots; immutable.

    >>> truth = Truth.at_first()
    >>> truth.best_list("mobile")
    ('plant', 'lamp', 'kettle', 'mug')
    >>> truth.swapped(1, 4).best_list("mobile")
    ('mug', 'lamp', 'kettle', 'plant')
    """

    #: by item, in the control order
    attractiveness: Mapping[str, Mapping[Device, float]]
    #: λ per slot
    visibility: tuple[float, ...]
    #: random seed of the visitors
    rng: random.Random = field(default_factory=random.Random, repr=False, compare=False)

    @classmethod
    def at_first(cls, seed: int | None = None) -> Truth:
        """Return the tastes when the shop opens."""
        return cls({product.id: product.attractiveness for product in FIRST}, VISIBILITY, random.Random(seed))

    @property
    def items(self) -> tuple[str, ...]:
        """Ids of the items."""
        return tuple(self.attractiveness)

    @property
    def slots(self) -> int:
        """Number of slots."""
        return len(self.visibility)

    @property
    def fixed_list(self) -> tuple[str, ...]:
        """The list of the holdout: the first items of the control order."""
        return self.items[: self.slots]

    def made_popular(self, item: str) -> Truth:
        """Return the tastes after an item becomes the most attractive."""
        if item not in self.attractiveness:
            raise InvalidInput(f"item must be one of {', '.join(self.items)}, got {item!r}")
        others = [tastes for id, tastes in self.attractiveness.items() if id != item]
        liked: dict[Device, float] = {device: POPULAR * max(tastes[device] for tastes in others) for device in DEVICES}
        return replace(self, attractiveness={**self.attractiveness, item: liked})

    def swapped(self, first: int, second: int) -> Truth:
        """Return the tastes after the visibility of two slots, from 1, is swapped."""
        for name, slot in (("first", first), ("second", second)):
            if not 1 <= slot <= self.slots:
                raise InvalidInput(f"{name} must be a slot from 1 to {self.slots}, got {slot!r}")
        if first == second:
            raise InvalidInput(f"second must be another slot than first, got {second!r}")
        visibility = [*self.visibility]
        visibility[first - 1], visibility[second - 1] = visibility[second - 1], visibility[first - 1]
        return replace(self, visibility=tuple(visibility))

    def with_product(self, product: Product) -> Truth:
        """Return the tastes with another item at the end."""
        return replace(self, attractiveness={**self.attractiveness, product.id: product.attractiveness})

    def visitors(self, device: Device) -> SimulatedVisitors:
        """Return simulated visitors on a device."""
        return self._visitors[device]

    @cached_property
    def _visitors(self) -> dict[Device, SimulatedVisitors]:
        # not worth a compilation
        with interpreted():
            return {
                device: SimulatedVisitors(
                    MNL(position_bias=self.visibility, attractiveness=self._tastes(device)),
                    self.items,
                    self.rng,
                    HABITS,
                )
                for device in DEVICES
            }

    def _tastes(self, device: Device) -> list[float]:
        return [tastes[device] for tastes in self.attractiveness.values()]

    def best_list(self, device: Device) -> tuple[str, ...]:
        """Return the list with the most expected clicks."""
        return tuple(self.items[number] for number in self.visitors(device).users.best_ranking())

    def best_rate(self, device: Device) -> float:
        """Return the click probability of the best list."""
        return self.visitors(device).best_reward

    def lost(self, device: Device, shown: Sequence[str]) -> float:
        """Return the expected regret of a list."""
        return self.visitors(device).regret(tuple(shown))

    def lost_by_fixed(self, device: Device) -> float:
        """Return the expected regret of the control order."""
        return self.lost(device, self.fixed_list)

    def attractiveness_in_first_slot(self, item: str, device: Device) -> float:
        """Return the attractiveness on the scale of the service's estimates."""
        return self.attractiveness[item][device] * self.visibility[0]

    def visibility_beside_first(self, slot: int) -> float:
        """Return the visibility of a slot, from 1, relative to the first."""
        return self.visibility[slot - 1] / self.visibility[0]
