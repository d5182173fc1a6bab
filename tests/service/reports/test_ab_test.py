from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import stats

from slotwise.service.reports.ab_test import (
    MIN_CLICKS,
    MIN_STRATUM,
    ArmComparison,
    HoldoutStratum,
    Interval,
    Sums,
    compare,
    merge_small,
)
from tests.statistical_assertions import FALSE_ALARM, assert_mean_is

LOOK_EVERY = 250
EXPERIMENTS = 300
LEVEL = 0.95


class Experiment:
    """Decisions one after the other: who was in the holdout, what came of it, and what the effect on it was."""

    def __init__(self, seed: int, *, decisions: int, uplift: float, values: bool = False, shares: tuple[float, ...]):
        rng = np.random.default_rng(seed)
        self.per_share = decisions // len(shares)
        share = np.repeat(shares, self.per_share)
        self.holdout = rng.random(decisions) < share
        # the time of the year changes what everybody clicks, and the learned arm learns
        season = 0.1 + 0.1 * (np.arange(decisions) >= decisions // 2)
        self.effect = uplift * np.linspace(0.5, 1.5, decisions)
        rate = season + np.where(self.holdout, 0.0, self.effect)
        self.brought = (rng.random(decisions) < rate).astype(float)
        if values:
            # of mean 1, skewed to the right
            self.brought *= rng.lognormal(-0.32, 0.8, decisions)
        # views, what they brought and its squares, by arm and until each decision
        rows = np.stack([np.ones(decisions), self.brought, self.brought**2])
        arms = np.stack([rows * ~self.holdout, rows * self.holdout])
        self._until = np.concatenate([np.zeros((2, 3, 1)), arms.cumsum(axis=2)], axis=2)

    def looks(self) -> Iterator[tuple[list[HoldoutStratum], float]]:
        """The strata after so many decisions each, and the average effect until then."""
        effect = self.effect.cumsum() / np.arange(1, len(self.effect) + 1)
        for until in range(LOOK_EVERY, len(effect) + 1, LOOK_EVERY):
            yield self.strata(until), float(effect[until - 1])

    def strata(self, until: int) -> list[HoldoutStratum]:
        """One for each share."""
        starts = range(0, until, self.per_share)
        return [self.stratum(start, min(until, start + self.per_share)) for start in starts]

    def stratum(self, start: int, end: int) -> HoldoutStratum:
        """Of the decisions in between."""
        learned, holdout = self._until[:, :, end] - self._until[:, :, start]
        return HoldoutStratum(_sums(*learned), _sums(*holdout))


def _sums(views: float, total: float, squares: float) -> Sums:
    return Sums(round(views), total, squares)


def _of_clicks(strata: list[HoldoutStratum]) -> ArmComparison:
    return compare(strata, min_size=MIN_CLICKS, both_ways=True)


def _mistakes(*, uplift: float, values: bool = False, shares: tuple[float, ...] = (0.2,)) -> dict[str, int]:
    """In how many experiments an interval missed the truth at any look."""
    mistakes = dict.fromkeys(("plain", "anytime", "ratio"), 0)
    for seed in range(EXPERIMENTS):
        experiment = Experiment(seed, decisions=10_000, uplift=uplift, values=values, shares=shares)
        missed = set()
        for strata, effect in experiment.looks():
            found = compare(strata) if values else _of_clicks(strata)
            if found.difference is None or found.ratio is None:
                continue
            for name, (low, high) in (("plain", found.difference.plain), ("anytime", found.difference.anytime)):
                if not low <= effect <= high:
                    missed.add(name)
            if uplift == 0.0 and not found.ratio.anytime.low <= 1.0 <= found.ratio.anytime.high:
                missed.add("ratio")
        for name in missed:
            mistakes[name] += 1
    return mistakes


def _most_by_chance() -> float:
    """What a sequence of exactly its level exceeds with a probability of `FALSE_ALARM`."""
    return float(stats.binom.isf(FALSE_ALARM, EXPERIMENTS, 1.0 - LEVEL))


@pytest.mark.parametrize(
    ("uplift", "values", "shares"),
    [(0.0, False, (0.2,)), (0.03, False, (0.2,)), (0.0, True, (0.2,)), (0.03, True, (0.1,)), (0.0, False, (0.4, 0.1))],
)
def test_repeated_looks_keep_the_level_only_with_the_anytime_interval(
    uplift: float, values: bool, shares: tuple[float, ...]
) -> None:
    mistakes = _mistakes(uplift=uplift, values=values, shares=shares)
    assert mistakes["anytime"] <= _most_by_chance()
    assert mistakes["ratio"] <= _most_by_chance()
    assert mistakes["plain"] > 1.5 * _most_by_chance()


def test_a_change_of_the_share_does_not_bias_the_difference() -> None:
    # the holdout is small in the half of the year in which everybody clicks twice as much
    experiments = [Experiment(seed, decisions=10_000, uplift=0.0, shares=(0.5, 0.05)) for seed in range(200)]
    by_share = [_difference(experiment.strata(10_000)) for experiment in experiments]
    thrown_together = [_difference([experiment.stratum(0, 10_000)]) for experiment in experiments]
    assert_mean_is(0.0, by_share)
    assert np.mean(thrown_together) > 0.02


def _difference(strata: list[HoldoutStratum]) -> float:
    found = _of_clicks(strata).difference
    assert found is not None
    return found.estimate


def test_one_stratum_is_the_difference_of_two_means() -> None:
    found = compare([HoldoutStratum(Sums(900, 450.0, 700.0), Sums(100, 40.0, 50.0))])
    assert found.difference is not None
    assert found.ratio is not None
    assert (found.learned, found.holdout, found.views) == (0.5, 0.4, 1_000)
    assert found.difference.estimate == pytest.approx(0.1)
    error = math.sqrt((700 - 450**2 / 900) / 899 / 900 + (50 - 40**2 / 100) / 99 / 100)
    assert found.difference.plain.high == pytest.approx(0.1 + stats.norm.isf(0.025) * error)
    assert found.ratio.estimate == pytest.approx(0.5 / 0.4)


def test_the_ends_of_the_ratio_are_where_zero_leaves_the_interval_of_the_difference() -> None:
    learned, holdout = Sums(900, 450.0, 700.0), Sums(300, 100.0, 150.0)
    found = compare([HoldoutStratum(learned, holdout)]).ratio
    assert found is not None
    for name in ("plain", "anytime"):
        low, high = getattr(found, name)
        for factor, side in ((low, 0), (high, 1)):
            scaled = Sums(holdout.views, factor * holdout.total, factor**2 * holdout.squares)
            at_end = compare([HoldoutStratum(learned, scaled)]).difference
            assert at_end is not None
            assert getattr(at_end, name)[side] == pytest.approx(0.0, abs=1e-9)


def test_a_holdout_that_may_bring_nothing_leaves_the_ratio_without_an_upper_end() -> None:
    found = _of_clicks([HoldoutStratum(Sums.of_clicks(400, 80), Sums.of_clicks(400, 10))]).ratio
    assert found is not None
    assert found.plain.high < math.inf
    assert found.anytime.high == math.inf
    assert 1.0 < found.anytime.low < found.plain.low < 8.0


@pytest.mark.parametrize(
    ("learned", "holdout", "why"),
    [
        (Sums(), Sums(), "there is no period in which both arms have two views"),
        (Sums.of_clicks(100, 50), Sums.of_clicks(1, 0), "there is no period in which both arms have two views"),
        (Sums.of_clicks(100, 50), Sums.of_clicks(90, 9), "the holdout arm has 9 views with a click, and 10 are needed"),
        (
            Sums.of_clicks(50, 41),
            Sums.of_clicks(90, 9),
            "the learned arm has 9 views without a click, and 10 are needed",
        ),
    ],
)
def test_it_is_too_early_while_the_counts_are_small(learned: Sums, holdout: Sums, why: str) -> None:
    found = _of_clicks([HoldoutStratum(learned, holdout)])
    assert (found.difference, found.ratio, found.too_early) == (None, None, why)


def test_one_value_that_outweighs_all_others_is_too_early() -> None:
    # a hundred of 1 and one of 1,000
    found = compare([HoldoutStratum(Sums(5_000, 1_100.0, 1_000_100.0), Sums.of_clicks(5_000, 100))])
    assert found.too_early == "the learned arm has an effective sample size of 1.2 values, and 30 is the minimum"


def test_equal_values_are_too_early_to_compare() -> None:
    found = compare([HoldoutStratum(Sums(50, 100.0, 200.0), Sums(50, 80.0, 160.0))])
    assert found.too_early == "every view of the learned arm has the same value"


def test_a_stratum_without_a_holdout_is_left_out() -> None:
    both = HoldoutStratum(Sums.of_clicks(900, 90), Sums.of_clicks(100, 10))
    alone = HoldoutStratum(Sums.of_clicks(5_000, 2_000), Sums())
    assert _of_clicks([both, alone]) == _of_clicks([both])


def _by_segment_and_hour(seed: int, spread: float, uplift: float, hours: int = 24) -> Iterator[tuple[float, Any, Any]]:
    """The average effect until each hour, and what is found with and without adjustment for segment and hour."""
    rng = np.random.default_rng(seed)
    # two segments, one of which clicks more, and all click more in the second half of the time
    late = np.arange(hours)[:, None] >= hours // 2
    rates = 0.5 + spread * np.array([-1.0, 1.0]) + 0.1 * spread * (2 * late - 1)
    effects = np.broadcast_to(uplift * np.linspace(0.5, 1.0, hours)[:, None], rates.shape)
    views = np.asarray(rng.poisson(300, rates.shape))
    held = rng.binomial(views, 0.2)
    clicks, held_clicks = rng.binomial(views - held, rates + effects), rng.binomial(held, rates)
    counts = np.stack([views, held, clicks, held_clicks], axis=2)
    for until in range(2, hours + 1, 2):
        groups = [
            [
                HoldoutStratum(Sums.of_clicks(int(n - n0), int(y)), Sums.of_clicks(int(n0), int(y0)))
                for n, n0, y, y0 in counts[:until, segment]
            ]
            for segment in range(2)
        ]
        found = _of_clicks(merge_small(groups)), _of_clicks([sum(groups[0] + groups[1], HoldoutStratum())])
        effect = float(np.average(effects[:until], weights=views[:until]))
        yield effect, found[0].difference, found[1].difference


def _width(interval: Interval) -> float:
    return interval.high - interval.low


@pytest.mark.parametrize(("spread", "uplift", "widest"), [(0.0, 0.0, 1.6), (0.3535, 0.0, 1.3), (0.3535, 0.03, 1.3)])
def test_an_adjusted_interval_keeps_its_level_and_is_narrower_where_segments_differ(
    spread: float, uplift: float, widest: float
) -> None:
    # segments and time explain half of the variance of a view, 0.3535² / 0.25, or nothing
    missed, ratios, beside = 0, [], []
    for seed in range(EXPERIMENTS):
        looks = [*_by_segment_and_hour(seed, spread, uplift)]
        missed += any(not found.anytime.low <= effect <= found.anytime.high for effect, found, _ in looks)
        _, adjusted, unadjusted = looks[-1]
        ratios.append(_width(adjusted.anytime) / _width(unadjusted.plain))
        beside.append(_width(adjusted.anytime) / _width(unadjusted.anytime))
    assert missed <= _most_by_chance()
    assert max(ratios) < widest
    # where nothing is explained it is wider by at most 1 % on average: that is what MIN_STRATUM is for
    assert np.mean(beside) < 1.0 + 0.5 / MIN_STRATUM
