from __future__ import annotations

import itertools

import numpy as np
import pytest

from slotwise import MNL, policy, simulate
from slotwise.choice import regret
from slotwise.errors import InvalidInput
from slotwise.simulate.delayed import simulate_delayed
from tests.chance import assert_mean_is

POLICY = policy("randomised-moss")


def test_without_delay_it_is_simulate(small: MNL) -> None:
    """Half of the difference of two independent means is tested for zero, replication by replication."""
    delayed = simulate_delayed(small, POLICY, rounds=200, lag=0, every=1, replications=60, seed=1).sum(axis=1)
    prompt = simulate(small, POLICY, rounds=200, replications=60, seed=2, record_at=1)["randomised-moss"].final_regret
    assert_mean_is(0.0, delayed - prompt)


def test_nothing_is_learned_within_the_lag(small: MNL) -> None:
    """While nothing is known, every list is as likely as any other."""
    found = simulate_delayed(small, POLICY, rounds=50, lag=50, every=7, replications=400, seed=1)
    uniform = np.mean([regret(small, shown) for shown in itertools.permutations(range(4), 3)])
    assert_mean_is(uniform, found.mean(axis=1))


def test_a_longer_lag_costs_more(small: MNL) -> None:
    costs = [
        simulate_delayed(small, POLICY, rounds=3_000, lag=lag, every=50, replications=20, seed=1).sum(axis=1).mean()
        for lag in (0, 500, 2_000)
    ]
    assert costs == sorted(costs)
    assert costs[0] < costs[2] / 2


def test_epochs_are_refused(small: MNL) -> None:
    with pytest.raises(InvalidInput, match="epochs"):
        simulate_delayed(small, policy("mnl-bandit"), rounds=5, lag=0, every=1)
