from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from slotwise import PolicyTask, get_policy, simulate
from slotwise.click_models import Cascade, PositionBased, draw_clicks
from slotwise.policies import choose
from slotwise.policies.interface import learn_clicks

USERS = PositionBased(position_bias=[1.0, 0.7, 0.5], attraction=[0.9, 0.6, 0.35, 0.1, 0.05])


def _batches(started: Any) -> list[tuple[int, set[int]]]:
    """How many slots each batch has, and which items."""
    found, first = [], 0
    while first < len(started.stop):
        items = set(np.flatnonzero(started.batch == first).tolist())
        assert len(items) == started.size[first] >= started.stop[first] - first
        found.append((int(started.stop[first]) - first, items))
        first = int(started.stop[first])
    return found


@pytest.mark.usefixtures("interpreting")
@pytest.mark.usefixtures("interpreting")
def test_items_of_a_batch_are_observed_alike_and_batches_end_in_the_right_order() -> None:
    """Batches only divide, whoever is left in an earlier one being more attractive than all of a later one."""
    rounds = 3_000
    started, rng, clicks = (
        get_policy("batchrank").start(PolicyTask(3, 5, rounds)),
        np.random.default_rng(1),
        np.zeros(3, bool),
    )
    for _ in range(rounds):
        ranking = choose(started, rng).copy()
        draw_clicks(USERS, ranking, clicks, rng)
        learn_clicks(started, ranking, clicks)
        for first in set(started.batch.tolist()) - {-1}:
            members = started.batch == first
            if started.size[first] > 1:
                assert np.ptp(started.observed[members]) <= 1
                needed = math.ceil(16 * 4.0 ** started.stage[first] * math.log(rounds))
                assert started.observed[members].max() <= needed
    batches = _batches(started)
    assert len(batches) > 1, "the test saw no split"
    assert batches[0][1] == {0}
    for (_, one), (_, other) in pairwise(batches):
        assert max(one) < min(other)


@pytest.mark.long
@pytest.mark.parametrize("users", [USERS, Cascade(slots=2, attraction=[0.5, 0.4, 0.1, 0.05, 0.03])], ids=["PBM", "CM"])
def test_regret_all_but_stops_under_either_click_model(users: Any) -> None:
    """The paper's claim: one algorithm for the position-based and the cascade model. In the cascade model any order
    of the best items will do."""
    run = simulate(users, "batchrank", rounds=100_000, replications=4, seed=1, record_at=4)["batchrank"]
    quarters = np.diff(run.regret, prepend=0.0, axis=1)
    assert (quarters[:, 3] <= 0.05 * quarters[:, 0]).all()
