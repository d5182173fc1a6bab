from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from slotwise import PolicyTask, get_policy, simulate
from slotwise.core.errors import InvalidInput
from slotwise.policies import choose
from slotwise.policies.baselines.pb_mhb import propose
from tests.policies.position_based_setting import REPLICATIONS, ROUNDS, USERS
from tests.statistical_assertions import assert_frequencies, assert_mean_is_below


@pytest.mark.usefixtures("interpreting")
@pytest.mark.parametrize(("now", "spread"), [(0.05, 0.2), (0.9, 0.1), (0.3, 0.5), (0.5, 30.0)])
def test_proposals_are_normal_within_0_and_1(now: float, spread: float) -> None:
    rng = np.random.default_rng(1)
    law = stats.truncnorm(-now / spread, (1 - now) / spread, now, spread)
    tenths = law.ppf(np.arange(11) / 10)
    drawn = [propose(now, spread, rng) for _ in range(2_000)]
    assert_frequencies(np.full(10, 0.1), np.histogram(drawn, tenths)[0])


@pytest.mark.usefixtures("interpreting")
@pytest.mark.parametrize("c", [0.3, 1_000.0])
def test_the_chain_has_the_posterior(c: float) -> None:
    """One slot, one item, 2 clicks in 6 shows: (κθ)²(1 - κθ)⁴ on the unit square, of which θ has one marginal."""
    started = get_policy("pb-mhb", c=c).start(PolicyTask(1, 1, 100))
    started.clicks[0, 0], started.misses[0, 0] = 2.0, 4.0
    rng, drawn = np.random.default_rng(2), []
    for step in range(24_000):
        choose(started, rng)
        if step % 12 == 11:  # far enough apart to be as good as independent
            drawn.append(float(started.attraction[0]))
    grid = (np.arange(1_000) + 0.5) / 1_000
    both = np.outer(grid, grid)
    below = np.cumsum((both**2 * (1 - both) ** 4).sum(axis=1))
    fifths = np.interp(np.arange(6) / 5, below / below[-1], grid)
    fifths[0], fifths[-1] = 0.0, 1.0
    assert_frequencies(np.full(5, 0.2), np.histogram(drawn, fifths)[0])


@pytest.mark.usefixtures("interpreting")
def test_without_data_every_value_is_as_likely() -> None:
    """Proposals are cut off at 0 and 1: unless that is made up for, values near the ends come up a third less often."""
    started = get_policy("pb-mhb", c=0.3).start(PolicyTask(1, 1, 100))
    rng, drawn = np.random.default_rng(3), []
    for step in range(16_000):
        choose(started, rng)
        if step % 8 == 7:
            drawn.append(float(started.attraction[0]))
    assert_frequencies(np.full(10, 0.1), np.histogram(drawn, np.arange(11) / 10)[0])


@pytest.mark.long
def test_regret_is_below_that_of_toprank_in_the_position_based_model() -> None:
    """And it need not be told that the slots are in order."""
    run = simulate(USERS, ["toprank", "pb-mhb"], rounds=ROUNDS, replications=REPLICATIONS, seed=1)
    assert_mean_is_below(run["pb-mhb"].final_regret, run["toprank"].final_regret)


def test_c_is_positive() -> None:
    with pytest.raises(InvalidInput, match="c must be"):
        get_policy("pb-mhb", c=-1).start(PolicyTask(1, 2, 10))
