"""Regret equals that of programs written independently from the papers, on users who click once and several times."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from slotwise import MNL, simulate
from slotwise.click_models import Cascade, PositionBased

pytestmark = pytest.mark.long

#: differences of more standard errors are a failure: once in 16,000 comparisons of equal policies
LIMIT = 4.0
BIAS = [1.0, 0.75, 0.6, 0.3, 0.1]
#: `std` and `big` of Gauthier et al. (2021), and the users of Lagrée et al. (2016)
STANDARD = PositionBased(position_bias=BIAS, attraction=[0.3, 0.2, 0.15, 0.15, 0.15, 0.1, 0.05, 0.05, 0.01, 0.01])
BIG = PositionBased(position_bias=BIAS, attraction=[0.99, 0.95, 0.9, 0.85, 0.8, *[0.75] * 5])
LAGREE = PositionBased(position_bias=[0.9, 0.6, 0.3], attraction=[0.45, 0.35, 0.25, 0.15, 0.05])
#: slots alike, as in the papers on assortments
ASSORTMENT = MNL(position_bias=[1.0] * 4, attractiveness=np.linspace(0.5, 0.05, 10))
CASCADE = Cascade(slots=4, attraction=[0.2] * 4 + [0.05] * 12)


@pytest.mark.parametrize(
    ("policy", "users", "rounds", "mean", "error"),
    [
        ("toprank", STANDARD, 20_000, 500.3, 10.0),
        ("toprank", BIG, 20_000, 1869.8, 39.1),
        ("toprank", CASCADE, 50_000, 300.1, 9.0),
        ("pbm-ucb", STANDARD, 20_000, 525.1, 3.3),
        ("pbm-ucb", LAGREE, 10_000, 100.6, 1.3),
        ("mnl-ucb", ASSORTMENT, 20_000, 735.0, 2.0),
        ("mnl-ts", ASSORTMENT, 20_000, 53.9, 4.6),
        ("cascade-kl-ucb", CASCADE, 50_000, 250.9, 3.7),
    ],
    ids=["toprank-std", "toprank-big", "toprank-cascade", "pbm-ucb-std", "pbm-ucb", "mnl-ucb", "mnl-ts", "cascade"],
)
def test_regret_is_that_of_an_independent_program(
    policy: str, users: Any, rounds: int, mean: float, error: float
) -> None:
    run = simulate(users, policy, rounds=rounds, replications=40, seed=21, record_at=1)[policy]
    assert abs(run.mean - mean) < LIMIT * math.hypot(run.standard_error, error)
