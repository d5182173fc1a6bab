"""The loop for users who may click several times in a round: `slotwise.simulation.loop`, with all clicks told."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.click_models.base import draw_clicks, first_click, reward
from slotwise.core.tally import count_round
from slotwise.jit import jit
from slotwise.policies.interface import choose, learn_clicks
from slotwise.simulation.loop import Trace, is_ranking, record_regret


@jit
def advance_clicks(policy: Any, users: Any, rng: np.random.Generator, trace: Trace, rounds: int) -> bool:
    """Play `rounds` more rounds; False if the policy returned something that is not a ranking.

    The tally counts the first click of a round; the policy is told all of them.
    """
    total = trace.total_regret
    until_recorded = trace.record_at[trace.recorded]
    clicks = np.zeros(trace.clicks.shape[0], np.bool_)
    for now in range(trace.round + 1, trace.round + rounds + 1):
        ranking = choose(policy, rng)
        if not is_ranking(ranking, trace.clicks.shape[0], trace.shown, now, False):
            return False
        draw_clicks(users, ranking, clicks, rng)
        count_round(trace.clicks, trace.passes, ranking, first_click(clicks), False)
        total += trace.best_reward - reward(users, ranking)
        # last: the arrays are the policy's own, to do with as it likes from here on
        learn_clicks(policy, ranking, clicks)
        if now == until_recorded:
            until_recorded = record_regret(trace, total)
    trace.round += rounds
    trace.total_regret = total
    return True
