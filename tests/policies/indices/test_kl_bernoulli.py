from __future__ import annotations

import math

import pytest

from slotwise.policies.indices.kl_bernoulli import level_at, lower_probability, upper_probability

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
