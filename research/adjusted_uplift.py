"""Intervals of the uplift with and without adjustment for segment and hour: coverage over all looks, and width.

Visitors of some segments come by the hour, and click with a probability that depends on both. A share of them is in the
holdout. An owner looks every few hours. All intervals are the service's own (`slotwise.service.reports.ab_test`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final, NamedTuple

import numpy as np

from slotwise.core.types import FloatArray
from slotwise.service.reports.ab_test import (
    MIN_CLICKS,
    ArmComparison,
    HoldoutStratum,
    Interval,
    Sums,
    compare,
    merge_small,
)

HOUR_OF_DAY: Final = 24


@dataclass(frozen=True)
class Traffic:
    """Visitors whose click rates differ by segment and hour of the day."""

    #: the click rate on average, and how far it is above or below by segment, and by hour
    rate: float
    by_segment: float = 0.0
    by_hour: float = 0.0
    segments: int = 4
    views_per_hour: int = 400
    hours: int = 120
    holdout: float = 0.1
    #: added to the click rate by the learned lists at the end; it grows from a half of that
    uplift: float = 0.0

    def rates(self) -> FloatArray:
        """The holdout's click rates, hours × segments."""
        hours, segments = np.arange(self.hours)[:, None], np.arange(self.segments)[None, :]
        day = np.sign(np.sin(2.0 * np.pi * (hours + 0.5) / HOUR_OF_DAY))
        return self.rate + self.by_segment * (2 * (segments % 2) - 1) + self.by_hour * day

    def explained(self) -> float:
        """The share of a view's variance that segment and hour explain, without an uplift."""
        return (self.by_segment**2 + self.by_hour**2) / (self.rate * (1.0 - self.rate))


class Look(NamedTuple):
    """What an owner sees after some hours: the average effect until then, and two comparisons."""

    effect: float
    adjusted: ArmComparison
    unadjusted: ArmComparison


def looks(traffic: Traffic, seed: int, every: int = 4) -> Iterator[Look]:
    """Draw an experiment and look at it every few hours."""
    rng, rates = np.random.default_rng(seed), traffic.rates()
    effects = np.broadcast_to(traffic.uplift * np.linspace(0.5, 1.0, traffic.hours)[:, None], rates.shape)
    views = rng.poisson(traffic.views_per_hour / traffic.segments, rates.shape)
    held = rng.binomial(views, traffic.holdout)
    clicks, held_clicks = rng.binomial(views - held, rates + effects), rng.binomial(held, rates)
    for until in range(every, traffic.hours + 1, every):
        # as the service orders them: by segment, then by hour of the day
        hours = sorted(range(until), key=lambda hour: (hour % HOUR_OF_DAY, hour))
        groups = [
            [
                HoldoutStratum(
                    Sums.of_clicks(int(views[at] - held[at]), int(clicks[at])),
                    Sums.of_clicks(int(held[at]), int(held_clicks[at])),
                )
                for at in ((hour, segment) for hour in hours)
            ]
            for segment in range(traffic.segments)
        ]
        yield Look(
            float(np.average(effects[:until], weights=views[:until])),
            compare(merge_small(groups), min_size=MIN_CLICKS, both_ways=True),
            compare([sum(chain(*groups), HoldoutStratum())], min_size=MIN_CLICKS, both_ways=True),
        )


class Result(NamedTuple):
    """Experiments in which an interval missed the effect at any look, and widths at the last look."""

    missed: int
    missed_unadjusted: int
    missed_fixed_horizon: int
    #: of the anytime-valid interval, relative to the fixed-horizon one without adjustment
    width: float
    width_unadjusted: float


def run(traffic: Traffic, experiments: int, seed: int = 0) -> Result:
    """Repeat an experiment; the width is a mean over the experiments."""
    missed = {"adjusted": 0, "unadjusted": 0, "fixed": 0}
    widths = []
    for number in range(experiments):
        wrong = set()
        for look in looks(traffic, seed + number):
            adjusted, unadjusted = look.adjusted.difference, look.unadjusted.difference
            if adjusted is None or unadjusted is None:
                continue
            intervals = {"adjusted": adjusted.anytime, "unadjusted": unadjusted.anytime, "fixed": adjusted.plain}
            wrong |= {kind for kind, (low, high) in intervals.items() if not low <= look.effect <= high}
            last = [_width(interval) for interval in (adjusted.anytime, unadjusted.anytime, unadjusted.plain)]
        for kind in wrong:
            missed[kind] += 1
        widths.append([last[0] / last[2], last[1] / last[2]])
    return Result(*missed.values(), *np.mean(widths, axis=0).tolist())


def _width(interval: Interval) -> float:
    return interval.high - interval.low


#: by description
CASES: Final = {
    "nothing explained": Traffic(0.1),
    "nothing explained, with an uplift": Traffic(0.1, uplift=0.03),
    "rates of 5 and 15 % by segment": Traffic(0.1, by_segment=0.05, uplift=0.02),
    "rates of 10 to 70 % by segment and hour": Traffic(0.4, by_segment=0.2, by_hour=0.1, uplift=0.03),
    "half explained by segment": Traffic(0.5, by_segment=0.354, uplift=0.03),
    "half explained by hour": Traffic(0.5, by_hour=0.354, uplift=0.03),
    "half explained by segment, no uplift": Traffic(0.5, by_segment=0.354),
    "half explained by segment, 20 views an hour": Traffic(0.5, by_segment=0.354, views_per_hour=20, uplift=0.03),
    "half explained by segment, 8,000 views an hour": Traffic(0.5, by_segment=0.354, views_per_hour=8_000, uplift=0.03),
}


def table(experiments: int, seed: int = 1) -> str:
    """The results of all cases as a table."""
    error = np.sqrt(0.05 * 0.95 / experiments)
    head = (
        f"Experiments per row: {experiments}. Coverage: share of the experiments whose interval covers at every look; "
        f"at 95 % its standard error is {error:.3f}. Width: anytime-valid interval at the last look, relative to the "
        "fixed-horizon interval without adjustment.\n\n"
        "| visitors | views | explained | coverage | without adjustment | fixed-horizon, adjusted | width | without "
        "adjustment |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
    )
    rows = []
    for number, (name, traffic) in enumerate(CASES.items()):
        found = run(traffic, experiments, seed + 1_000_000 * number)
        covered = [1.0 - missed / experiments for missed in found[:3]]
        rows.append(
            f"| {name} | {traffic.hours * traffic.views_per_hour:,} | {traffic.explained():.2f} | {covered[0]:.3f} "
            f"| {covered[1]:.3f} | {covered[2]:.3f} | {found.width:.2f} | {found.width_unadjusted:.2f} |\n"
        )
    return head + "".join(rows)
