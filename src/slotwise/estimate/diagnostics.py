"""Diagnostics of a fitted model: does it fit the clicks?

The estimators make the clicks of every slot and of every item nearly those that were observed. The assumption that can
fail is that a slot multiplies the attractiveness of every item by the same factor. A violation shows in the pairs of
slot and item.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from slotwise.typing import BoolArray, FloatArray, IntArray

#: pairs with fewer expected clicks are not tested
MIN_EXPECTED_CLICKS = 5.0
MIN_DEGREES = 1.0
#: significance level of the test: a service repeats it whenever somebody opens a dashboard
MISFIT_LEVEL = 0.001
#: typical relative deviation of a pair's clicks beyond chance: the fit is close below the first, rough below the second
CLOSE, ROUGH = 0.1, 0.25

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
    clicks: FloatArray | IntArray, expected: FloatArray, variance: FloatArray, *, fitted_share: float = 1.0
) -> GoodnessOfFit:
    """Test observed clicks against those that a fitted model expects.

    The degrees of freedom subtract of each parameter the share of its expected clicks that the tested pairs hold: a
    parameter that was mostly fitted to untested pairs is hardly fitted to the tested ones. The level is 0.001, and not
    0.01: a misfit of a size that matters has a far smaller p-value, and repeated tests raise fewer false alarms.

    Parameters
    ----------
    clicks, expected, variance
        Slots × items: observed clicks, and their mean and variance under the model.
    fitted_share
        The share of the data behind the estimates that these clicks are.

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
    degrees = pairs - fitted_share * _fitted_parameters(expected, tested)
    # if clicks vary by a share τ beyond chance, a term has the mean 1 + τ²E²/V, less the part that the fit absorbed
    beyond = max(0.0, chi_square * pairs / max(1.0, degrees) - pairs)
    return GoodnessOfFit(
        tested=tested,
        terms=terms,
        degrees=degrees,
        p_value=float(chdtrc(degrees, chi_square)) if degrees >= MIN_DEGREES else float("nan"),
        excess=float(np.sqrt(beyond / max(1e-300, float((means**2 / variances).sum())))),
    )


def _fitted_parameters(expected: FloatArray, tested: BoolArray) -> float:
    """The parameters of items and slots, less one for their common scale, each by the share that tested pairs hold."""
    inside = np.where(tested, expected, 0.0)
    shares = (inside.sum(axis=axis) / np.maximum(expected.sum(axis=axis), 1e-300) for axis in (0, 1))
    return float(sum(share.sum() for share in shares) - inside.sum() / max(float(expected.sum()), 1e-300))
