"""One placement of the report: its fit, what was found out about it, and the sentences to read first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from slotwise.logs.evaluation.holdout_comparison import HoldoutComparison, compare_on_holdout
from slotwise.logs.evaluation.log_goodness_of_fit import LogGoodnessOfFit, goodness
from slotwise.logs.fitting.click_rate import LEVEL
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.number_format import against_observed, and_more, count_of, percent
from slotwise.logs.fitting.recommendation import Recommendation
from slotwise.logs.reporting.limitations import ALL_COMPARABLE, limitations
from slotwise.logs.reporting.multi_click_report import multi_click_sentences
from slotwise.logs.reporting.segment_report import segments_in_words
from slotwise.logs.reporting.underplaced_items import UnderplacedItem, find_underplaced

#: items held back that are named; places of the list that are; slots whose worth is told
NAMED, LISTED, TOLD = 3, 10, 5
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
    def goodness(self) -> LogGoodnessOfFit | None:
        """Observed clicks against fitted ones; None where a fit of the log's end is not meant to fit all of it."""
        has_faded = self.fit.changes is not None and self.fit.changes.half_life is not None
        return None if has_faded else goodness(self.fit)

    @cached_property
    def held_out(self) -> HoldoutComparison | None:
        """The models on impressions that they have not seen."""
        return None if self.fit.rankings is None else compare_on_holdout(self.fit.rankings, self.seed)

    @cached_property
    def limits(self) -> list[str]:
        """What the log cannot say."""
        return limitations(self.fit)

    @property
    def slots_comparable(self) -> bool:
        """Whether all slots that were clicked can be compared with each other."""
        return self.fit.slots_comparable

    @property
    def heading_of_list(self) -> str:
        """What is above the recommended list, which is no recommendation where slots cannot be compared."""
        return "What slotwise would show" if self.slots_comparable else "What slotwise would guess"

    @cached_property
    def best(self) -> Recommendation:
        """What slotwise would show."""
        return self.fit.best()

    def in_words(self) -> list[str]:
        """What to know first: a sentence or two per line, in the order in which someone who runs a page asks."""
        fit = self.fit
        words = [
            f"{count_of(fit.impressions, 'impression')} of {count_of(fit.slots, 'slot')} and "
            f"{count_of(len(fit.item_ids), 'item')}; {percent(fit.click_rate_of_log)} had a click{_of_those_kept(fit)}."
        ]
        words += multi_click_sentences([fit])
        words += missing_data_sentences([fit])
        words += [_places_in_words(fit), _held_back_in_words(self), _list_in_words(self), _gain_in_words(self)]
        words += segments_in_words(fit)
        if fit.changes is not None:
            words.append(fit.changes.in_words())
        if self.goodness is not None:
            words.append(f"Does the model fit? {self.goodness.in_words()}")
        if not fit.estimate.uncertainty.at_rest:
            words.append("The estimate did not converge: see below what this log cannot say.")
        elif self.limits != [ALL_COMPARABLE]:
            words.append("There are things this log cannot say; they are listed below.")
        return words


def _of_those_kept(fit: Fit) -> str:
    """The click rate of what was counted, where it is not that of the log."""
    if percent(fit.click_rate) == percent(fit.click_rate_of_log):
        return ""
    return f" in the log ({percent(fit.click_rate)} of the {fit.tally.counted:,} that were counted)"


def missing_data_sentences(fits: Sequence[Fit]) -> list[str]:
    """What to know before anything is trusted, of one placement or of all together."""
    words = []
    impressions, counted, no_click = (
        sum(getattr(fit.tally, name) for fit in fits) for name in ("impressions", "counted", "no_click")
    )
    with_click = counted - no_click
    clicked = sum(fit.tally.clicked for fit in fits)
    if counted < MOSTLY * impressions:
        words.append(
            f"Only {percent(counted / impressions)} of the impressions could be counted. See why the others were left "
            "out before you trust the rest."
        )
    if with_click < MOSTLY * clicked:
        words.append(
            f"Of the impressions with a click, only {percent(with_click / clicked)} could be counted "
            f"({with_click:,} of {clicked:,}). What is left may say the opposite of what the log would."
        )
    if not no_click:
        words.append(
            "Every impression has a click. How attractive items are shows in how often nothing is clicked, so a "
            "log without such impressions says next to nothing. Are they missing?"
        )
    if not with_click:
        words.append("No impression has a click, so the log says nothing of slots and items. Are the clicks missing?")
    return words


def _places_in_words(fit: Fit) -> str:
    bias, interval = fit.estimate.position_bias, fit.estimate.intervals(LEVEL).position_bias
    known = np.flatnonzero((interval.high <= VAGUE * interval.low) & (bias > 0))
    if fit.slots == 1:
        return "What is each place worth? There is only one slot."
    if len(known) < 2:
        return "What is each place worth? This log hardly says what the slots are worth relative to each other."
    best = known[np.argmax(bias[known])]
    if bias[known].min() > ALIKE * bias[best]:
        return "What is each place worth? The slots are worth about the same."
    others = [slot for slot in known if slot != best]
    told = [f"{percent(float(bias[slot] / bias[best]))} in slot {slot + 1}" for slot in others[:TOLD]]
    rest = "; the other slots are below" if len(others) > TOLD else ""
    given = "As you said, the" if np.array_equal(interval.low, interval.high) else "The"
    return (
        f"What is each place worth? {given} best place is slot {best + 1}. Of the clicks that an item gets there, the "
        f"same item gets {and_more(told, len(told))}{rest}."
    )


def _held_back_in_words(one: PlacementReport) -> str:
    if not one.slots_comparable:
        return "Which items are held back by their place? This log cannot say."
    return held_back_in_words([(item.item, item) for item in find_underplaced(one.fit, one.best)])


def held_back_in_words(found: Sequence[tuple[str, UnderplacedItem]]) -> str:
    """Items with what to call them, those with most to gain first."""
    if not found:
        return "Which items are held back by their place? None that was shown often enough to say so."
    told = [
        f"{name}, {_usual_place(item)}, would get {item.times:.1f} times the clicks in slot {item.better}"
        for name, item in found[:NAMED]
    ]
    more = f"; and {len(found) - NAMED:,} more" if len(found) > NAMED else ""
    return f"Which items are held back by their place? {'; '.join(told)}{more}."


def _usual_place(item: UnderplacedItem) -> str:
    return f"mostly in slot {item.slot}" if item.slot != item.better else "mostly in other slots"


def _list_in_words(one: PlacementReport) -> str:
    places = [f"{slot}. {name}" for slot, name in enumerate(one.best.items, start=1) if name is not None]
    more = f"   and {len(places) - LISTED} more, listed below" if len(places) > LISTED else ""
    told = f"{'   '.join(places[:LISTED])}{more}"
    if not one.slots_comparable:
        return (
            "What to show? This log cannot say with any confidence: its slots cannot be compared, as hardly any item "
            "was in several of them. Keep what you show, and let some items change places for a while. What slotwise "
            f"would guess: {told}"
        )
    return f"What to show? {told}"


def _gain_in_words(one: PlacementReport) -> str:
    if not one.slots_comparable:
        return "What would that bring? This log cannot say."
    caution = one.best.caution()
    brings = against_observed(one.best.rate, one.fit.click_rate, one.fit.tally.counted)
    return f"What would that bring? {brings}." + (f" {caution}" if caution else "")
