"""The list that slotwise would show of a fitted placement, and what it expects of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from slotwise.core.types import FloatArray
from slotwise.logs.fitting.click_rate import Rate

#: an item that was shown less often counts as hardly known
FEW_SHOWINGS = 100


@dataclass(frozen=True)
class Recommendation:
    """The list that slotwise would show, and what it expects of it."""

    #: an id per slot, None where nothing is left to show
    items: tuple[str | None, ...]
    rate: Rate
    #: how many of them were never shown in that slot, and how many hardly anywhere
    never_there: int
    hardly_shown: int

    def caution(self) -> str:
        """Why not to take the rate at face value; empty if there is no reason."""
        count = sum(item is not None for item in self.items)
        words = []
        if self.never_there:
            words.append(f"{_some(self.never_there, count)} never shown in that slot")
        if self.hardly_shown:
            words.append(f"{_some(self.hardly_shown, count)} shown fewer than {FEW_SHOWINGS} times anywhere")
        return f"This rests on the model: {', and '.join(words)}." if words else ""

    def to_dict(self) -> dict[str, Any]:
        """Return the ids from slot 1 on, and the rate; None if unknown."""
        return {"items": list(self.items), **self.rate.to_dict()}


@dataclass(frozen=True, eq=False)
class RuleOutcome:
    """The recommended list under one rule for several clicks: an id per slot, its click rate, and the position bias."""

    items: tuple[str | None, ...]
    rate: Rate
    position_bias: FloatArray

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers."""
        return {"items": list(self.items), **self.rate.to_dict()}


def _some(number: int, count: int) -> str:
    """Return a number of items as the subject of a sentence."""
    return "its item was" if count == 1 else f"{number} of the {count} items {'was' if number == 1 else 'were'}"
