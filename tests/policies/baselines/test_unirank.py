from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slotwise import PolicyTask, get_policy, simulate
from slotwise.click_models import Cascade, draw_clicks
from slotwise.policies import choose
from slotwise.policies.baselines.unirank import find_leader
from slotwise.policies.interface import learn_clicks
from tests.policies.position_based_setting import REPLICATIONS, ROUNDS, USERS
from tests.statistical_assertions import assert_mean_is_below


def _leader(lead: Any, slots: int) -> list[set[int]]:
    """As it is written: the smallest set that is ahead of all others, found by growing it from each of its items."""
    left, found, placed = set(range(len(lead))), [], 0
    while placed < slots:
        smallest = set(left)
        for start in left:
            closed, grew = {start}, True
            while grew:
                more = {j for i in closed for j in left - closed if not lead[i, j] > 0}
                closed, grew = closed | more, bool(more)
            if len(closed) < len(smallest):
                smallest = closed
        found.append(smallest)
        placed += len(smallest)
        left -= smallest
    return [*found, left] if left else found


@pytest.mark.usefixtures("interpreting")
def test_the_leader_is_that_of_the_written_algorithm() -> None:
    rng = np.random.default_rng(1)
    sizes = set()
    for _ in range(150):
        started = get_policy("unirank").start(PolicyTask(3, 7, 100))
        merit = rng.permutation(7)
        lead = np.sign(merit[:, None] - merit[None, :]) * (rng.random((7, 7)) < 0.95)
        started.lead[:] = np.triu(lead) - np.triu(lead).T
        flips = rng.integers(7, size=(rng.integers(3), 2))
        for i, j in flips:
            started.lead[i, j], started.lead[j, i] = started.lead[j, i], started.lead[i, j]
        find_leader(started, 3)
        expected = _leader(started.lead, 3)
        found = [set(np.flatnonzero(started.subset == number).tolist()) for number in range(max(started.subset) + 1)]
        assert found == expected
        sizes.add(tuple(map(len, expected)))
    assert len(sizes) > 5


@pytest.mark.usefixtures("interpreting")
def test_it_shows_the_leader_or_a_merger_and_counts_within_subsets() -> None:
    started = get_policy("unirank").start(PolicyTask(3, 5, 1_000))
    rng, clicks = np.random.default_rng(2), np.zeros(3, bool)
    lead, decided = np.zeros((5, 5)), np.zeros((5, 5))
    for _ in range(300):
        ranking = choose(started, rng).copy()
        shown = started.shown_subset.copy()
        assert (np.diff(shown[ranking]) >= 0).all()
        apart = [set(np.flatnonzero(started.subset == n).tolist()) for n in range(6)]
        together = [set(np.flatnonzero(shown == n).tolist()) for n in range(6)]
        changed = [n for n in range(6) if apart[n] != together[n]]
        assert changed in ([], [n := changed[0], n + 1] if changed else [])
        draw_clicks(USERS, ranking, clicks, rng)
        learn_clicks(started, ranking, clicks)
        by_item = np.zeros(5)
        by_item[ranking] = clicks
        same = shown[:, None] == shown[None, :]
        lead += same * (by_item[:, None] - by_item[None, :])
        decided += same * np.abs(by_item[:, None] - by_item[None, :])
        assert np.array_equal(started.lead, lead)
        assert np.array_equal(started.decided, decided)


CASCADE = Cascade(slots=3, attraction=[0.3, 0.25, 0.2, 0.15, 0.1])


@pytest.mark.long
@pytest.mark.parametrize("users", [USERS, CASCADE], ids=["PBM", "CM"])
def test_regret_is_below_that_of_toprank_under_either_click_model(users: Any) -> None:
    run = simulate(users, ["toprank", "unirank"], rounds=ROUNDS, replications=4 * REPLICATIONS, seed=1)
    assert_mean_is_below(run["unirank"].final_regret, run["toprank"].final_regret)
