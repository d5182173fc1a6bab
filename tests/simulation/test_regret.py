"""The regret of every policy on the paper's problems at the paper's horizons, as first recorded.

`RECORDED` comes from `slotwise simulate --problem P --policy ID --replications N --seed 1 --json`: N = 200, 40 for the
two policies with finite differences, or 1,000 for `thompson-sampling`. The tests run fewer replications from another
seed. Means must agree within 3.9 standard errors of their difference: a false alarm in 10,000 for means that are close
to normal. Those of the `epoch-ucb-upb` policies are not, since some runs lock into a wrong order, and nor are those of
`thompson-sampling`, of which one run in some thousands stays with a wrong list for long; their medians must agree
within 3.9 standard errors, with the spread taken from the quartiles. That is still wide: what pins their indices down
is tests/policies/test_epochs.py and tests/policies/test_thompson_sampling.py.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest

from slotwise import simulate
from slotwise.environments import paper_problems
from slotwise.paper.reproduction import POLICIES

STANDARD_ERRORS = 3.9
#: of whom there are fewer replications: what they estimate is solved for anew with each decision
SLOW = {"epoch-ucb-upb": 4}


class Recorded(NamedTuple):
    mean: float
    standard_deviation: float
    lower_quartile: float
    median: float
    upper_quartile: float
    replications: int


RECORDED = {
    ("a", "epoch-ucb"): Recorded(498.0, 54.9, 462.1, 494.5, 537.1, 200),
    ("a", "epoch-ucb-upb"): Recorded(1345.2, 40.8, 1333.3, 1346.6, 1359.5, 40),
    ("a", "epoch-ucb-upb-star"): Recorded(533.8, 70.1, 492.3, 524.6, 578.3, 40),
    ("a", "epoch-ucb-upb-star:sensitivity=analytic"): Recorded(525.1, 92.3, 474.9, 531.9, 584.5, 200),
    ("a", "epoch-ucb-upb:sensitivity=analytic"): Recorded(1347.0, 30.8, 1332.4, 1344.4, 1361.1, 200),
    ("a", "epoch-ucb-w"): Recorded(1033.4, 28.3, 1014.7, 1031.3, 1051.5, 200),
    ("a", "mnl-bandit"): Recorded(882.7, 36.6, 858.6, 883.4, 905.5, 200),
    ("a", "pbm-ucb"): Recorded(516.0, 46.1, 487.8, 515.7, 545.5, 200),
    ("a", "thompson-sampling"): Recorded(123.6, 54.1, 89.9, 112.9, 147.1, 1000),
    ("a", "thompson-sampling:bias=known"): Recorded(116.6, 51.7, 86.0, 108.0, 132.5, 1000),
    ("a", "toprank"): Recorded(710.7, 91.4, 645.0, 703.1, 768.7, 200),
    ("b", "epoch-ucb"): Recorded(132.8, 16.4, 122.0, 129.8, 143.3, 200),
    ("b", "epoch-ucb-upb"): Recorded(1663.8, 379.4, 1510.7, 1673.3, 1826.4, 40),
    ("b", "epoch-ucb-upb-star"): Recorded(109.8, 72.7, 65.9, 89.6, 123.2, 40),
    ("b", "epoch-ucb-upb-star:sensitivity=analytic"): Recorded(280.2, 524.9, 78.0, 109.8, 206.9, 200),
    ("b", "epoch-ucb-upb:sensitivity=analytic"): Recorded(1712.3, 522.0, 1410.0, 1694.9, 1796.6, 200),
    ("b", "epoch-ucb-w"): Recorded(549.4, 27.8, 532.6, 549.6, 565.5, 200),
    ("b", "mnl-bandit"): Recorded(727.5, 32.2, 703.4, 724.7, 752.2, 200),
    ("b", "pbm-ucb"): Recorded(178.4, 15.5, 168.7, 176.7, 187.6, 200),
    ("b", "thompson-sampling"): Recorded(30.3, 10.3, 23.1, 29.0, 35.5, 1000),
    ("b", "thompson-sampling:bias=known"): Recorded(19.7, 10.8, 12.8, 18.0, 24.2, 1000),
    ("b", "toprank"): Recorded(1122.7, 66.7, 1082.7, 1124.6, 1167.4, 200),
    ("c", "epoch-ucb"): Recorded(377.0, 15.5, 365.3, 376.8, 389.2, 200),
    ("c", "epoch-ucb-upb"): Recorded(200.3, 97.5, 138.1, 176.4, 211.8, 40),
    ("c", "epoch-ucb-upb-star"): Recorded(102.5, 49.6, 60.0, 95.9, 136.4, 40),
    ("c", "epoch-ucb-upb-star:sensitivity=analytic"): Recorded(134.0, 85.4, 69.0, 112.1, 170.8, 200),
    ("c", "epoch-ucb-upb:sensitivity=analytic"): Recorded(190.5, 100.4, 121.5, 164.0, 214.2, 200),
    ("c", "epoch-ucb-w"): Recorded(1194.5, 17.9, 1182.8, 1195.2, 1206.0, 200),
    ("c", "mnl-bandit"): Recorded(1134.7, 19.4, 1121.6, 1134.5, 1147.7, 200),
    ("c", "pbm-ucb"): Recorded(210.7, 6.9, 206.0, 210.1, 214.9, 200),
    ("c", "thompson-sampling"): Recorded(38.6, 8.7, 33.8, 36.9, 41.2, 1000),
    ("c", "thompson-sampling:bias=known"): Recorded(37.2, 8.2, 32.5, 35.8, 39.5, 1000),
    ("c", "toprank"): Recorded(225.2, 38.1, 200.8, 222.1, 254.2, 200),
}


#: policies with their default options, on the problem with the fewest rounds, without those that take seconds
QUICK = [both for both in RECORDED if both[0] == "b" and ":" not in both[1] and not both[1].startswith(tuple(SLOW))]


@pytest.mark.parametrize(
    ("problem", "policy"),
    [pytest.param(*both, marks=[] if both in QUICK else pytest.mark.long) for both in RECORDED],
)
def test_regret_matches_the_recorded_regret(problem: str, policy: str) -> None:
    chosen, recorded = paper_problems()[problem], RECORDED[problem, policy]
    replications = next((few for slow, few in SLOW.items() if policy.startswith(slow) and "analytic" not in policy), 30)
    results = simulate(chosen.users, policy, rounds=chosen.rounds, replications=replications, seed=0)
    found = results[policy].final_regret
    independent = math.sqrt(1 / replications + 1 / recorded.replications)
    if policy.startswith(("epoch-ucb-upb", "thompson-sampling")):
        # a normal median's error is √(π/2) times the mean's, and its quartiles are 1.349 deviations apart
        error = math.sqrt(math.pi / 2) * (recorded.upper_quartile - recorded.lower_quartile) / 1.349 * independent
        assert abs(np.median(found) - recorded.median) < STANDARD_ERRORS * error
    else:
        assert abs(found.mean() - recorded.mean) < STANDARD_ERRORS * recorded.standard_deviation * independent


def test_recorded_policies_are_recorded_on_every_problem() -> None:
    """Of rivals is known what their own papers say, which their own tests check; a new policy need not be here."""
    recorded = {label.partition(":")[0] for _, label in RECORDED}
    assert recorded == {*POLICIES, "thompson-sampling"}
    assert {(problem, id) for problem in paper_problems() for id in recorded} <= set(RECORDED)
