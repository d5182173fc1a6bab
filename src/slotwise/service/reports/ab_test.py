"""An A/B test of two arms: the difference and the ratio of their means per view, with confidence intervals.

Every view is put into one of the arms at random. The share of each arm may change, for example because an owner makes
the holdout smaller before the holidays; all views together then compare one arm's December with the other's November.
So views are compared within strata of constant shares, and the differences are averaged with the numbers of views as
weights. Strata of one segment and a short time also remove the variance that segment and time explain: that is the
regression adjustment for categorical covariates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, NamedTuple

LEVEL: Final = 0.95
#: minimum sample size of an arm for the normal approximation: clicks, views without a click, and values by their
#: effective sample size
MIN_CLICKS: Final = 10
MIN_VALUES: Final = 30
#: the time T (see `compare`) at which the anytime-valid interval is narrowest: 10,000 views, a tenth in the holdout
NARROWEST_AT: Final = 10_000.0 / (4 * 0.1 * 0.9)
#: expected views of a stratum's smaller arm: chance in the size of that arm widens intervals by at most 1/(2·50) = 1 %
MIN_STRATUM: Final = 50


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums over the views of one arm.

    >>> Sums.of_clicks(views=50, clicks=5) + Sums(views=10, total=3.0, squares=5.0)
    Sums(views=60, total=8.0, squares=10.0)
    """

    views: int = 0
    #: the sum of their values, and of the squares of these
    total: float = 0.0
    squares: float = 0.0

    @classmethod
    def of_clicks(cls, views: int, clicks: int) -> Sums:
        """Sums in which a click has the value 1."""
        return cls(views, float(clicks), float(clicks))

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.views + other.views, self.total + other.total, self.squares + other.squares)

    @property
    def mean(self) -> float:
        """The mean value of a view; 0 without views."""
        return self.total / self.views if self.views else 0.0

    @property
    def effective_size(self) -> float:
        """The effective sample size (Σ value)²/Σ value², which is the number of clicks if clicks have the value 1.

        >>> Sums.of_clicks(views=50, clicks=5).effective_size
        5.0
        >>> round(Sums(views=50, total=104.0, squares=1e4 + 4).effective_size, 2)
        1.08
        """
        return self.total**2 / self.squares if self.squares else 0.0

    @property
    def variance(self) -> float:
        """The sample variance of a view's value; needs two views."""
        return max(0.0, self.squares - self.total * self.mean) / (self.views - 1)


@dataclass(frozen=True, slots=True)
class HoldoutStratum:
    """Views of both arms at a time of constant shares."""

    learned: Sums = Sums()
    holdout: Sums = Sums()

    def __add__(self, other: HoldoutStratum) -> HoldoutStratum:
        return HoldoutStratum(self.learned + other.learned, self.holdout + other.holdout)

    @property
    def views(self) -> int:
        """The number of views of both arms."""
        return self.learned.views + self.holdout.views

    @property
    def can_be_compared(self) -> bool:
        """Whether each arm has a mean and a variance."""
        return self.learned.views > 1 and self.holdout.views > 1


class Interval(NamedTuple):
    """From `low` to `high`, which may be infinite."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ComparedNumber:
    """An estimate with two confidence intervals."""

    estimate: float
    #: fixed-horizon interval
    plain: Interval
    #: anytime-valid interval: a confidence sequence
    anytime: Interval


@dataclass(frozen=True, slots=True)
class ArmComparison:
    """The learned arm compared with the holdout; means are averages over the strata with the same weights."""

    learned: float
    holdout: float
    #: the number of views in strata that can be compared
    views: int
    #: learned - holdout, and learned / holdout; None if it is too early
    difference: ComparedNumber | None
    ratio: ComparedNumber | None
    #: the reason if it is too early
    too_early: str | None = None


def merge_small(groups: Iterable[Sequence[HoldoutStratum]]) -> list[HoldoutStratum]:
    """Merge neighbours until the smaller arm of each stratum expects `MIN_STRATUM` views, at the share of all.

    Neighbours of one group are merged first, and a group that is small as a whole with the next one. The views of both
    arms together decide: merging until chance has put enough views into the holdout would be a selection by chance.

    >>> hour = HoldoutStratum(Sums.of_clicks(90, 9), Sums.of_clicks(30, 3))
    >>> [stratum.views for stratum in merge_small([[hour] * 5, [hour] * 2, [hour], [hour]])]
    [240, 360, 240, 240]
    """
    groups = [[*group] for group in groups]
    total = sum((stratum for group in groups for stratum in group), HoldoutStratum())
    enough = MIN_STRATUM * total.views / max(1, min(total.learned.views, total.holdout.views))
    return _merged([stratum for group in groups for stratum in _merged(group, enough)], enough)


def _merged(strata: Iterable[HoldoutStratum], enough: float) -> list[HoldoutStratum]:
    merged: list[HoldoutStratum] = []
    for stratum in strata:
        if merged and merged[-1].views < enough:
            merged[-1] += stratum
        else:
            merged.append(stratum)
    if len(merged) > 1 and merged[-1].views < enough:
        merged[-2:] = [merged[-2] + merged[-1]]
    return merged


def compare(strata: Iterable[HoldoutStratum], *, min_size: int = MIN_VALUES, both_ways: bool = False) -> ArmComparison:
    """The difference and the ratio of the means per view, each with a fixed-horizon and an anytime-valid interval.

    Parameters
    ----------
    strata
        Views of both arms, by time of constant shares, and by segment and time as far as these are to be adjusted for.
    min_size
        The minimum of `Sums.effective_size` in each arm.
    both_ways
        For clicks: whether as many views without a click are needed as well.

    Notes
    -----
    Let stratum s have n_s views, n_1s and n_0s of them in the arms, with means m and variances v. The difference
    is Σ n_s(m_1s - m_0s)/Σ n_s, and its standard error σ the root of Σ n_s²(v_1s/n_1s + v_0s/n_0s)/(Σ n_s)².

    The fixed-horizon interval is ± 1.96σ. It covers the true value with a probability of 95 % at one moment that is
    chosen beforehand. An owner who reads it every day and stops when it excludes zero is eventually wrong more often
    than not.

    The anytime-valid interval is ± cσ with c² = (1 + 1/ρ²T)(log(1 + ρ²T) + 2 log(1/0.05)), where
    T = Σ n_s²(1/n_1s + 1/n_0s)/4 counts views, more if the arms are unequal. It is the asymptotic confidence
    sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Time-uniform central limit theory and asymptotic
    confidence sequences (2021), whose boundary is Robbins's mixture of normal distributions. With a probability of 95 %
    *all* intervals from the first on cover the truth at their time: the effect averaged over the views until
    then, which may change as the learned arm learns and as visitors change. It rests on the central limit theorem, so
    the 95 % are exact in the limit of a late first look: hence `min_size`. c is about 3 for ten thousands of views and
    3.6 for a million.

    The truth is averaged over the views as they came, with their segments and hours, so σ holds only the variance
    within strata. Regression-adjusted sequences are those of Molitor and Gold, Anytime-Valid Inference in Adaptive
    Experiments: Covariate Adjustment and Balanced Power (2025). If strata explain half of the variance, ± cσ is at most
    1.3 times the fixed-horizon interval without adjustment, up to a million views.

    The interval of the ratio holds every r for which 0 is in the interval of m_1 - r·m_0 (Fieller's construction), so
    that it is as valid as the other; it has no upper bound if the holdout's mean may be 0.

    >>> views = HoldoutStratum(Sums.of_clicks(20_000, 2_300), Sums.of_clicks(5_000, 500))
    >>> comparison = compare([views], min_size=MIN_CLICKS)
    >>> comparison.difference.estimate, [round(end, 4) for end in comparison.difference.plain]
    (0.015, [0.0056, 0.0244])
    >>> [round(end, 4) for end in comparison.difference.anytime], [round(end, 2) for end in comparison.ratio.plain]
    ([0.0004, 0.0296], [1.05, 1.26])
    """
    compared = [stratum for stratum in strata if stratum.can_be_compared]
    views = sum(stratum.views for stratum in compared)
    learned = _pooled([(stratum.views, stratum.learned) for stratum in compared])
    holdout = _pooled([(stratum.views, stratum.holdout) for stratum in compared])
    if why := _too_early(compared, min_size, both_ways=both_ways):
        return ArmComparison(learned.mean, holdout.mean, views, None, None, why)
    time = sum(stratum.views**2 * (1 / stratum.learned.views + 1 / stratum.holdout.views) / 4 for stratum in compared)
    widths = NormalDist().inv_cdf(0.5 + LEVEL / 2), _anytime_half_width(time)
    difference = learned.mean - holdout.mean
    error = math.sqrt(learned.squared_error + holdout.squared_error)
    plain, anytime = (Interval(difference - width * error, difference + width * error) for width in widths)
    ratio_plain, ratio_anytime = (_ratio(learned, holdout, width) for width in widths)
    return ArmComparison(
        learned.mean,
        holdout.mean,
        views,
        ComparedNumber(difference, plain, anytime),
        ComparedNumber(learned.mean / holdout.mean, ratio_plain, ratio_anytime),
    )


class _Mean(NamedTuple):
    """A mean over strata, and its squared standard error."""

    mean: float
    squared_error: float


def _pooled(strata: list[tuple[int, Sums]]) -> _Mean:
    total = sum(views for views, _ in strata)
    return _Mean(
        sum(views / total * sums.mean for views, sums in strata),
        sum((views / total) ** 2 * sums.variance / sums.views for views, sums in strata),
    )


def _too_early(strata: list[HoldoutStratum], min_size: int, *, both_ways: bool) -> str | None:
    if not strata:
        return "there is no period in which both arms have two views"
    arms = {
        "learned": sum((stratum.learned for stratum in strata), Sums()),
        "holdout": sum((stratum.holdout for stratum in strata), Sums()),
    }
    for arm, sums in arms.items():
        without = sums.views - round(sums.effective_size)
        if both_ways and sums.effective_size < min_size:
            return f"the {arm} arm has {round(sums.effective_size)} views with a click, and {min_size} are needed"
        if both_ways and without < min_size:
            return f"the {arm} arm has {without} views without a click, and {min_size} are needed"
        if sums.effective_size < min_size:
            return (
                f"the {arm} arm has an effective sample size of {sums.effective_size:.1f} values, "
                f"and {min_size} is the minimum"
            )
        if sums.variance == 0.0:
            return f"every view of the {arm} arm has the same value"
    return None


def _anytime_half_width(time: float) -> float:
    """The half-width of the interval in standard errors."""
    twice = -2.0 * math.log(1.0 - LEVEL)
    # ρ²T, with the ρ that makes the interval narrowest at that time
    narrowest = (twice + math.log(twice) + 1.0) / NARROWEST_AT * time
    return math.sqrt((1.0 + 1.0 / narrowest) * (math.log1p(narrowest) + twice))


def _ratio(learned: _Mean, holdout: _Mean, width: float) -> Interval:
    """The r ≥ 0 with (m_1 - r·m_0)² ≤ width²(σ_1² + r²σ_0²)."""
    square = holdout.mean**2 - width**2 * holdout.squared_error
    constant = learned.mean**2 - width**2 * learned.squared_error
    middle = learned.mean * holdout.mean
    root = math.sqrt(max(0.0, middle**2 - square * constant))
    # the form of the root that does not subtract nearly equal numbers
    low = constant / (middle + root) if constant > 0.0 else 0.0
    return Interval(low, (middle + root) / square if square > 0.0 else math.inf)
