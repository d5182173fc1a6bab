"""One placement of the report: its fit, what was found out about it, and the sentences to read first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from slotwise.logs.fitting.fit import LEVEL, Fit, Recommendation
from slotwise.logs.fitting.goodness_of_fit import Goodness, goodness
from slotwise.logs.fitting.held_out import HeldOut, held_out
from slotwise.logs.fitting.identifiability import ALL_COMPARABLE, what_cannot_be_said
from slotwise.logs.fitting.inverse_propensity import wilson
from slotwise.logs.fitting.wording import percent, with_interval

#: items of the best list that are named
NAMED = 3
#: a slot whose interval spans more than this factor is not mentioned
VAGUE = 5.0
ALIKE = 0.95
#: if a smaller share of the impressions could be counted, that is said first
MOSTLY = 0.8


@dataclass(frozen=True, eq=False)
class PlacementReport:
    """A fit and what was found out about it, each computed when it is asked for."""

    fit: Fit
    seed: int = 0

    @cached_property
    def goodness(self) -> Goodness | None:
        """Observed clicks against fitted ones."""
        return goodness(self.fit)

    @cached_property
    def held_out(self) -> HeldOut | None:
        """The models on impressions that they have not seen."""
        return None if self.fit.rankings is None else held_out(self.fit.rankings, self.seed)

    @cached_property
    def limits(self) -> list[str]:
        """What the log cannot say."""
        return what_cannot_be_said(self.fit)

    @property
    def slots_comparable(self) -> bool:
        """Whether all slots that were clicked can be compared with each other."""
        return len(set(self.fit.estimate.parts[0][self.fit.tally.clicks.any(axis=1)].tolist())) <= 1

    @cached_property
    def best(self) -> Recommendation:
        """What slotwise would show."""
        return self.fit.best()

    def in_words(self) -> list[str]:
        """What to know first: a sentence or two per line."""
        fit = self.fit
        words = [
            f"{fit.impressions:,} impressions of {fit.slots} slots and {len(fit.item_ids):,} items; "
            f"{percent(fit.click_rate)} had a click."
        ]
        if fit.multi_click:
            words[0] += f" {percent(fit.multi_click / fit.impressions)} clicked several items."
        if fit.counted is not None and fit.counted < MOSTLY * fit.impressions:
            words.append(
                f"Only {percent(fit.counted / fit.impressions)} of the impressions could be counted. See why the "
                "others were left out before you trust the rest."
            )
        if not fit.no_click:
            words.append(
                "Every impression has a click. How attractive items are shows in how often nothing is clicked, so a "
                "log without such impressions says next to nothing. Are they missing?"
            )
        words.append(_slots_in_words(fit))
        words.append(_gain_in_words(self))
        if self.goodness is not None:
            words.append(f"Does the model fit? {self.goodness.in_words()}")
        if not fit.estimate.evidence.at_rest:
            words.append("The estimate did not converge: see below what this log cannot say.")
        elif self.limits != [ALL_COMPARABLE]:
            words.append("There are things this log cannot say; they are listed below.")
        return words


def _slots_in_words(fit: Fit) -> str:
    bias, interval = fit.estimate.position_bias, fit.estimate.intervals(LEVEL).position_bias
    known = np.flatnonzero((interval.high <= VAGUE * interval.low) & (bias > 0))
    if fit.slots == 1:
        return "There is only one slot."
    if len(known) < 2:
        return "This log hardly says what the slots are worth relative to each other."
    best, worst = known[np.argmax(bias[known])], known[np.argmin(bias[known])]
    part = float(bias[worst] / bias[best])
    if part > ALIKE:
        return "The slots are worth about the same."
    return f"The best place is slot {best + 1}; in slot {worst + 1} the same item is worth {percent(part)} of that."


def _gain_in_words(one: PlacementReport) -> str:
    names = [name for name in one.best.items if name is not None][:NAMED]
    rate, observed = one.best.rate, one.fit.click_rate
    low, high = wilson(observed, one.fit.counted_impressions, LEVEL)
    against = (
        "more than was observed"
        if rate.low > high
        else "less than was observed"
        if rate.high < low
        else "which may be no more than was observed"
    )
    return (
        f"slotwise would show {', '.join(names)}{' …' if one.fit.slots > len(names) else ''} and expects a click in "
        f"{with_interval(rate)} of impressions: {against}, {percent(observed)}. {one.best.caution()}"
    )
