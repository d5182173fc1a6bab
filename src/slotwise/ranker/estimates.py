"""The estimates of named items and slots, for people, JSON and data frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.io import frame
from slotwise.core.result_tables import TABLES, Table, plain, records, text_table
from slotwise.core.types import FloatArray, IntArray
from slotwise.estimators import Intervals
from slotwise.posterior import ModelCheck, Posterior

if TYPE_CHECKING:
    import pandas as pd


class ItemEstimate(NamedTuple):
    """The estimate of one item, with its credible interval."""

    id: str
    attractiveness: float
    low: float
    high: float
    probability_in_best_list: float
    shown: int
    clicks: int


class SlotEstimate(NamedTuple):
    """The estimate of one slot, counted from 1; its bias is relative to that of the first unless it is known."""

    slot: int
    position_bias: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Estimates:
    """Attractiveness of each item and position bias of each slot, with credible intervals of probability `level`.

    They summarise `slotwise.posterior.summary`. Estimates of rarely shown items are shrunk toward the average, and
    their intervals are wide. Retired items have a probability of 0 to be in the best list.
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
    #: whether slots were found not to act alike on all items, and what was done
    model_check: ModelCheck

    @classmethod
    def of(cls, posterior: Posterior, ids: tuple[str, ...], shown: IntArray, level: float) -> Estimates:
        """Summarise a posterior.

        Parameters
        ----------
        posterior
            The posterior of attractiveness and position bias.
        ids
            The ids of its items.
        shown
            How often each item was shown.
        level
            Probability of the credible intervals.
        """
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
            model_check=posterior.model_check,
        )

    def __getitem__(self, item: str) -> ItemEstimate:
        try:
            number = self.ids.index(item)
        except ValueError:
            raise InvalidInput(f"{item!r} is not one of the {len(self.ids)} items") from None
        row: list[Any] = [plain(column[number : number + 1])[0] for column in self.columns("items").values()]
        return ItemEstimate(*row)

    @property
    def items(self) -> list[ItemEstimate]:
        """The estimate of every item, in the order in which they were added."""
        return [ItemEstimate(*row) for row in self._rows("items")]

    @property
    def slots(self) -> list[SlotEstimate]:
        """The estimate of every slot."""
        return [SlotEstimate(*row) for row in self._rows("slots")]

    def columns(self, table: Table) -> dict[str, Any]:
        """Return the columns of `to_frame` by name; slots count from 1.

        Parameters
        ----------
        table
            "items" or "slots".
        """
        if table == "items":
            return {
                "id": list(self.ids),
                "attractiveness": self.attractiveness,
                "low": self.attractiveness_interval.low,
                "high": self.attractiveness_interval.high,
                "probability_in_best_list": self.probability_in_best_list,
                "shown": self.shown,
                "clicks": self.clicks,
            }
        return {
            "slot": np.arange(1, len(self.position_bias) + 1),
            "position_bias": self.position_bias,
            "low": self.position_bias_interval.low,
            "high": self.position_bias_interval.high,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers that JSON can hold."""
        return {table: records(self.columns(table)) for table in TABLES}

    def to_frame(self, table: Table = "items") -> pd.DataFrame:
        """Return a pandas data frame with a row per item or per slot.

        Parameters
        ----------
        table
            "items" or "slots".
        """
        validation.one_of("table", table, TABLES)
        return frame(self.columns(table))

    def summary(self) -> str:
        """Return both tables as text."""
        tables = "\n\n".join(text_table(self.columns(table)) for table in TABLES)
        return f"{tables}\n\n{self.model_check.sentence}" if self.model_check.is_wrong else tables

    def __repr__(self) -> str:
        return (
            f"<Estimates of {len(self.ids)} items and {len(self.position_bias)} slots: attractiveness "
            f"{self.attractiveness.min():.3g} to {self.attractiveness.max():.3g}, {self.clicks.sum():,} clicks>"
        )

    def _rows(self, table: Table) -> list[tuple[Any, ...]]:
        return list(zip(*map(plain, self.columns(table).values()), strict=True))
