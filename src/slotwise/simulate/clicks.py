"""The loop for users who may click several times in a round: `slotwise.simulate.loop`, with all clicks told."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.choice.model import draw_clicks, first_click, reward
from slotwise.compiled import inlined, loop
from slotwise.policies.interface import choose, learn_clicks
from slotwise.simulate.loop import Trace
from slotwise.tally import count_round
from slotwise.typing import IntArray, Ranking


@loop
def advance_clicks(policy: Any, users: Any, rng: np.random.Generator, trace: Trace, rounds: int) -> bool:
    """Play `rounds` more rounds; False if the policy returned something that is not a ranking.

    The tally counts the first click of a round; the policy is told all of them.
    """
    total = trace.total_regret
    until_recorded = trace.record_at[trace.recorded]
    clicks = np.zeros(trace.clicks.shape[0], np.bool_)
    for now in range(trace.round + 1, trace.round + rounds + 1):
        ranking = choose(policy, rng)
        if not is_ranking(ranking, trace.clicks.shape[0], trace.shown, now):
            return False
        draw_clicks(users, ranking, clicks, rng)
        count_round(trace.clicks, trace.passes, ranking, first_click(clicks), False)
        total += trace.best_reward - reward(users, ranking)
        # last: the arrays are the policy's own, to do with as it likes from here on
        learn_clicks(policy, ranking, clicks)
        if now == until_recorded:
            trace.regret[trace.recorded] = total
            trace.recorded += 1
            if trace.recorded < len(trace.record_at):
                until_recorded = trace.record_at[trace.recorded]
    trace.round += rounds
    trace.total_regret = total
    return True


@inlined
def is_ranking(ranking: Ranking, slots: int, shown: IntArray, now: int) -> bool:
    """Whether these are distinct items, one a slot; `shown` has per item the last round that showed it."""
    if len(ranking) != slots:
        return False
    for item in ranking:
        if item < 0 or item >= len(shown) or shown[item] == now:
            return False
        shown[item] = now
    return True
