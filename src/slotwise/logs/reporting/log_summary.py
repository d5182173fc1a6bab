"""Several placements together: the sentences to read first, and a line for each placement."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from slotwise.logs.fitting.click_rate import Rate
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.number_format import and_more, count_of, percent, with_interval
from slotwise.logs.reporting.multi_click_report import multi_click_sentences
from slotwise.logs.reporting.placement_report import (
    REMEDY,
    TOLD,
    VAGUE,
    PlacementReport,
    held_back_in_words,
    missing_data_sentences,
    observed_in_words,
)
from slotwise.logs.reporting.segment_report import strata_of_all
from slotwise.logs.reporting.underplaced_items import find_underplaced

#: places of a placement's list that a table names
BEGINS = 3
#: what stands before a list that is no recommendation
GUESS = "guess:"


@dataclass(frozen=True, eq=False)
class LogSummary:
    """The placements of a log, those with the most impressions first."""

    placements: Sequence[PlacementReport]

    @classmethod
    def of(cls, fits: Sequence[Fit], seed: int = 0) -> LogSummary:
        """In the order of their size."""
        return cls([PlacementReport(fit, seed) for fit in sorted(fits, key=lambda fit: -fit.impressions)])

    @property
    def fits(self) -> list[Fit]:
        """The fits of all placements."""
        return [report.fit for report in self.placements]

    @cached_property
    def comparable(self) -> list[PlacementReport]:
        """Those whose slots can be compared, so that a list can be recommended."""
        return [report for report in self.placements if report.slots_comparable and not report.fit.withheld]

    def in_words(self) -> list[str]:
        """Return the main findings, in the order of a page owner's questions."""
        fits = self.fits
        impressions = sum(fit.impressions for fit in fits)
        shared = fits[0].shared_slots or "Each placement was fitted on its own."
        return [
            f"{count_of(impressions, 'impression')} of {len(fits):,} placements; {observed_in_words(fits)}. {shared}",
            *multi_click_sentences(fits),
            *missing_data_sentences(fits),
            _places_in_words(fits),
            self._held_back_in_words(),
            self._lists_in_words(),
            *self._gain_in_words(),
            *strata_of_all(fits),
        ]

    def _held_back_in_words(self) -> str:
        if not self.comparable:
            return "Which items are underplaced? This log does not determine it."
        underplaced = [
            (report.fit.impressions * item.gain, f"{item.item} of {report.fit.placement}", item)
            for report in self.comparable
            for item in find_underplaced(report.fit, report.best)
        ]
        underplaced.sort(key=lambda each: -each[0])
        return held_back_in_words([(name, item) for _, name, item in underplaced])

    def _lists_in_words(self) -> str:
        reasons = [report.fit.withheld for report in self.placements if report.fit.withheld]
        if len(reasons) == len(self.placements):
            return f"What to show? Nothing is recommended: {reasons[0]}. {REMEDY}."
        none = (
            f" {len(reasons):,} of {len(self.placements):,} placements have none, such as one of which {reasons[0]}."
            if reasons
            else ""
        )
        apart = len(self.placements) - len(self.comparable) - len(reasons)
        if not apart:
            return f"What to show? The lists below.{none}"
        return (
            f"What to show? The lists below.{none} In {apart:,} of {len(self.placements):,} placements they are a "
            f"guess and no recommendation (“{GUESS}”): slots cannot be compared there, as hardly any item was in "
            "several of them."
        )

    def _gain_in_words(self) -> list[str]:
        """Return the expected click rate of all recommended lists; empty if there are none."""
        reports = [
            report
            for report in self.comparable
            if report.fit.tally.counted and not math.isnan(report.best.rate.click_rate)
        ]
        if not reports:
            return []
        views = np.array([report.fit.tally.counted for report in reports])
        # conservative for any correlation between the placements
        rate = Rate(*(views @ np.array([report.best.rate for report in reports]) / views.sum()).tolist())
        observed = float(views @ [report.fit.click_rate for report in reports] / views.sum())
        among = (
            ""
            if len(reports) == len(self.placements)
            else f", in the {len(reports):,} placements with a recommendation"
        )
        partial = any(report.best.slots_in_words() for report in reports)
        as_filled = " Both are for impressions that fill as many slots as those of the log do." if partial else ""
        return [
            f"Which click rate to expect? A click in {percent(rate.click_rate)} of impressions ({percent(rate.low)} to "
            f"{percent(rate.high)} if all lists are off together) where {percent(observed)} have one now{among}."
            f"{as_filled}"
        ]


def _places_in_words(fits: Sequence[Fit]) -> str:
    """Return the position bias of slots: the median over placements with a precise estimate."""
    slots = max(fit.slots for fit in fits)
    if slots == 1:
        return "How much is each slot worth? There is only one slot."
    shares, differ = [], False
    for slot in range(1, slots):
        worth = [float(fit.estimate.position_bias[slot]) for fit in fits if _knows(fit, slot)]
        if worth:
            shares.append(f"{percent(float(np.median(worth)))} in slot {slot + 1}")
            differ |= max(worth) > min(worth)
    if not shares:
        return "How much is each slot worth? This log hardly determines the position bias."
    note = "; slots.csv of the report has them all" if len(shares) > TOLD else ""
    among = ", in the middle of the placements" if differ else ""
    return (
        f"How much is each slot worth? Of the clicks that an item gets in slot 1, the same item gets "
        f"{and_more(shares[:TOLD], min(TOLD, len(shares)))}{among}{note}."
    )


def _knows(fit: Fit, slot: int) -> bool:
    """Whether a placement has a precise estimate of a slot's position bias."""
    if slot >= fit.slots:
        return False
    limits = fit.intervals.position_bias
    return bool(0.0 < limits.high[slot] <= VAGUE * limits.low[slot])


def row_of(report: PlacementReport) -> tuple[str, str, str, str]:
    """Return placement, impressions, click rate, and the expected click rate of its best list."""
    fit = report.fit
    rate = percent(fit.click_rate)
    expected = "" if fit.withheld else with_interval(report.best.rate)
    return str(fit.placement), f"{fit.impressions:,}", rate, expected


def begins_with(report: PlacementReport) -> list[str]:
    """How a placement's list begins, place by place."""
    if report.fit.withheld:
        return ["none"]
    places = [f"{slot}. {item}" for slot, item in enumerate(report.best.items, start=1) if item is not None]
    return ([] if report.slots_comparable else [GUESS]) + places[:BEGINS]
