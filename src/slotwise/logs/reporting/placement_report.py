"""One placement of the report: its fit, diagnostics, and what is shown now beside what to show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from slotwise.logs.evaluation.holdout_comparison import HoldoutComparison, compare_on_holdout
from slotwise.logs.evaluation.log_goodness_of_fit import LogGoodnessOfFit, goodness, verdict_in_words
from slotwise.logs.fitting.click_rate import LEVEL
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.number_format import and_more, percent, with_interval
from slotwise.logs.fitting.recommendation import Recommendation
from slotwise.logs.reporting.limitations import limitations

#: places of a list that a sentence or a table of placements names
NAMED = 3
#: before a list that is no recommendation
GUESS = "guess:"
LEFT_OUT_REMEDY = "Correct the log or the names of its columns; --recommend always recommends a list anyway"
NOT_COMPARABLE = (
    "the slots cannot be compared, as hardly any item was in several of them. Keep what you show, and let some items "
    "change places for a while"
)


class SlotComparison(NamedTuple):
    """A slot, the item it held most often, its share of the impressions, and the item to show with its estimate."""

    slot: int
    shown_now: str | None
    share: float
    show_instead: str | None
    attractiveness: float
    low: float
    high: float

    @property
    def is_kept(self) -> bool:
        """Whether the item to show is the one that is shown most often."""
        return self.shown_now == self.show_instead


@dataclass(frozen=True, eq=False)
class PlacementReport:
    """A fit and its diagnostics, each computed on first access."""

    fit: Fit
    seed: int = 0

    @cached_property
    def goodness(self) -> LogGoodnessOfFit | None:
        """Observed clicks against fitted ones; None if they cannot be compared."""
        return goodness(self.fit)

    @property
    def verdict(self) -> str:
        """Whether the model fits, in a sentence or two."""
        return verdict_in_words(self.goodness, [self.fit])

    @cached_property
    def held_out(self) -> HoldoutComparison | None:
        """The models on impressions that they have not seen."""
        return None if self.fit.rankings is None else compare_on_holdout(self.fit.rankings, self.seed)

    @cached_property
    def limits(self) -> list[str]:
        """The limitations of the log; empty if there is none."""
        every = [] if self.fit.estimate.uncertainty.at_rest else ["The estimate did not converge."]
        return every + limitations(self.fit)

    @cached_property
    def best(self) -> Recommendation | None:
        """The list to show, or the best guess; None if too much of the log is left out."""
        return None if self.fit.withheld else self.fit.best()

    @property
    def withheld(self) -> str:
        """Why no list is recommended, as a clause; empty if one is."""
        if self.fit.withheld:
            return f"{self.fit.withheld}. {LEFT_OUT_REMEDY}"
        if not self.fit.tally.clicks.any():
            return "no impression has a click"
        return "" if self.fit.slots_comparable else NOT_COMPARABLE

    @cached_property
    def comparison(self) -> list[SlotComparison]:
        """The list shown now and the recommended list, by slot."""
        items = {id: item for item, id in enumerate(self.fit.item_ids)}
        fit, rows = self.fit, []
        intervals = fit.intervals if fit.shrunken is fit.estimate else fit.shrunken.intervals(LEVEL)
        alpha, limits = fit.shrunken.attractiveness, intervals.attractiveness
        best = [None] * self.fit.slots if self.best is None else self.best.items
        for slot, (shown, id) in enumerate(zip(self.fit.shown_now, best, strict=True), start=1):
            estimates = [math.nan] * 3 if id is None else [part[items[id]] for part in (alpha, limits.low, limits.high)]
            rows.append(SlotComparison(slot, *shown, id, *map(float, estimates)))
        return rows

    @property
    def items(self) -> list[str]:
        """The list to show, or the best guess, without empty slots; empty if there is neither."""
        return [row.show_instead for row in self.comparison if row.show_instead is not None]

    @property
    def summary(self) -> str:
        """The expected click rate of the list to show, against that of the log."""
        expected = "no recommendation" if self.best is None or self.withheld else f"{self.expected} expected"
        return f"a click in {percent(self.fit.click_rate)} of impressions now, {expected}"

    @property
    def expected(self) -> str:
        """The expected click rate of the list to show, with its interval; empty if there is none."""
        return "" if self.best is None else with_interval(self.best.rate)

    def shown_now(self) -> list[str]:
        """How the list of the items that are shown most begins, place by place."""
        places = enumerate(self.fit.shown_now[:NAMED], start=1)
        return [f"{slot}. {shown.item}" for slot, shown in places if shown.item is not None]

    def begins_with(self) -> list[str]:
        """How the list to show begins, place by place."""
        places = [f"{row.slot}. {row.show_instead}" for row in self.comparison if row.show_instead is not None]
        return ([GUESS] if self.withheld and places else []) + places[:NAMED] or ["none"]

    def lead(self) -> str:
        """The list to show, as the beginning of an answer."""
        items = self.items
        if all(row.is_kept for row in self.comparison):
            return "Keep the list that is shown most often"
        order = "" if len(items) == 1 else " first" if len(items) > NAMED else ", in this order"
        return f"Show {and_more(items[:NAMED], min(NAMED, len(items)))}{order}"
