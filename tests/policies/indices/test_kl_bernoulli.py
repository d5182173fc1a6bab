from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom

from slotwise.policies.indices.kl_bernoulli import STEP, kl_bound, level_at, lower_probability, upper_probability

pytestmark = pytest.mark.usefixtures("interpreting")


def _kl(p: float, q: float) -> float:
    return sum(a * math.log(a / b) for a, b in ((p, q), (1.0 - p, 1.0 - q)) if a > 0.0)


@pytest.mark.parametrize(("successes", "trials"), [(0, 7), (1, 7), (300, 1_000), (999_000, 1_000_000), (1, 10_000)])
@pytest.mark.parametrize("level", [0.01, 1.0, 12.0])
def test_the_divergence_at_the_bounds_is_the_level(successes: float, trials: float, level: float) -> None:
    mean = successes / trials
    upper, lower = upper_probability(successes, trials, level), lower_probability(successes, trials, level)
    assert lower <= mean <= upper
    assert trials * _kl(mean, upper) == pytest.approx(level, rel=1e-4)
    if successes > 0:
        assert trials * _kl(mean, lower) == pytest.approx(level, rel=1e-4)
    else:
        assert lower == 0.0


def test_the_edges() -> None:
    assert (lower_probability(0.0, 0.0, 1.0), upper_probability(0.0, 0.0, 1.0)) == (0.0, 1.0)
    assert upper_probability(5.0, 5.0, 1.0) == 1.0
    assert (lower_probability(2.0, 5.0, 0.0), upper_probability(2.0, 5.0, 0.0)) == pytest.approx((0.4, 0.4))


def test_the_level_grows_from_0() -> None:
    levels = [level_at(time) for time in (0.0, 1.0, 2.0, math.e, 100.0)]
    assert levels == sorted(levels)
    assert levels[:2] == [0.0, 0.0]
    assert levels[-1] == pytest.approx(math.log(100.0) + 3.0 * math.log(math.log(100.0)))


@pytest.mark.parametrize("level", [1e-6, 0.3, 2.0, 15.0])
@pytest.mark.parametrize(("clicks", "passes"), [(1.0, 1.0), (3.0, 40.0), (0.02, 5.0), (70.0, 2.5), (4_000.0, 90_000.0)])
def test_the_kl_bound_is_where_the_divergence_is_the_level(clicks: float, passes: float, level: float) -> None:
    trials = clicks + passes
    p = clicks / trials
    wanted = brentq(lambda log_odds: trials * _kl(p, 1 / (1 + math.exp(-log_odds))) - level, math.log(p / (1 - p)), 30)
    for start in (math.inf, 0.0, clicks / passes * 1.0001, 1e6):
        found = kl_bound(clicks, passes, level, start)
        # of a Newton step of STEP of the distance, about the square is left; of the distance itself, rounding
        assert math.log(found) == pytest.approx(wanted, rel=0, abs=STEP**2 * (wanted - math.log(p / (1 - p))) + 1e-9)


def test_without_a_click_the_kl_bound_has_a_closed_form() -> None:
    assert kl_bound(0.0, 8.0, 3.0, math.inf) == pytest.approx(math.exp(3 / 8) - 1)


@pytest.mark.parametrize("trials", [5, 60, 400])
@pytest.mark.parametrize("level", [0.5, 1.0, 3.0])
def test_a_bound_is_missed_with_probability_at_most_exp_minus_the_level(trials: int, level: float) -> None:
    """Exactly, by going through all outcomes, for the odds that are worst: those just above some outcome's bound."""
    bounds = np.array([kl_bound(n, trials - n, level, math.inf) if n < trials else math.inf for n in range(trials + 1)])
    missed = []
    for edge in bounds[:-1]:
        odds = edge * (1 + 1e-9)
        chances = binom.pmf(np.arange(trials + 1), trials, odds / (1 + odds))
        missed.append(chances[bounds < odds].sum())
    # Chernoff's bound is attained if there is no click
    assert max(missed) == pytest.approx(math.exp(-level))
