"""The sentences of a report, for one placement or several: the answer, what to be careful about, and the findings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from slotwise.logs.counting.cleaning_rules import RULES, SIZES
from slotwise.logs.evaluation.log_goodness_of_fit import goodness, verdict_in_words
from slotwise.logs.fitting.click_rate import Rate
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.number_format import against_observed, and_more, count_of, is_clearly_more, percent
from slotwise.logs.fitting.recommendation import MAX_LEFT_OUT
from slotwise.logs.reporting.multi_click_report import multi_click_sentences
from slotwise.logs.reporting.placement_report import PlacementReport
from slotwise.logs.reporting.segment_report import segments_in_words, strata_of_all
from slotwise.logs.reporting.underplaced_items import find_underplaced

#: placements that are reported in full, the largest ones
IN_FULL = 20
#: underplaced items and slots that a sentence names
NAMED, TOLD = 3, 5
#: a slot whose interval spans more than this factor is not mentioned
VAGUE = 5.0
ALIKE = 0.95
#: a warning is due if a smaller share of the impressions with a click could be counted
MOSTLY = 0.8
#: the verdicts on the model's fit that need no caution
FITTING = ("Yes", "Closely")


class Line(NamedTuple):
    """A question of the reader and its answer; `details` are sentences that a page lists below it."""

    question: str
    answer: str
    is_fine: bool = True
    details: Sequence[str] = ()

    def __str__(self) -> str:
        return " ".join([self.question, self.answer]).strip()


@dataclass(frozen=True, eq=False)
class LogSummary:
    """The placements of a log, those with the most impressions first."""

    placements: Sequence[PlacementReport]

    @classmethod
    def of(cls, fits: Iterable[Fit], seed: int = 0) -> LogSummary:
        """In the order of their size."""
        return cls([PlacementReport(fit, seed) for fit in sorted(fits, key=lambda fit: -fit.impressions)])

    @cached_property
    def fits(self) -> list[Fit]:
        """The fits of all placements."""
        return [report.fit for report in self.placements]

    @property
    def full(self) -> Sequence[PlacementReport]:
        """The placements that are reported in full."""
        return self.placements[:IN_FULL]

    @cached_property
    def recommended(self) -> list[PlacementReport]:
        """The placements with a recommendation."""
        return [report for report in self.placements if not report.withheld]

    @cached_property
    def has_shared_bias(self) -> bool:
        """Whether all placements have one position bias, as far as their slots go."""
        longest = max(self.fits, key=lambda fit: fit.slots).estimate.position_bias
        return all(np.array_equal(fit.estimate.position_bias, longest[: fit.slots]) for fit in self.fits)

    def in_words(self) -> list[str]:
        """Return all sentences, the answer first."""
        lines = [*self.cautions(), *self.findings()]
        return [self.answer(), self.size(), *(str(line) for line in lines)]

    def answer(self) -> str:
        """Return what to show, what it would bring, and how sure that is."""
        largest, reports = self.placements[0], self.recommended
        if not reports:
            among = "" if len(self.placements) == 1 else f" in any of the {len(self.placements):,} placements"
            return f"Nothing is recommended{among}: {largest.withheld}."
        best = [(report.fit, report.best) for report in reports if report.best is not None]
        compared = [
            (fit, advice.rate) for fit, advice in best if not math.isnan(fit.click_rate + advice.rate.click_rate)
        ]
        lead = largest.lead() if len(self.placements) == 1 else "Show the lists below"
        if len(reports) < len(self.placements):
            lead += f" in {len(reports):,} of {len(self.placements):,} placements"
        if not compared:
            return f"{lead}. {best[0][1].slots_in_words()}".rstrip()
        views = np.array([fit.tally.counted for fit, _ in compared])
        # conservative for any correlation between the placements
        rate = Rate(*(views @ np.array([rate for _, rate in compared]) / views.sum()).tolist())
        observed = float(views @ [fit.click_rate for fit, _ in compared] / views.sum())
        if not is_clearly_more(rate, observed, int(views.sum())):
            lead = "No list is clearly better than what is shown now"
        return f"{lead}. {against_observed(rate, observed, int(views.sum()))}."

    def size(self) -> str:
        """Return the impressions, what they are of, and the click rate of those that were counted."""
        fits = self.fits
        impressions, counted, no_click = (self._sum(name) for name in ("impressions", "counted", "no_click"))
        placements = f"{len(fits):,} placements, " if len(fits) > 1 else ""
        items = len({id for fit in fits for id in fit.item_ids})
        among = "" if counted == impressions else f" of the {counted:,} counted ones"
        rate = percent(1.0 - no_click / counted if counted else math.nan)
        return (
            f"{count_of(impressions, 'impression')} of {placements}{count_of(max(fit.slots for fit in fits), 'slot')} "
            f"and {count_of(items, 'item')}; {rate}{among} had a click."
        )

    def _sum(self, name: str) -> int:
        return sum(getattr(fit.tally, name) for fit in self.fits)

    def cautions(self) -> list[Line]:
        """Return whether the model fits, what was left out or guessed, and every other reason for care."""
        several = multi_click_sentences(self.fits)
        return [
            self._fit_line(),
            self._left_out(),
            *(Line("Do impressions have several clicks?", sentence, is_fine=False) for sentence in several),
            *self._missing(),
            *self._withheld(),
            *self._basis(),
            *self._limits(),
        ]

    def findings(self) -> list[Line]:
        """Return what the log says of slots, items, segments and time."""
        fits = self.fits
        lines = [Line("How much is each slot worth?", _slots_in_words(fits)), self._underplaced()]
        strata = strata_of_all(fits)
        if len(fits) == 1:
            changes = fits[0].changes
            strata = segments_in_words(fits[0]) + ([] if changes is None else [changes.in_words()])
        return lines + [Line(f"{ask}?", rest.strip()) for ask, _, rest in (line.partition("?") for line in strata)]

    def _fit_line(self) -> Line:
        """The verdict on all placements together."""
        verdict = self.placements[0].verdict
        if len(self.placements) > 1:
            verdict = verdict_in_words(goodness(self.fits), self.fits)
        return Line("Does the model fit?", verdict, verdict.startswith(FITTING))

    def _left_out(self) -> Line:
        """The impressions that were not counted, and every irregularity with its treatment."""
        impressions, counted = self._sum("impressions"), self._sum("counted")
        counts = {rule: count for rule, count in self.fits[0].tally.cleaning.items() if count and rule not in SIZES}
        missing = impressions - counted
        answer = (
            f"{percent(missing / impressions)} of the impressions ({missing:,} of {impressions:,}) are left out."
            if missing
            else f"No impression is left out{', but the log has irregularities' if counts else ''}."
        )
        details = [f"{count:,} {RULES.get(rule, rule)}" for rule, count in counts.items()]
        return Line("Is anything left out or guessed?", answer, not details and not missing, details)

    def _withheld(self) -> list[Line]:
        """Why some placements have no recommendation; the answer has the reason if none has one."""
        reasons = [report.withheld for report in self.placements if report.withheld]
        if not reasons or not self.recommended:
            return []
        answer = f"Not in {len(reasons):,} of {len(self.placements):,} placements: {reasons[0]}."
        return [Line("Is a list recommended everywhere?", answer, is_fine=False)]

    def _basis(self) -> list[Line]:
        """Which slots the expected rate is for, and whether it rests on items that were hardly seen there."""
        lines, best = [], [report.best for report in self.recommended if report.best is not None]
        partial = [advice.slots_in_words() for advice in best if not math.isnan(advice.rate.click_rate)]
        partial = [sentence for sentence in partial if sentence]
        if partial and len(self.placements) == 1:
            lines.append(Line("Is the comparison like with like?", partial[0]))
        elif partial:
            answer = "Yes: expected and observed rates are for impressions that fill as many slots as those of the log."
            lines.append(Line("Is the comparison like with like?", answer))
        resting = [advice.caution() for advice in best if advice.caution()]
        if resting and len(self.placements) == 1:
            lines.append(Line("Was the list tried?", resting[0], is_fine=False))
        elif resting:
            answer = (
                f"In {len(resting):,} of {len(self.placements):,} placements some item of the list was never shown in "
                "its slot, or hardly anywhere. There, the expected click rate rests on the model."
            )
            lines.append(Line("Were the lists tried?", answer, is_fine=False))
        return lines

    def _missing(self) -> list[Line]:
        """Return warnings on missing impressions and clicks."""
        counted, no_click, clicked = (self._sum(name) for name in ("counted", "no_click", "clicked"))
        with_click, words = counted - no_click, []
        findings = self.fits[0].tally.cleaning
        if findings.get("shorter_lists"):
            words.append(
                f"There are {findings['shorter_lists']:,} {RULES['shorter_lists']}. Are rows of unclicked items "
                "missing? Then position bias and attractiveness are too high."
            )
        gaps = findings.get("missing_slots", 0) / max(1, findings.get("counted", 0))
        if gaps > MAX_LEFT_OUT and sum(int(fit.tally.showings.sum()) for fit in self.fits) > counted:
            words.append(
                f"{percent(gaps)} of the impressions have a gap in their slots, which counts as empty. If rows of "
                f"unclicked items are missing there, {_slots_with_gaps(self.fits)} too high, and clicks cannot show it."
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
        return [Line("Is anything missing?", sentence, is_fine=False) for sentence in words]

    def _limits(self) -> list[Line]:
        limited = [report for report in self.full if report.limits]
        question = "What can the log not tell?"
        if not limited:
            return []
        if len(self.placements) == 1:
            first, *others = limited[0].limits
            return [Line(question, first, is_fine=False, details=others)]
        answer = f"{len(limited):,} of {len(self.full):,} placements have limitations; the report lists them."
        return [Line(question, answer, is_fine=False)]

    def _underplaced(self) -> Line:
        question = "Which items are underplaced?"
        if not self.recommended:
            return Line(question, "This log does not determine it.")
        named = len(self.placements) > 1
        underplaced = [
            (report.fit.impressions * item.gain, f"{item.item} of {report.fit.placement}" if named else item.item, item)
            for report in self.recommended
            if report.best is not None
            for item in find_underplaced(report.fit, report.best)
        ]
        if not underplaced:
            return Line(question, "None that was shown often enough.")
        underplaced.sort(key=lambda each: -each[0])
        gains = [
            f"{name} would get {item.times:.1f} times as many clicks in slot {item.better} as in the slots where it "
            f"was shown{'' if item.slot == item.better else f', mostly slot {item.slot}'}"
            for _, name, item in underplaced[:NAMED]
        ]
        others = f"; and {len(underplaced) - NAMED:,} more" if len(underplaced) > NAMED else ""
        return Line(question, f"{'; '.join(gains)}{others}.")


def _slots_in_words(fits: Sequence[Fit]) -> str:
    """Return the position bias of slots: the median over placements with a precise estimate."""
    slots = max(fit.slots for fit in fits)
    if slots == 1:
        return "There is only one slot."
    medians, differ = {}, False
    for slot in range(1, slots):
        worth = [float(fit.estimate.position_bias[slot]) for fit in fits if _knows(fit, slot)]
        if worth:
            medians[slot + 1] = float(np.median(worth))
            differ |= max(worth) > min(worth)
    shared = f" {fits[0].shared_slots}".rstrip()
    if not medians:
        return f"This log hardly determines the position bias.{shared}"
    if min(1.0, *medians.values()) > ALIKE * max(1.0, *medians.values()):
        return f"The slots are worth about the same.{shared}"
    shares = [f"{percent(worth)} in slot {slot}" for slot, worth in medians.items()]
    limits = fits[0].intervals.position_bias
    given = "As given: of" if np.array_equal(limits.low, limits.high) else "Of"
    among = ", in the median placement" if differ else ""
    others = ", and so on" if len(shares) > TOLD else ""
    return (
        f"{given} the clicks that an item gets in slot 1, the same item gets "
        f"{and_more(shares[:TOLD], min(TOLD, len(shares)))}{others}{among}.{shared}"
    )


def _knows(fit: Fit, slot: int) -> bool:
    """Whether a placement has a precise estimate of a slot's position bias."""
    if slot >= fit.slots:
        return False
    limits = fit.intervals.position_bias
    return bool(0.0 < limits.high[slot] <= VAGUE * limits.low[slot])


def _slots_with_gaps(fits: Sequence[Fit]) -> str:
    """Return what is too high if rows are missing, with its verb: slots that are empty more often than one below."""
    filled = np.zeros(max(fit.slots for fit in fits))
    for fit in fits:
        filled[: fit.slots] += fit.tally.showings.sum(axis=1)
    most_below = np.maximum.accumulate(filled[::-1])[::-1]
    numbers = [str(slot + 1) for slot in np.flatnonzero(filled < most_below).tolist()]
    if not numbers:
        return "attractiveness is"
    return f"attractiveness and the position bias of slot {and_more(numbers, len(numbers))} are"
