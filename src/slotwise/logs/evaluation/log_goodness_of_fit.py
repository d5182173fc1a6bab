"""Goodness of fit of a log: clicks by slot, and by slot and item, against those that the fitted model expects.

Tests for departures from the model look at whole lists as well, and at the order of the impressions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from slotwise.core.rankings import Rankings
from slotwise.core.result_tables import plain
from slotwise.core.types import EMPTY, FloatArray, IntArray
from slotwise.estimators.departures import MAX_BOTS, DepartureTest, find_changed_tastes, find_departures
from slotwise.estimators.diagnostics import CLOSE, GoodnessOfFit, Verdict, goodness_of_fit
from slotwise.estimators.likelihoods.list_likelihood import expected, maximise_likelihood
from slotwise.logs.counting.impressions import Impressions
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.number_format import and_more, count_of, percent

#: pairs that a report lists
WORST = 5
#: placements that are tested together, the largest ones, and the number of their items
MAX_TOGETHER, MAX_ITEMS_TOGETHER = 2_000, 100_000
#: a departure that shows only if it is larger than this is not said to show: a share of bots, factors between tastes
LARGEST = {"bots": MAX_BOTS, "top to bottom": 1.0, "mixed visitors": 10.0, "changed tastes": 10.0}

#: each departure: what it looks like, and what it means for the numbers
FOUND = {
    "bots": (
        "some clicks fall on all slots alike, as those of bots do. Slots and items therefore look more alike than they "
        "are to visitors, and intervals do not cover the visitors' values. Remove such impressions from the log."
    ),
    "top to bottom": (
        "clicks on an item depend on the items below it, as if people read from top to bottom until they click. Do "
        "not rely on the position bias, nor on click rates of lists unlike those shown."
    ),
    "mixed visitors": (
        "clicks on an item depend on which other items are on the list, as if several kinds of visitors have different "
        "tastes. The numbers are averages over all of them, and click rates of other lists are off. Name a column "
        "that tells visitors apart, with --segment."
    ),
    "changed tastes": (
        "the attractiveness of items changed from the first to the last impressions, in the order of their ids. The "
        "numbers are averages over the log, and not those of its end. Name the time of an impression, with --time."
    ),
}


class SlotItemPair(NamedTuple):
    """A slot from 1, an item, its clicks and the expected ones."""

    slot: int
    item: str
    clicks: int
    expected: float


@dataclass(frozen=True, eq=False)
class LogGoodnessOfFit:
    """Observed clicks and fitted ones."""

    #: per slot: impressions that filled it, clicks over these, the standard error of that, and what the model expects
    filled: IntArray
    observed: FloatArray
    standard_error: FloatArray
    fitted: FloatArray
    #: the share of impressions without a click
    no_click: float
    fitted_no_click: float
    #: clicks and expected clicks of the pairs that were tested, with their slots
    clicks: FloatArray
    expected: FloatArray
    slots: IntArray
    #: the chi-square test over these pairs
    test: GoodnessOfFit
    #: the tests for departures from the model
    departures: tuple[DepartureTest, ...]
    #: the pairs that are furthest off
    worst: tuple[SlotItemPair, ...]

    @property
    def is_testable(self) -> bool:
        """True if there are more pairs than parameters."""
        return self.test.verdict != "untestable"

    @property
    def cause(self) -> DepartureTest | None:
        """The clearest departure from the model; None if there is none."""
        found = [test for test in self.departures if test.is_found]
        return min(found, key=lambda test: test.p_value) if found else None

    @property
    def verdict(self) -> Verdict:
        """How well the model fits; "untestable" too if the log is too small to show a departure that matters."""
        if self.cause is not None:
            return "poor"
        if self.test.verdict == "exact" and not all(test.is_conclusive for test in self.departures):
            return "untestable"
        return self.test.verdict

    def in_words(self) -> str:
        """A sentence or two for someone who does not know what a chi-square is."""
        if self.cause is not None:
            return f"No: {FOUND[self.cause.departure]}"
        if not self.is_testable:
            return "Undecided: hardly any item has enough clicks in more than one slot to compare."
        off = (
            f"Beyond chance, the clicks of a pair of slot and item are off by typically {100 * self.test.excess:.0f} %."
        )
        verdict = self.verdict
        if verdict == "untestable":
            missed = [test for test in self.departures if not test.is_conclusive]
            return f"Undecided: this log has too few clicks to show {_listed(missed)}."
        if verdict == "exact":
            return (
                f"Yes: over {count_of(len(self.clicks), 'pair')} of slot and item the clicks differ from the fitted "
                f"ones by no more than chance. {self._power_in_words()}"
            )
        if verdict == "close":
            return f"Closely, but not exactly. {off} The numbers below can be used."
        if verdict == "rough":
            return f"Roughly. {off} Take the numbers below as a first approximation: the intervals are too narrow."
        return (
            f"Not well. {off} Some items gain or lose more in some slots than the model allows; the order of slots and "
            "items may hold, but do not rely on the sizes, nor on the intervals."
        )

    def _power_in_words(self) -> str:
        """Return the departures that the log would have shown."""
        shown = [test for test in self.departures if _shows(test)]
        others = [test for test in self.departures if not _shows(test)]
        words = f"It would probably have shown {_listed(shown)}." if shown else ""
        # only these are conclusive without being shown
        small = f"which would change clicks by less than {100 * CLOSE:.0f} %"
        return f"{words} It cannot show {_listed(others)}, {small}.".strip() if others else words

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers; None for a test that could not be made."""
        p_values = {"pairs": self.test.p_value} | {test.departure: test.p_value for test in self.departures}
        return {
            "verdict": self.verdict,
            "cause": None if self.cause is None else self.cause.departure,
            "words": self.in_words(),
            "p_values": dict(zip(p_values, plain(np.array(list(p_values.values()))), strict=True)),
        }


def _shows(test: DepartureTest) -> bool:
    return test.smallest <= LARGEST[test.departure]


def _listed(tests: Sequence[DepartureTest]) -> str:
    """Departures in words, with the size from which on the log shows them."""
    words = []
    for test in tests:
        if test.departure == "bots":
            words.append(f"bots in {percent(test.smallest)} of the impressions" if _shows(test) else "bots")
        elif test.departure == "top to bottom":
            words.append("reading from top to bottom")
        else:
            what = "kinds of visitors" if test.departure == "mixed visitors" else "tastes in the course of the log"
            words.append(f"{what} that differ {test.smallest:.2f}-fold" if _shows(test) else f"different {what}")
    return and_more(words, len(words))


def goodness(fits: Fit | Sequence[Fit]) -> LogGoodnessOfFit | None:
    """Compare fits with their own impressions.

    Parameters
    ----------
    fits
        A fit, or several of one log, which are tested together.

    Returns
    -------
    LogGoodnessOfFit or None
        None if whole lists were not kept, if too much of the log is left out, or if the fit is for the end of the log
        only.
    """
    every = [fits] if isinstance(fits, Fit) else sorted(fits, key=lambda fit: -fit.impressions)[:MAX_TOGETHER]
    tested = [fit for fit in every if not _why_not(fit)]
    if not tested:
        return None
    tested, first_items = _first_ones(tested)
    rankings, odds = _together(tested, first_items)
    likeliest = maximise_likelihood(rankings, odds, first_items)
    there = expected(rankings, likeliest)
    seen = rankings.clicks_by_pair
    filled = rankings.showings.sum(axis=1)
    at_least = np.maximum(filled, 1)
    observed = seen.sum(axis=1) / at_least
    test = goodness_of_fit(seen, there.clicks, there.variance, first_items)
    slot, item = np.nonzero(test.tested)
    clicks, means = seen[test.tested], there.clicks[test.tested]
    ids = [id for fit in tested for id in fit.item_ids]
    furthest = np.argsort(-test.terms, kind="stable")[:WORST]
    return LogGoodnessOfFit(
        filled=filled,
        observed=observed,
        standard_error=np.sqrt(observed * (1.0 - observed) / at_least),
        fitted=there.clicks.sum(axis=1) / at_least,
        no_click=float(rankings.passes.sum() / rankings.rounds),
        fitted_no_click=float(1.0 - there.clicks.sum() / rankings.rounds),
        clicks=clicks.astype(np.float64),
        expected=means,
        slots=slot.astype(np.int64),
        test=test,
        departures=(*find_departures(rankings, odds, likeliest), *_changed_tastes(tested, first_items, odds)),
        worst=tuple(
            SlotItemPair(int(slot[i]) + 1, ids[item[i]], int(clicks[i]), float(means[i])) for i in furthest.tolist()
        ),
    )


def _why_not(fit: Fit) -> str:
    """Why a fit is not compared with its impressions; empty if it is."""
    if fit.withheld:
        return fit.withheld
    if fit.changes is not None and fit.changes.half_life is not None:
        return "tastes changed, so no single set of numbers fits the whole log. These are for its end"
    return "whole lists were not kept" if fit.rankings is None or fit.rankings.rounds == 0 else ""


def verdict_in_words(found: LogGoodnessOfFit | None, fits: Sequence[Fit]) -> str:
    """Return whether the model fits, or why that is undecided, in a sentence or two."""
    return f"Undecided: {_why_not(fits[0])}." if found is None else found.in_words()


def verdict_to_dict(fits: Sequence[Fit]) -> dict[str, Any]:
    """Return whether the model fits as plain text and numbers."""
    found = goodness(fits)
    if found is not None:
        return found.to_dict()
    return {"verdict": "untestable", "cause": None, "words": verdict_in_words(None, fits), "p_values": {}}


def _first_ones(fits: list[Fit]) -> tuple[list[Fit], list[int]]:
    """The fits that are tested together, and the number of the first item of each."""
    ends = np.cumsum([len(fit.item_ids) for fit in fits])
    used = max(1, int((ends <= MAX_ITEMS_TOGETHER).sum()))
    return fits[:used], [0, *ends[: used - 1].tolist()]


def _together(fits: Sequence[Fit], first_items: Sequence[int]) -> tuple[Rankings, FloatArray]:
    """The lists of all fits, with items of their own, and their odds."""
    lists = [fit.rankings for fit in fits if fit.rankings is not None]
    if len(fits) == 1:
        return lists[0], fits[0].odds
    places = [first + np.arange(len(fit.item_ids)) for fit, first in zip(fits, first_items, strict=True)]
    odds = np.zeros((max(part.slots for part in lists), int(places[-1][-1]) + 1))
    for fit, place in zip(fits, places, strict=True):
        odds[: fit.slots, place] = fit.odds
    return Rankings.weighted_sum(lists, places, [1] * len(lists), odds.shape[1]), odds


def _changed_tastes(fits: Sequence[Fit], first_items: Sequence[int], odds: FloatArray) -> list[DepartureTest]:
    """The test for changed tastes, if the impressions were kept."""
    parts = [
        _in_order(fit.sample, first, len(odds))
        for fit, first in zip(fits, first_items, strict=True)
        if fit.sample is not None
    ]
    if not parts:
        return []
    quarter, shown, clicked, weight = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return [find_changed_tastes(quarter, shown, clicked, weight, odds)]


def _in_order(sample: Impressions, first: int, slots: int) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Quarter, list, clicked slot and weight of the impressions with an order; items are numbered from `first` on."""
    quarters = sample.quarters
    shown = sample.shown[: len(quarters)]
    wide = np.full((len(quarters), slots), EMPTY)
    wide[:, : shown.shape[1]] = np.where(shown == EMPTY, EMPTY, shown + first)
    weight = np.ones(len(quarters)) if sample.weight is None else sample.weight[: len(quarters)].astype(np.float64)
    return quarters, wide, sample.clicked[: len(quarters)], weight
