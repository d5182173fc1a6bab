"""Diagnostics of a fitted model: does it fit the clicks, and has an item's attractiveness changed over time?

Goodness of fit: the estimators make the clicks of every slot and of every item nearly those that were observed. The
assumption that can fail is that a slot multiplies the attractiveness of every item by the same factor. A violation
shows in the pairs of slot and item. `slotwise.posterior.pair_effects` tests the same while counts come in.

Drift: clicks N and exposure E = Σ_k λ_k·passes_k of an item follow N ≈ αE for any lists, so a change of
lists, of traffic or of other items is no change of α.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np

from slotwise.core.types import BoolArray, FloatArray, IntArray

#: pairs with fewer expected clicks are not tested
MIN_EXPECTED_CLICKS = 5.0
MIN_DEGREES = 1.0
#: significance level of the test: a service repeats it whenever somebody opens a dashboard
MISFIT_LEVEL = 0.001
#: typical relative deviation of a pair's clicks beyond chance: the fit is close below the first, rough below the second
CLOSE, ROUGH = 0.1, 0.25

#: the probability that the drift test reports a change though there is none, over all items and times together
DRIFT_LEVEL = 0.001
#: expected clicks on either side of a split, for an item to be compared
MIN_CLICKS_PER_SIDE = 10.0
#: a smaller ratio of attractiveness before and after is not reported
MIN_CHANGE = 1.2

Verdict = Literal["untestable", "exact", "close", "rough", "poor"]


class GoodnessOfFit(NamedTuple):
    """A chi-square test over pairs of slot and item."""

    #: slots × items: the pairs that the test compares
    tested: BoolArray
    #: per tested pair: its squared deviation over its variance
    terms: FloatArray
    degrees: float
    #: NaN if there are no more pairs than parameters
    p_value: float
    #: typical relative deviation of a pair's clicks from the expected ones, beyond chance
    excess: float

    @property
    def chi_square(self) -> float:
        """The test statistic, Σ (N - E)²/V."""
        return float(self.terms.sum())

    @property
    def pairs(self) -> int:
        """The number of tested pairs."""
        return len(self.terms)

    @property
    def verdict(self) -> Verdict:
        """How well the model fits: by the p-value, and by the size of the misfit if chance does not explain it."""
        if self.degrees < MIN_DEGREES:
            return "untestable"
        if self.p_value > MISFIT_LEVEL:
            return "exact"
        if self.excess < CLOSE:
            return "close"
        return "rough" if self.excess < ROUGH else "poor"


def goodness_of_fit(
    clicks: FloatArray | IntArray, expected: FloatArray, variance: FloatArray, first_items: Sequence[int] = (0,)
) -> GoodnessOfFit:
    """Test observed clicks against those that a fitted model expects.

    The degrees of freedom subtract of each parameter the share of its expected clicks that the tested pairs hold: a
    parameter that was mostly fitted to untested pairs is hardly fitted to the tested ones. The level is 0.001, and not
    0.01: a misfit of a size that matters has a far smaller p-value, and repeated tests raise fewer false alarms.

    Parameters
    ----------
    clicks, expected, variance
        Slots × items: observed clicks, and their mean and variance under the model.
    first_items
        The first item of each placement, if several are tested together: each has position bias of its own.

    Examples
    --------
    >>> expected = np.outer([100.0, 50.0], [1.0, 2.0, 3.0])
    >>> goodness_of_fit(expected, expected, expected).verdict
    'exact'
    >>> goodness_of_fit(expected * [[1.5, 1, 1], [0.5, 1, 1]], expected, expected).verdict
    'poor'
    """
    # imported here: it takes half a second, and a worker that only decides does not need it
    from scipy.special import chdtrc

    tested = (expected >= MIN_EXPECTED_CLICKS) & (variance > 0.0)
    means, variances = expected[tested], variance[tested]
    terms = (clicks[tested] - means) ** 2 / variances
    pairs, chi_square = len(terms), float(terms.sum())
    degrees = pairs - _fitted_parameters(expected, tested, first_items)
    # if clicks vary by a share τ beyond chance, a term has the mean 1 + τ²E²/V, less the part that the fit absorbed
    beyond = max(0.0, chi_square * pairs / max(1.0, degrees) - pairs)
    return GoodnessOfFit(
        tested=tested,
        terms=terms,
        degrees=degrees,
        p_value=float(chdtrc(degrees, chi_square)) if degrees >= MIN_DEGREES else float("nan"),
        excess=float(np.sqrt(beyond / max(1e-300, float((means**2 / variances).sum())))),
    )


def _fitted_parameters(expected: FloatArray, tested: BoolArray, first_items: Sequence[int]) -> float:
    """The parameters of items and slots, less one for their common scale, each by the share that tested pairs hold."""
    inside = np.where(tested, expected, 0.0)
    by_slot = [np.add.reduceat(counts, first_items, axis=1) for counts in (inside, expected)]
    sums = ([counts.sum(axis=0) for counts in (inside, expected)], by_slot, [counts.sum(axis=0) for counts in by_slot])
    of_items, of_slots, of_scales = (float((part / np.maximum(whole, 1e-300)).sum()) for part, whole in sums)
    return of_items + of_slots - of_scales


class DriftTest(NamedTuple):
    """Every item before and after every split, items × splits."""

    #: the first period after each split
    splits: Sequence[int]
    #: attractiveness before and after; NaN where an item was never passed
    before: FloatArray
    after: FloatArray
    #: signed square roots of the likelihood ratio, standard normal without a change; 0 where there are too few clicks
    scores: FloatArray
    #: where there are enough clicks on both sides
    is_compared: BoolArray
    #: where the change is beyond chance, and large enough to report
    is_change: BoolArray

    @property
    def comparisons(self) -> int:
        """The number of comparisons, for which the level is corrected."""
        return int(self.is_compared.sum())

    def clearest(self) -> list[tuple[int, int]]:
        """Return the changed items, each with its clearest split, as indices; the clearest change first."""
        scores = np.where(self.is_change, np.abs(self.scores), 0.0)
        items = np.flatnonzero(self.is_change.any(axis=1))
        order = items[np.argsort(-scores[items].max(axis=1, initial=0.0), kind="stable")]
        return [(item, int(scores[item].argmax())) for item in order.tolist()]

    def p_value(self, item: int, split: int) -> float:
        """Return the two-sided p-value of one comparison, corrected for all splits of its item."""
        compared = int(self.is_compared[item].sum())
        return min(1.0, 2.0 * compared * NormalDist().cdf(-abs(float(self.scores[item, split]))))


def find_drift(
    clicks: FloatArray, exposure: FloatArray, weighted_rounds: FloatArray, splits: Sequence[int]
) -> DriftTest:
    """Compare the attractiveness of every item before and after every split.

    A likelihood ratio at a change point has more power against a lasting change than a chi-square over all periods, and
    keeps its level with few clicks, where a z-score is skewed. Clicks have the variance α·Σ_k λ_k(clicks_k + passes_k),
    which is more than the αE of Poisson counts; the ratio is divided by that factor. The level is Bonferroni's.

    Parameters
    ----------
    clicks, exposure, weighted_rounds
        Items × periods: N, E = Σ_k λ_k·passes_k and Σ_k λ_k(clicks_k + passes_k).
    splits
        The first periods after a possible change, each 1 or more.

    Examples
    --------
    >>> clicks = np.array([[20.0, 20, 60, 60], [20, 20, 20, 20]])
    >>> drift = find_drift(clicks, np.full((2, 4), 100.0), np.full((2, 4), 100.0) + clicks, [1, 2, 3])
    >>> drift.clearest(), drift.comparisons
    ([(0, 1)], 6)
    """
    # imported here: it takes half a second, and a worker that only decides does not need it
    from scipy.special import xlogy

    (n1, n2), (e1, e2), (w1, w2) = (_sides(counts, splits) for counts in (clicks, exposure, weighted_rounds))
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha, before, after = (n1 + n2) / (e1 + e2), n1 / e1, n2 / e2
        is_compared = (alpha * e1 >= MIN_CLICKS_PER_SIDE) & (alpha * e2 >= MIN_CLICKS_PER_SIDE)
        ratio = 2.0 * (xlogy(n1, before / alpha) + xlogy(n2, after / alpha)) * (e1 + e2) / (w1 + w2)
        scores = np.where(is_compared, np.sign(after - before) * np.sqrt(np.maximum(0.0, ratio)), 0.0)
        is_large = np.maximum(before, after) >= MIN_CHANGE * np.minimum(before, after)
    limit = NormalDist().inv_cdf(1.0 - DRIFT_LEVEL / (2 * max(1, int(is_compared.sum()))))
    return DriftTest(splits, before, after, scores, is_compared, (np.abs(scores) > limit) & is_large)


def _sides(counts: FloatArray, splits: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """The sums before and after every split."""
    sums = counts.cumsum(axis=1)
    first = sums[:, np.array(splits, np.int64) - 1]
    return first, sums[:, -1:] - first
