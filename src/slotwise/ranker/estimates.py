"""What a tally of named items says of each, in a form for people, JSON and data frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from slotwise.belief import BIAS_SHAPE, best_list_chances
from slotwise.errors import InvalidInput, MissingExtra
from slotwise.estimate import Estimate, GammaPrior, Intervals, maximum_a_posteriori
from slotwise.tally import Tally
from slotwise.typing import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

#: the weight of the prior, in clicks: enough for an answer where nothing was clicked, and no more
PRIOR_CLICKS = 0.5
#: draws of the probability to be in the best list: as many as this for all items together, within limits
DRAWN_ITEMS = 10_000_000
FEWEST_DRAWS, MOST_DRAWS = 100, 400
#: the same tally always says the same
SEED = 0


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

    An item of which nothing is known has the attractiveness of the average item, and an interval that says how little
    that means. Retired items have a probability of 0 to be in the best list.
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
        return _frame(self.columns())

    def slots_to_frame(self) -> pd.DataFrame:
        """A pandas data frame of `slot_columns`."""
        return _frame(self.slot_columns())

    def _item(self, number: int) -> ItemEstimate:
        columns = {name: column[number : number + 1] for name, column in self.columns().items()}
        return ItemEstimate(*(column[0] for column in self._lists(columns)))

    @staticmethod
    def _lists(columns: dict[str, Any]) -> list[list[Any]]:
        return [np.asarray(column).tolist() if not isinstance(column, list) else column for column in columns.values()]


@dataclass(frozen=True, eq=False)
class Posterior:
    """What a tally says, before it is put into words for a level."""

    estimate: Estimate
    chances: FloatArray
    clicks: IntArray

    @classmethod
    def of(
        cls,
        tally: Tally,
        position_bias: FloatArray | None,
        values: FloatArray,
        retired: IntArray,
    ) -> Posterior:
        """Estimate by maximum a posteriori, with a weak prior around what the average item is worth."""
        exposure = tally.passes.sum(axis=1) @ (np.ones(tally.slots) if position_bias is None else position_bias)
        average = (PRIOR_CLICKS + tally.clicks.sum()) / (1.0 + exposure)
        prior = GammaPrior(PRIOR_CLICKS, PRIOR_CLICKS / average)
        bias_prior = GammaPrior(BIAS_SHAPE, BIAS_SHAPE) if position_bias is None else None
        chances = best_list_chances(
            tally,
            shape=prior.shape,
            rate=prior.rate,
            position_bias=position_bias,
            values=values,
            excluded=retired,
            draws=int(np.clip(DRAWN_ITEMS // tally.items, FEWEST_DRAWS, MOST_DRAWS)),
            rng=np.random.default_rng(SEED),
        )
        estimate = maximum_a_posteriori(
            tally, attractiveness_prior=prior, position_bias_prior=bias_prior, position_bias=position_bias
        )
        return cls(estimate, chances, tally.clicks.sum(axis=0))

    def estimates(self, ids: tuple[str, ...], shown: IntArray, level: float) -> Estimates:
        """In words for a level."""
        of_items, of_slots = self.estimate.intervals(level)
        return Estimates(
            ids=ids,
            attractiveness=self.estimate.attractiveness,
            attractiveness_interval=of_items,
            probability_in_best_list=self.chances,
            shown=shown,
            clicks=self.clicks,
            position_bias=self.estimate.position_bias,
            position_bias_interval=of_slots,
            level=level,
        )


def _frame(columns: dict[str, Any]) -> pd.DataFrame:
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("a data frame", "frames") from None
    return pd.DataFrame(columns)
