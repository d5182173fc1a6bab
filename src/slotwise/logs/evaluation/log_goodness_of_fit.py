"""Goodness of fit of a log: clicks by slot, and by slot and item, against those that the fitted model expects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from slotwise.core.types import FloatArray, IntArray
from slotwise.estimators.diagnostics import GoodnessOfFit, goodness_of_fit
from slotwise.estimators.likelihoods.list_likelihood import expected
from slotwise.logs.fitting.fit_result import Fit

#: pairs that a report lists
WORST = 5


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
    #: the pairs that are furthest off
    worst: tuple[SlotItemPair, ...]

    @property
    def is_testable(self) -> bool:
        """True if there are more pairs than parameters."""
        return self.test.verdict != "untestable"

    def in_words(self) -> str:
        """A sentence or two for someone who does not know what a chi-square is."""
        verdict = self.test.verdict
        if verdict == "untestable":
            return "Undecided: hardly any item has enough clicks in more than one slot to compare."
        if verdict == "exact":
            return (
                f"Yes: over {len(self.clicks):,} pairs of slot and item the clicks differ from the fitted ones by no "
                "more than chance."
            )
        off = (
            f"Beyond chance, the clicks of a pair of slot and item are off by typically {100 * self.test.excess:.0f} %."
        )
        if verdict == "close":
            return f"Closely, but not exactly. {off} The numbers below can be used."
        if verdict == "rough":
            return f"Roughly. {off} Take the numbers below as a first approximation: the intervals are too narrow."
        return (
            f"Not well. {off} Some items gain or lose more in some slots than the model allows; the order of slots and "
            "items may hold, but do not rely on the sizes, nor on the intervals."
        )


def goodness(fit: Fit) -> LogGoodnessOfFit | None:
    """Compare a fit with its own impressions; None if their whole lists were not kept."""
    if fit.rankings is None or fit.rankings.rounds == 0:
        return None
    there = expected(fit.rankings, fit.odds)
    seen = fit.rankings.tally.clicks
    filled = fit.rankings.showings.sum(axis=1)
    at_least = np.maximum(filled, 1)
    observed = seen.sum(axis=1) / at_least
    # parameters of the whole log are fitted to a sample by the share that it is of the log
    share = min(1.0, fit.rankings.rounds / max(1, fit.tally.counted))
    test = goodness_of_fit(seen, there.clicks, there.variance, fitted_share=share)
    slot, item = np.nonzero(test.tested)
    clicks, means = seen[test.tested], there.clicks[test.tested]
    furthest = np.argsort(-test.terms, kind="stable")[:WORST]
    return LogGoodnessOfFit(
        filled=filled,
        observed=observed,
        standard_error=np.sqrt(observed * (1.0 - observed) / at_least),
        fitted=there.clicks.sum(axis=1) / at_least,
        no_click=float(fit.rankings.passes.sum() / fit.rankings.rounds),
        fitted_no_click=float(1.0 - there.clicks.sum() / fit.rankings.rounds),
        clicks=clicks.astype(np.float64),
        expected=means,
        slots=slot.astype(np.int64),
        test=test,
        worst=tuple(
            SlotItemPair(int(slot[i]) + 1, fit.item_ids[item[i]], int(clicks[i]), float(means[i]))
            for i in furthest.tolist()
        ),
    )
