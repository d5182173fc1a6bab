"""Two arms compared: what a view brought on average in one and in the other, and how sure that is.

Every view was put into one of the arms at random. The share of each arm may have changed meanwhile, for example because
an owner made the holdout smaller when the holidays came; all views together then compare one arm's December with the
other's November. So views are compared within strata, times during which the shares stayed the same, and the
differences are averaged with the strata's views as weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, NamedTuple

LEVEL: Final = 0.95
#: what an arm must have before an average is taken to be about normal: of clicks and of views without one, and of
#: values, of which there are as many as of equal ones that would be as uncertain
MIN_CLICKS: Final = 10
MIN_VALUES: Final = 30
#: of how many views, half of them in either arm, the anytime-valid interval is the narrowest
NARROWEST_AT: Final = 10_000.0


@dataclass(frozen=True, slots=True)
class Sums:
    """What came of the views of one arm.

    >>> Sums.of_clicks(views=50, clicks=5) + Sums(views=10, total=3.0, squares=5.0)
    Sums(views=60, total=8.0, squares=10.0)
    """

    views: int = 0
    #: what they brought, and the sum of its squares
    total: float = 0.0
    squares: float = 0.0

    @classmethod
    def of_clicks(cls, views: int, clicks: int) -> Sums:
        """Where a click is worth 1."""
        return cls(views, float(clicks), float(clicks))

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.views + other.views, self.total + other.total, self.squares + other.squares)

    @property
    def mean(self) -> float:
        """Of a view; 0 where there is none."""
        return self.total / self.views if self.views else 0.0

    @property
    def brought(self) -> float:
        """How many equal values would be as uncertain as these: (Σ value)²/Σ value², the number of clicks for clicks.

        >>> Sums.of_clicks(views=50, clicks=5).brought, round(Sums(views=50, total=104.0, squares=1e4 + 4).brought, 2)
        (5.0, 1.08)
        """
        return self.total**2 / self.squares if self.squares else 0.0

    @property
    def variance(self) -> float:
        """Of a view, from the sample; there must be two."""
        return max(0.0, self.squares - self.total * self.mean) / (self.views - 1)


@dataclass(frozen=True, slots=True)
class HoldoutStratum:
    """Views of both arms, taken while the shares of the arms did not change."""

    learned: Sums
    holdout: Sums

    @property
    def views(self) -> int:
        """Of both arms."""
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
class Compared:
    """One number, and its two intervals."""

    estimate: float
    #: for who looks once, at a time chosen beforehand
    plain: Interval
    #: for who looks as often as they like, and stops when they like
    anytime: Interval


@dataclass(frozen=True, slots=True)
class ArmComparison:
    """The learned arm against the holdout; the means are those of the strata, averaged with the same weights."""

    learned: float
    holdout: float
    #: of both arms, in strata that can be compared
    views: int
    #: learned - holdout, and learned / holdout; None where it is too early to say
    difference: Compared | None
    ratio: Compared | None
    #: why it is too early
    too_early: str | None = None


def compare(strata: Iterable[HoldoutStratum], *, least: int = MIN_VALUES, both_ways: bool = False) -> ArmComparison:
    """The difference and the ratio of what a view brings, with a plain and an anytime-valid interval for each.

    Each arm needs `least` values, counted as `Sums.brought` does; `both_ways`, for clicks, as many views without one.

    Let stratum s have n_s views, n_1s and n_0s of them in the arms, with means m and variances v. The difference
    is Σ n_s(m_1s - m_0s)/Σ n_s, and its standard error σ the root of Σ n_s²(v_1s/n_1s + v_0s/n_0s)/(Σ n_s)².

    The plain interval is ± 1.96σ. It holds the true value with a probability of 95 % at one moment that was chosen
    beforehand. Whoever looks every day and stops when zero is outside will be wrong more often than not, in the end.

    The anytime-valid interval is ± cσ with c² = (1 + 1/ρ²T)(log(1 + ρ²T) + 2 log(1/0.05)), where
    T = Σ n_s²(1/n_1s + 1/n_0s)/4 counts views, more where the arms are unequal. It is the asymptotic confidence
    sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Time-uniform central limit theory and asymptotic
    confidence sequences (2021), whose boundary is Robbins's mixture of normal distributions. With a probability of 95 %
    *all* intervals from the first on hold what is true at their time: the effect averaged over the views until
    then, which may change as the learned arm learns and as visitors change. As it rests on the central limit theorem,
    the 95 % are exact in the limit of a late first look: hence `least`. c is about 3 for ten thousands of views and
    3.6 for a million.

    The interval of the ratio holds every r for which 0 is in the interval of m_1 - r·m_0 (Fieller's construction), so
    that it is as valid as the other; it has no upper end where the holdout's mean may be 0.

    >>> found = compare([HoldoutStratum(Sums.of_clicks(20_000, 2_300), Sums.of_clicks(5_000, 500))], least=MIN_CLICKS)
    >>> found.difference.estimate, [round(end, 4) for end in found.difference.plain]
    (0.015, [0.0056, 0.0244])
    >>> [round(end, 4) for end in found.difference.anytime], [round(end, 2) for end in found.ratio.plain]
    ([-0.0001, 0.0301], [1.05, 1.26])
    """
    compared = [stratum for stratum in strata if stratum.can_be_compared]
    views = sum(stratum.views for stratum in compared)
    learned = _pooled([(stratum.views, stratum.learned) for stratum in compared])
    holdout = _pooled([(stratum.views, stratum.holdout) for stratum in compared])
    if why := _too_early(compared, least, both_ways=both_ways):
        return ArmComparison(learned.mean, holdout.mean, views, None, None, why)
    time = sum(stratum.views**2 * (1 / stratum.learned.views + 1 / stratum.holdout.views) / 4 for stratum in compared)
    widths = NormalDist().inv_cdf(0.5 + LEVEL / 2), _anytime_width(time)
    difference = learned.mean - holdout.mean
    error = math.sqrt(learned.error + holdout.error)
    plain, anytime = (Interval(difference - width * error, difference + width * error) for width in widths)
    ratio_plain, ratio_anytime = (_ratio(learned, holdout, width) for width in widths)
    return ArmComparison(
        learned.mean,
        holdout.mean,
        views,
        Compared(difference, plain, anytime),
        Compared(learned.mean / holdout.mean, ratio_plain, ratio_anytime),
    )


class _Mean(NamedTuple):
    """A mean over strata, and its squared standard error."""

    mean: float
    error: float


def _pooled(weighed: list[tuple[int, Sums]]) -> _Mean:
    whole = sum(views for views, _ in weighed)
    return _Mean(
        sum(views / whole * sums.mean for views, sums in weighed),
        sum((views / whole) ** 2 * sums.variance / sums.views for views, sums in weighed),
    )


def _too_early(strata: list[HoldoutStratum], least: int, *, both_ways: bool) -> str | None:
    if not strata:
        return "there was no time in which both arms had two views"
    arms = {
        "learned": sum((stratum.learned for stratum in strata), Sums()),
        "holdout": sum((stratum.holdout for stratum in strata), Sums()),
    }
    for arm, sums in arms.items():
        without = sums.views - round(sums.brought)
        if both_ways and sums.brought < least:
            return f"the {arm} arm has {round(sums.brought)} views with a click, and {least} are needed"
        if both_ways and without < least:
            return f"the {arm} arm has {without} views without a click, and {least} are needed"
        if sums.brought < least:
            return (
                f"what the {arm} arm brought tells as much as {sums.brought:.1f} equal values would, "
                f"and {least} are needed"
            )
        if sums.variance == 0.0:
            return f"every view of the {arm} arm has brought the same"
    return None


def _anytime_width(time: float) -> float:
    """How many standard errors the interval reaches to either side."""
    twice = -2.0 * math.log(1.0 - LEVEL)
    # ρ², which makes it narrowest there
    narrowest = (twice + math.log(twice) + 1.0) / NARROWEST_AT * time
    return math.sqrt((1.0 + 1.0 / narrowest) * (math.log1p(narrowest) + twice))


def _ratio(learned: _Mean, holdout: _Mean, width: float) -> Interval:
    """The r ≥ 0 with (m_1 - r·m_0)² ≤ width²(σ_1² + r²σ_0²)."""
    square = holdout.mean**2 - width**2 * holdout.error
    rest = learned.mean**2 - width**2 * learned.error
    middle = learned.mean * holdout.mean
    root = math.sqrt(max(0.0, middle**2 - square * rest))
    # of the two ways to write a root, the one that does not subtract like from like
    low = rest / (middle + root) if rest > 0.0 else 0.0
    return Interval(low, (middle + root) / square if square > 0.0 else math.inf)
