"""One placement of the report: its fit, diagnostics, and the sentences to read first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from slotwise.logs.evaluation.holdout_comparison import HoldoutComparison, compare_on_holdout
from slotwise.logs.evaluation.log_goodness_of_fit import LogGoodnessOfFit, goodness
from slotwise.logs.fitting.click_rate import LEVEL
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.number_format import against_observed, and_more, count_of, percent
from slotwise.logs.fitting.recommendation import MAX_LEFT_OUT, Recommendation
from slotwise.logs.reporting.limitations import ALL_COMPARABLE, limitations
from slotwise.logs.reporting.multi_click_report import multi_click_sentences
from slotwise.logs.reporting.segment_report import segments_in_words
from slotwise.logs.reporting.underplaced_items import UnderplacedItem, find_underplaced

#: underplaced items, places of the list, and slots that a sentence names
NAMED, LISTED, TOLD = 3, 10, 5
#: a slot whose interval spans more than this factor is not mentioned
VAGUE = 5.0
ALIKE = 0.95
#: a warning comes first if a smaller share of the impressions with a click could be counted
MOSTLY = 0.8
#: what to do if nothing is recommended
REMEDY = "Correct the log or the names of its columns; --recommend always recommends a list anyway"


@dataclass(frozen=True, eq=False)
class PlacementReport:
    """A fit and its diagnostics, each computed on first access."""

    fit: Fit
    seed: int = 0

    @cached_property
    def goodness(self) -> LogGoodnessOfFit | None:
        """Observed clicks against fitted ones; None if that is withheld, or if only the log's end is fitted."""
        has_faded = self.fit.changes is not None and self.fit.changes.half_life is not None
        return None if has_faded or self.fit.withheld else goodness(self.fit)

    @cached_property
    def held_out(self) -> HoldoutComparison | None:
        """The models on impressions that they have not seen."""
        return None if self.fit.rankings is None else compare_on_holdout(self.fit.rankings, self.seed)

    @cached_property
    def limits(self) -> list[str]:
        """The limitations of the log."""
        return limitations(self.fit)

    @property
    def slots_comparable(self) -> bool:
        """Whether all slots that were clicked can be compared with each other."""
        return self.fit.slots_comparable

    @property
    def heading_of_list(self) -> str:
        """The heading of the recommended list; a guess if slots cannot be compared."""
        if self.fit.withheld:
            return "No recommended list"
        return "Recommended list" if self.slots_comparable else "Best guess"

    @cached_property
    def best(self) -> Recommendation:
        """The recommended list."""
        return self.fit.best()

    def in_words(self) -> list[str]:
        """Return the main findings, a sentence or two per line, in the order of a page owner's questions."""
        fit = self.fit
        words = [
            f"{count_of(fit.impressions, 'impression')} of {count_of(fit.slots, 'slot')} and "
            f"{count_of(len(fit.item_ids), 'item')}; {observed_in_words([fit])}."
        ]
        words += multi_click_sentences([fit])
        words += missing_data_sentences([fit])
        words.append(_places_in_words(fit))
        if fit.withheld:
            words.append(f"What to show? Nothing is recommended: {fit.withheld}. {REMEDY}.")
        else:
            words += [_held_back_in_words(self), _list_in_words(self), _gain_in_words(self)]
        words += segments_in_words(fit)
        if fit.changes is not None:
            words.append(fit.changes.in_words())
        if self.goodness is not None:
            words.append(f"Does the model fit? {self.goodness.in_words()}")
        elif fit.withheld:
            words.append("Does the model fit? Undecided: too much of the log is left out.")
        if not fit.estimate.uncertainty.at_rest:
            words.append("The estimate did not converge: see the limitations below.")
        elif self.limits != [ALL_COMPARABLE]:
            words.append("This log has limitations; they are listed below.")
        return words


def observed_in_words(fits: Sequence[Fit]) -> str:
    """Return the click rate of the counted impressions, of one placement or of all together, as a clause."""
    impressions, counted, no_click = (
        sum(getattr(fit.tally, name) for fit in fits) for name in ("impressions", "counted", "no_click")
    )
    rate = percent(1.0 - no_click / counted) if counted else "unknown"
    return f"{rate} had a click" if counted == impressions else f"{rate} of the {counted:,} counted ones had a click"


def missing_data_sentences(fits: Sequence[Fit]) -> list[str]:
    """Return warnings on missing impressions and clicks, of one placement or of all together."""
    words = []
    impressions, counted, no_click = (
        sum(getattr(fit.tally, name) for fit in fits) for name in ("impressions", "counted", "no_click")
    )
    with_click = counted - no_click
    clicked = sum(fit.tally.clicked for fit in fits)
    if counted < (1.0 - MAX_LEFT_OUT) * impressions and not all(fit.withheld for fit in fits):
        words.append(
            f"Only {percent(counted / impressions)} of the impressions could be counted. Check why the others were "
            "left out before you trust the results."
        )
    if with_click < MOSTLY * clicked:
        words.append(
            f"Of the impressions with a click, only {percent(with_click / clicked)} could be counted "
            f"({with_click:,} of {clicked:,}). The results may be biased."
        )
    if not no_click:
        words.append(
            "Every impression has a click. Attractiveness is relative to no click, so a log without such "
            "impressions has next to no information. Are they missing?"
        )
    if not with_click:
        words.append("No impression has a click, so slots and items cannot be estimated. Are the clicks missing?")
    return words


def _places_in_words(fit: Fit) -> str:
    bias, interval = fit.estimate.position_bias, fit.estimate.intervals(LEVEL).position_bias
    precise = np.flatnonzero((interval.high <= VAGUE * interval.low) & (bias > 0))
    if fit.slots == 1:
        return "How much is each slot worth? There is only one slot."
    if len(precise) < 2:
        return "How much is each slot worth? This log hardly determines the position bias."
    best = precise[np.argmax(bias[precise])]
    if bias[precise].min() > ALIKE * bias[best]:
        return "How much is each slot worth? The slots are worth about the same."
    others = [slot for slot in precise if slot != best]
    shares = [f"{percent(float(bias[slot] / bias[best]))} in slot {slot + 1}" for slot in others[:TOLD]]
    note = "; the other slots are below" if len(others) > TOLD else ""
    given = "As given, the" if np.array_equal(interval.low, interval.high) else "The"
    return (
        f"How much is each slot worth? {given} best place is slot {best + 1}. Of the clicks that an item gets there, "
        f"the same item gets {and_more(shares, len(shares))}{note}."
    )


def _held_back_in_words(report: PlacementReport) -> str:
    if not report.slots_comparable:
        return "Which items are underplaced? This log does not determine it."
    return held_back_in_words([(item.item, item) for item in find_underplaced(report.fit, report.best)])


def held_back_in_words(underplaced: Sequence[tuple[str, UnderplacedItem]]) -> str:
    """Items with what to call them, those with most to gain first."""
    if not underplaced:
        return "Which items are underplaced? None that was shown often enough."
    gains = [
        f"{name}, {_usual_place(item)}, would get {item.times:.1f} times as many clicks in slot {item.better} as "
        "where it was shown"
        for name, item in underplaced[:NAMED]
    ]
    others = f"; and {len(underplaced) - NAMED:,} more" if len(underplaced) > NAMED else ""
    return f"Which items are underplaced? {'; '.join(gains)}{others}."


def _usual_place(item: UnderplacedItem) -> str:
    return f"mostly in slot {item.slot}" if item.slot != item.better else "mostly in other slots"


def _list_in_words(report: PlacementReport) -> str:
    places = [f"{slot}. {name}" for slot, name in enumerate(report.best.items, start=1) if name is not None]
    others = f"   and {len(places) - LISTED} more, listed below" if len(places) > LISTED else ""
    listed = f"{'   '.join(places[:LISTED])}{others}"
    if not report.slots_comparable:
        return (
            "What to show? This log does not determine it: its slots cannot be compared, as hardly any item "
            "was in several of them. Keep what you show, and let some items change places for a while. The best "
            f"guess: {listed}"
        )
    return f"What to show? {listed}"


def _gain_in_words(report: PlacementReport) -> str:
    if not report.slots_comparable:
        return "Which click rate to expect? This log does not determine it."
    rate, caution = report.best.rate, report.best.caution()
    if math.isnan(rate.click_rate) and caution:
        return f"Which click rate to expect? {caution}"
    brings = against_observed(rate, report.fit.click_rate, report.fit.tally.counted)
    return f"Which click rate to expect? {brings}." + (f" {caution}" if caution else "")
