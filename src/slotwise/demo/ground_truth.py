"""What is true of the visitors, and what lists are worth because of it."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np

from slotwise.click_models import MNL
from slotwise.core.errors import InvalidInput
from slotwise.demo.shop import DEVICES, FIRST, VISIBILITY, Device, Product
from slotwise.jit import interpreted
from slotwise.loadtest.simulated_visitors import Habits, Visitors

#: how attractive an item is that becomes popular, beside the most attractive of the others
POPULAR: Final = 1.5
#: nobody waits to come late, or asks twice for the same list
HABITS: Final = Habits(late=0.0, keyed=0.0, conflicting=0.0)


@dataclass(frozen=True)
class Truth:
    """What visitors like, by device, and how visible the slots are. It does not change: a change makes a new one.

    >>> truth = Truth.at_first()
    >>> truth.best_list("mobile")
    ('plant', 'lamp', 'kettle', 'mug')
    >>> truth.swapped(1, 4).best_list("mobile")
    ('mug', 'lamp', 'kettle', 'plant')
    """

    #: by item, in the order in which the placement lists them
    attractiveness: Mapping[str, Mapping[Device, float]]
    #: λ per slot
    visibility: tuple[float, ...]
    #: what the visitors draw their clicks from
    rng: random.Random = field(default_factory=random.Random, repr=False, compare=False)

    @classmethod
    def at_first(cls, seed: int | None = None) -> Truth:
        """When the shop opens."""
        return cls({product.id: product.attractiveness for product in FIRST}, VISIBILITY, random.Random(seed))

    @property
    def items(self) -> tuple[str, ...]:
        """Their ids."""
        return tuple(self.attractiveness)

    @property
    def slots(self) -> int:
        """How many there are."""
        return len(self.visibility)

    @property
    def fixed_list(self) -> tuple[str, ...]:
        """What the holdout sees: the first items, as they are listed."""
        return self.items[: self.slots]

    def made_popular(self, item: str) -> Truth:
        """Everybody likes an item better than all others."""
        if item not in self.attractiveness:
            raise InvalidInput(f"item must be one of {', '.join(self.items)}, got {item!r}")
        others = [tastes for id, tastes in self.attractiveness.items() if id != item]
        liked: dict[Device, float] = {device: POPULAR * max(tastes[device] for tastes in others) for device in DEVICES}
        return replace(self, attractiveness={**self.attractiveness, item: liked})

    def swapped(self, first: int, second: int) -> Truth:
        """Two slots, counted from 1, change places in how visible they are."""
        for name, slot in (("first", first), ("second", second)):
            if not 1 <= slot <= self.slots:
                raise InvalidInput(f"{name} must be a slot from 1 to {self.slots}, got {slot!r}")
        if first == second:
            raise InvalidInput(f"second must be another slot than first, got {second!r}")
        visibility = [*self.visibility]
        visibility[first - 1], visibility[second - 1] = visibility[second - 1], visibility[first - 1]
        return replace(self, visibility=tuple(visibility))

    def with_product(self, product: Product) -> Truth:
        """One more item, at the end of the list."""
        return replace(self, attractiveness={**self.attractiveness, product.id: product.attractiveness})

    def crowd(self, device: Device) -> Visitors:
        """The visitors on a device, who click as the truth says."""
        return self._crowds[device]

    @cached_property
    def _crowds(self) -> dict[Device, Visitors]:
        # nothing here is worth waiting for a compiler
        with interpreted():
            return {
                device: Visitors(
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
        """The list that gets the most clicks."""
        return tuple(self.items[number] for number in self.crowd(device).users.best_ranking())

    def best_rate(self, device: Device) -> float:
        """How likely a visitor is to click something on the best list."""
        return self.crowd(device).best_reward

    def lost(self, device: Device, shown: Sequence[str]) -> float:
        """The clicks per visitor that a list gives away against the best one: regret."""
        return self.crowd(device).regret(tuple(shown))

    def lost_by_fixed(self, device: Device) -> float:
        """The same of the list that never changes."""
        return self.lost(device, self.fixed_list)

    def lost_at_random(self, device: Device) -> float:
        """The same of lists drawn at random, all of them being as likely, on average."""
        return self.best_rate(device) - self._rates_at_random[device]

    @cached_property
    def _rates_at_random(self) -> dict[Device, float]:
        rankings = np.array([*itertools.permutations(range(len(self.items)), self.slots)])
        found: dict[Device, float] = {}
        for device in DEVICES:
            weights = (np.array(self.visibility) * np.array(self._tastes(device))[rankings]).sum(axis=1)
            found[device] = float((weights / (1.0 + weights)).mean())
        return found

    def attractiveness_in_first_slot(self, item: str, device: Device) -> float:
        """As the service's estimates measure it: relative to how visible the first slot is."""
        return self.attractiveness[item][device] * self.visibility[0]

    def visibility_beside_first(self, slot: int) -> float:
        """As the service's estimates measure it, of a slot that is counted from 1."""
        return self.visibility[slot - 1] / self.visibility[0]
