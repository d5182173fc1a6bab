from __future__ import annotations

import numpy as np
import pytest

from slotwise import simulate
from slotwise.policies.baselines.pbm_ts import draw_posterior, find_mode
from tests.policies.position_based_setting import REPLICATIONS, ROUNDS, USERS
from tests.statistical_assertions import assert_frequencies, assert_mean_is_below


@pytest.mark.usefixtures("interpreting")
@pytest.mark.parametrize(
    ("clicks", "misses"),
    [
        (0.0, [0.0, 0.0]),
        (0.0, [5.0, 3.0]),
        (1.0, [0.0, 0.0]),
        (3.0, [0.0, 2.0]),
        (1.0, [4.0, 9.0]),
        (40.0, [100.0, 30.0]),
        (40.0, [1.0, 500.0]),
        (30.0, [0.0, 1.0]),
    ],
)
def test_draws_have_the_density_of_the_posterior(clicks: float, misses: list[float]) -> None:
    bias = np.array([1.0, 0.4])
    grid = (np.arange(200_000) + 0.5) / 200_000
    log = clicks * np.log(grid) + sum(f * np.log(1 - k * grid) for f, k in zip(misses, bias, strict=True))
    below = np.cumsum(np.exp(log - log.max()))
    tenths = np.interp(np.arange(11) / 10, below / below[-1], grid)
    tenths[0], tenths[-1] = 0.0, 1.0
    rng, mode, drawn = np.random.default_rng(3), 0.5, []
    for _ in range(1_000):
        mode = find_mode(clicks, np.array(misses), bias, mode)
        drawn.append(draw_posterior(clicks, np.array(misses), bias, mode, rng))
    assert_frequencies(np.full(10, 0.1), np.histogram(drawn, tenths)[0])


@pytest.mark.long
def test_regret_is_below_that_of_pbm_ucb_in_the_papers_setting() -> None:
    run = simulate(USERS, ["pbm-ucb", "pbm-ts"], rounds=ROUNDS, replications=REPLICATIONS, seed=1)
    assert_mean_is_below(run["pbm-ts"].final_regret, 0.5 * run["pbm-ucb"].final_regret)
