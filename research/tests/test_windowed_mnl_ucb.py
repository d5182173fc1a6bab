from __future__ import annotations

import numpy as np
import pytest

from slotwise import NO_CLICK, PolicyTask, get_policy
from slotwise.core.errors import InvalidInput
from slotwise.policies import choose, learn

pytestmark = pytest.mark.usefixtures("interpreting")


def test_bounds_are_of_the_last_epochs() -> None:
    started = get_policy("windowed-mnl-ucb-like", window=12).start(PolicyTask(2, 4, 500))
    rng, history = np.random.default_rng(1), list[tuple[list[int], list[int]]]()
    for _ in range(200):
        ranking = choose(started, rng).copy()
        clicks, passes = np.zeros(4), np.zeros(4)
        for shown, counted in history[-12:]:
            clicks[shown] += counted
            passes[shown] += 1
        if passes.min() > 0:
            mean, c = clicks / passes, np.log(np.sqrt(4) * (min(12, len(history)) + 1) + 1)
            index = mean + np.sqrt(48 * mean * c / passes) + 48 * c / passes
            assert started.policy.index == pytest.approx(index)
            assert index[ranking] == pytest.approx(np.sort(index)[::-1][:2])
        else:
            assert set(np.flatnonzero(passes == 0)[:2]) & set(ranking.tolist())
        counted = rng.integers(0, 3, 2).tolist()
        for slot, times in enumerate(counted):
            for _ in range(times):
                learn(started, ranking, slot)
        learn(started, ranking, NO_CLICK)
        history.append((ranking.tolist(), counted))
    assert started.policy.passes.sum() == 24


def test_the_window_has_the_order_of_the_papers_regret_by_default() -> None:
    assert get_policy("windowed-mnl-ucb-like").start(PolicyTask(2, 8, 1_000)).policy.window == 200
    with pytest.raises(InvalidInput, match="window must be"):
        get_policy("windowed-mnl-ucb-like", window=0).start(PolicyTask(2, 8, 1_000))
