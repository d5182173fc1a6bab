"""Does the model fit? Clicks by slot, and by slot and item, against what the fitted model expects of the same lists.

The estimators make the clicks of every slot and of every item nearly what was observed. What can fail is that a slot
multiplies the attractiveness of every item by the same factor: that shows in the pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

from slotwise.estimate.odds import expected
from slotwise.logs.fitting.fit import Fit
from slotwise.typing import BoolArray, FloatArray, IntArray

#: pairs with fewer expected clicks are not tested
FEWEST_EXPECTED = 5.0
FEWEST_DEGREES = 1.0
#: below this p-value, chance is no explanation
CHANCE = 0.01
#: how far off the clicks of a pair typically are, beyond chance: below the first is close, below the second rough
CLOSE, ROUGH = 0.1, 0.25
WORST = 5


class Pair(NamedTuple):
    """A slot from 1, an item, its clicks and the expected ones."""

    slot: int
    item: str
    clicks: int
    expected: float


@dataclass(frozen=True, eq=False)
class Goodness:
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
    chi_square: float
    degrees: float
    p_value: float
    #: by what share the clicks of a pair typically miss the expected ones, beyond chance
    excess: float
    #: the pairs that are furthest off
    worst: tuple[Pair, ...]

    @property
    def testable(self) -> bool:
        """Whether there are more pairs than parameters, so that the model could fail to fit."""
        return self.degrees >= FEWEST_DEGREES

    def in_words(self) -> str:
        """A sentence or two for someone who does not know what a chi-square is."""
        if not self.testable:
            return (
                "Nothing in this log can tell whether the model fits: hardly any item has enough clicks in more than "
                "one slot to compare."
            )
        if self.p_value > CHANCE:
            return (
                f"Yes: over {len(self.clicks):,} pairs of slot and item the clicks differ from the fitted ones by no "
                "more than chance."
            )
        off = f"Beyond chance, the clicks of a pair of slot and item are off by typically {100 * self.excess:.0f} %."
        if self.excess < CLOSE:
            return f"Closely, but not exactly. {off} The numbers below can be used."
        if self.excess < ROUGH:
            return f"Roughly. {off} Take the numbers below as a first approximation: the intervals are too narrow."
        return (
            f"Not well. {off} Some items gain or lose more in some slots than the model allows; the order of slots and "
            "items may hold, but do not rely on the sizes, nor on the intervals."
        )


def goodness(fit: Fit) -> Goodness | None:
    """Compare a fit with its own impressions; None if their whole lists were not kept."""
    if fit.rankings is None or fit.rankings.rounds == 0:
        return None
    there = expected(fit.rankings, fit.odds)
    seen = fit.rankings.tally.clicks
    filled = fit.rankings.showings.sum(axis=1)
    at_least = np.maximum(filled, 1)
    observed = seen.sum(axis=1) / at_least
    tested = (there.clicks >= FEWEST_EXPECTED) & (there.variance > 0)
    slot, item = np.nonzero(tested)
    clicks, means, variance = seen[tested], there.clicks[tested], there.variance[tested]
    terms = (clicks - means) ** 2 / variance
    # parameters of the whole log take up of a sample what it has of the log
    part = min(1.0, fit.rankings.rounds / max(1, fit.counted_impressions))
    degrees = len(clicks) - part * _taken_up(there.clicks, tested)
    chi_square = float(terms.sum())
    # if clicks vary by a share τ beyond chance, a term is 1 + τ²E²/V on average, less what the fit has taken up
    beyond = max(0.0, chi_square * len(clicks) / max(1.0, degrees) - len(clicks))
    excess = np.sqrt(beyond / max(1e-300, float((means**2 / variance).sum())))
    furthest = np.argsort(-terms, kind="stable")[:WORST]
    return Goodness(
        filled=filled,
        observed=observed,
        standard_error=np.sqrt(observed * (1.0 - observed) / at_least),
        fitted=there.clicks.sum(axis=1) / at_least,
        no_click=float(fit.rankings.passes.sum() / fit.rankings.rounds),
        fitted_no_click=float(1.0 - there.clicks.sum() / fit.rankings.rounds),
        clicks=clicks.astype(np.float64),
        expected=means,
        slots=slot.astype(np.int64),
        chi_square=chi_square,
        degrees=degrees,
        p_value=float(chdtrc(degrees, chi_square)) if degrees >= FEWEST_DEGREES else float("nan"),
        excess=float(excess),
        worst=tuple(
            Pair(int(slot[i]) + 1, fit.item_ids[item[i]], int(clicks[i]), float(means[i])) for i in furthest.tolist()
        ),
    )


def _taken_up(means: FloatArray, tested: BoolArray) -> float:
    """The degrees of freedom that the fit took up: of each item, slot and scale, the share that these pairs hold."""
    inside = np.where(tested, means, 0.0)
    shares = (inside.sum(axis=axis) / np.maximum(means.sum(axis=axis), 1e-300) for axis in (0, 1))
    return float(sum(share.sum() for share in shares) - inside.sum() / max(float(means.sum()), 1e-300))
