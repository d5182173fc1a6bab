from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from research.further_policies.pairwise_bounds import bernstein, exploration
from slotwise import PolicyTask, get_policy
from slotwise.core.errors import InvalidInput
from slotwise.policies.indices.kl_bernoulli import kl_bound

COUNTS = [(1.0, 1.0), (3.0, 40.0), (0.02, 5.0), (70.0, 2.5), (4_000.0, 90_000.0)]
LEVELS = [1e-6, 0.3, 2.0, 15.0]


def upper_odds(kind: bool, clicks: float, passes: float, level: float) -> float:
    """The bound of one pair, of either kind; infinite before the first pass."""
    if passes == 0.0:
        return math.inf
    return kl_bound(clicks, passes, level, math.inf) if kind else bernstein(clicks, passes, clicks + passes, 1.0, level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("clicks", "passes"), [*COUNTS, (0.0, 8.0)])
def test_the_bernstein_bound_solves_its_inequality(clicks: float, passes: float, level: float) -> None:
    trials = clicks + passes
    odds = bernstein(clicks, passes, trials, 1.0, level)
    if passes <= level / 3:
        assert odds == math.inf
    else:
        assert odds * passes - clicks == pytest.approx(math.sqrt(2 * odds * trials * level) + odds * level / 3)


@pytest.mark.parametrize("kind", [True, False], ids=["kl", "bernstein"])
def test_a_bound_is_the_mean_in_the_end(kind: bool) -> None:
    gaps = [upper_odds(kind, 3.0 * n, 10.0 * n, 5.0) - 0.3 for n in (1e2, 1e4, 1e6)]
    assert gaps[0] > 9 * gaps[1] > 81 * gaps[2] > 0


@pytest.mark.parametrize("kind", [True, False], ids=["kl", "bernstein"])
@pytest.mark.parametrize("trials", [5, 60, 400])
@pytest.mark.parametrize("level", [0.5, 1.0, 3.0])
def test_a_bound_is_missed_with_probability_at_most_exp_minus_the_level(kind: bool, trials: int, level: float) -> None:
    """Exactly, by going through all outcomes, for the odds that are worst: those just above some outcome's bound."""
    bounds = np.array([upper_odds(kind, n, trials - n, level) for n in range(trials + 1)])
    missed = []
    for edge in bounds[np.isfinite(bounds)]:
        odds = edge * (1 + 1e-9)
        chances = binom.pmf(np.arange(trials + 1), trials, odds / (1 + odds))
        missed.append(chances[bounds < odds].sum())
    # the Newton iteration stops a hair away from the bound; Chernoff's is attained where there is no click
    assert max(missed) <= math.exp(-level) * (1 + 1e-6)
    if kind:
        assert max(missed) == pytest.approx(math.exp(-level))


def test_the_level_of_exploration() -> None:
    assert exploration(0.7) == exploration(1.0) == 0.0
    assert exploration(50.0) == pytest.approx(math.log(50 * (1 + math.log(50) ** 2)))


def test_a_bound_of_another_name_is_refused() -> None:
    with pytest.raises(InvalidInput, match="bound must be kl or bernstein, got 'hoeffding'"):
        get_policy("pairwise-ucb", bound="hoeffding").start(PolicyTask(1, 2, 10, np.ones(1)))
