from __future__ import annotations

import numpy as np
import pytest

from slotwise import MNL, simulate
from slotwise.choice import regret
from slotwise.experiments.candidates import CANDIDATES, candidate

USERS = MNL(position_bias=[1.0, 0.5, 0.25], attractiveness=[0.9, 0.1, 0.5, 0.1, 0.1, 0.7])


@pytest.mark.long
@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("name", CANDIDATES)
def test_candidates_learn(name: str, known: bool) -> None:
    """On average, well below the regret of random lists; some are kept from being registered by their worst runs."""
    rng = np.random.default_rng(1)
    at_random = 1_500 * np.mean([regret(USERS, rng.permutation(6)[:3]) for _ in range(2_000)])
    run = simulate(USERS, candidate(name, known), rounds=1_500, replications=10, seed=2)[name]
    assert run.quantile(0.5) < at_random / 4
