from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from slotwise import PolicyTask, get_policy, simulate
from slotwise.click_models import PositionBased, draw_clicks
from slotwise.policies import choose
from slotwise.policies.interface import learn_clicks

USERS = PositionBased(position_bias=[1.0, 0.8, 0.6, 0.5], attraction=[0.9, 0.6, 0.35, 0.1])


def _wrong_pairs(ranking: list[int]) -> int:
    """Pairs in the wrong order, the items being numbered by decreasing attraction."""
    return sum(upper > lower for upper, lower in combinations(ranking, 2))


@pytest.mark.usefixtures("interpreting")
def test_no_list_is_much_worse_than_the_first() -> None:
    """Theorem 2: with probability 1 - δK² no list ever has more than K/2 wrong pairs above the base list's; and the
    base list is in order in the end. Here δ = T⁻⁴: less than one in 10¹¹."""
    for seed in range(3):
        started, rng, clicks = (
            get_policy("bubblerank").start(PolicyTask(4, 4, 1_500)),
            np.random.default_rng(seed),
            None,
        )
        clicks = np.zeros(4, bool)
        choose(started, rng)
        before = _wrong_pairs(started.base.tolist())
        for _ in range(1_500):
            ranking = choose(started, rng).copy()
            assert _wrong_pairs(ranking.tolist()) <= before + 2
            draw_clicks(USERS, ranking, clicks, rng)
            learn_clicks(started, ranking, clicks)
        assert _wrong_pairs(started.base.tolist()) <= before


@pytest.mark.usefixtures("interpreting")
def test_only_neighbours_of_this_rounds_pairs_are_exchanged() -> None:
    started, rng = get_policy("bubblerank").start(PolicyTask(3, 6, 1_000)), np.random.default_rng(1)
    below_the_page = set()
    for now in range(400):
        ranking = choose(started, rng).tolist()
        base = started.base.tolist()
        below_the_page.add(base[3])
        pairs = [(0, 1), (2, 3)] if now % 2 == 0 else [(1, 2)]
        for slot in range(3):
            partner = next((sum(pair) - slot for pair in pairs if slot in pair), slot)
            assert ranking[slot] in (base[slot], base[partner])
        learn_clicks(started, np.array(ranking), np.zeros(3, bool))
    assert len(below_the_page) == 3, "whatever is not on the page may come to stand below it"


def test_the_best_list_is_found_and_then_kept() -> None:
    run = simulate(USERS, "bubblerank", rounds=60_000, replications=4, seed=1, record_at=4)["bubblerank"]
    quarters = np.diff(run.regret, prepend=0.0, axis=1)
    assert (quarters[:, 3] < 0.2 * quarters[:, 0]).all()
