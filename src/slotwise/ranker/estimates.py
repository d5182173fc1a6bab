"""What a tally of named items says of each, in a form for people, JSON and data frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from slotwise.core.errors import InvalidInput
from slotwise.core.io import frame
from slotwise.core.types import FloatArray, IntArray
from slotwise.estimators import Intervals
from slotwise.posterior import Posterior

if TYPE_CHECKING:
    import pandas as pd


class ItemEstimate(NamedTuple):
    """What is known of one item."""

    id: str
    attractiveness: float
    low: float
    high: float
    probability_in_best_list: float
    shown: int
    clicks: int


class SlotEstimate(NamedTuple):
    """What is known of one slot, counted from 1; its bias is relative to that of the first unless it was given."""

    slot: int
    estimate: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Estimates:
    """Per item attractiveness, per slot position bias, with intervals that hold the truth with probability `level`.

    They are those of `slotwise.posterior.summary`. An item of which nothing is known has the attractiveness that is
    expected of an item after having seen the others, and an interval that says how little that means. Retired items
    have a probability of 0 to be in the best list.
    """

    ids: tuple[str, ...]
    attractiveness: FloatArray
    attractiveness_interval: Intervals
    probability_in_best_list: FloatArray
    shown: IntArray
    clicks: IntArray
    position_bias: FloatArray
    position_bias_interval: Intervals
    level: float

    @classmethod
    def of(cls, posterior: Posterior, ids: tuple[str, ...], shown: IntArray, level: float) -> Estimates:
        """What is believed, of items with these names that were shown so often."""
        of_items, of_slots = posterior.estimate.intervals(level)
        return cls(
            ids=ids,
            attractiveness=posterior.estimate.attractiveness,
            attractiveness_interval=of_items,
            probability_in_best_list=posterior.probability_in_best_list,
            shown=shown,
            clicks=posterior.tally.clicks.sum(axis=0),
            position_bias=posterior.estimate.position_bias,
            position_bias_interval=of_slots,
            level=level,
        )

    def __getitem__(self, item: str) -> ItemEstimate:
        try:
            return self._item(self.ids.index(item))
        except ValueError:
            raise InvalidInput(f"{item!r} is not one of the {len(self.ids)} items") from None

    @property
    def items(self) -> list[ItemEstimate]:
        """Every item, in the order in which they came."""
        return [ItemEstimate(*row) for row in zip(*(self._lists(self.columns())), strict=True)]

    @property
    def slots(self) -> list[SlotEstimate]:
        """Every slot."""
        return [SlotEstimate(*row) for row in zip(*(self._lists(self.slot_columns())), strict=True)]

    def columns(self) -> dict[str, Any]:
        """One row per item."""
        return {
            "id": list(self.ids),
            "attractiveness": self.attractiveness,
            "low": self.attractiveness_interval.low,
            "high": self.attractiveness_interval.high,
            "probability_in_best_list": self.probability_in_best_list,
            "shown": self.shown,
            "clicks": self.clicks,
        }

    def slot_columns(self) -> dict[str, Any]:
        """One row per slot."""
        return {
            "slot": np.arange(1, len(self.position_bias) + 1),
            "estimate": self.position_bias,
            "low": self.position_bias_interval.low,
            "high": self.position_bias_interval.high,
        }

    def as_dict(self) -> dict[str, Any]:
        """Plain lists and numbers that JSON can hold."""
        return {
            "items": [row._asdict() for row in self.items],
            "position_bias": [row._asdict() for row in self.slots],
        }

    def to_frame(self) -> pd.DataFrame:
        """A pandas data frame of `columns`."""
        return frame(self.columns())

    def slots_to_frame(self) -> pd.DataFrame:
        """A pandas data frame of `slot_columns`."""
        return frame(self.slot_columns())

    def _item(self, number: int) -> ItemEstimate:
        columns = {name: column[number : number + 1] for name, column in self.columns().items()}
        return ItemEstimate(*(column[0] for column in self._lists(columns)))

    @staticmethod
    def _lists(columns: dict[str, Any]) -> list[list[Any]]:
        return [np.asarray(column).tolist() if not isinstance(column, list) else column for column in columns.values()]
