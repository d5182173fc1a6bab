"""The one loop: choose, show, click or not, learn. Compiled once per pair of policy and model."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.click_models.base import allowed, draw, may_be_empty, reward
from slotwise.core.tally import count_round
from slotwise.core.types import EMPTY, FloatArray, IntArray, Ranking
from slotwise.jit import inlined, jit, record
from slotwise.policies.interface import choose, learn


@record
class Trace:
    """What one replication keeps: its tally, and its cumulative regret at chosen rounds."""

    #: rounds played so far
    round: int
    #: the reward of the best ranking
    best_reward: float
    #: cumulative regret so far
    total_regret: float
    #: the rounds at which to record, how many are recorded, and the cumulative regret there
    record_at: IntArray
    recorded: int
    regret: FloatArray
    clicks: IntArray
    passes: IntArray
    #: per item: the last round that showed it
    shown: IntArray


def trace(slots: int, items: int, best_reward: float, record_at: IntArray) -> Trace:
    """An empty trace."""
    return Trace(
        round=0,
        best_reward=best_reward,
        total_regret=0.0,
        record_at=record_at,
        recorded=0,
        regret=np.zeros(len(record_at)),
        clicks=np.zeros((slots, items), np.int64),
        passes=np.zeros((slots, items), np.int64),
        shown=np.zeros(items, np.int64),
    )


@inlined
def is_ranking(ranking: Ranking, slots: int, shown: IntArray, now: int, empty: bool) -> bool:
    """Whether these are distinct items, one a slot; `shown` has per item the last round that showed it."""
    if len(ranking) != slots:
        return False
    for slot in range(slots):
        item = ranking[slot]
        if empty and item == EMPTY:
            continue
        if item < 0 or item >= len(shown) or shown[item] == now:
            return False
        shown[item] = now
    return True


@inlined
def record_regret(trace: Trace, total: float) -> int:
    """Put down what was lost until now; the round in which it is to be done next, 0 if it is not."""
    trace.regret[trace.recorded] = total
    trace.recorded += 1
    return trace.record_at[trace.recorded] if trace.recorded < len(trace.record_at) else 0


@jit
def advance(policy: Any, users: Any, rng: np.random.Generator, trace: Trace, rounds: int) -> bool:
    """Play `rounds` more rounds; False if the policy returned something that is not a ranking, or not allowed."""
    clicks, passes, shown = trace.clicks, trace.passes, trace.shown
    slots = len(clicks)
    # known to the compiler, and nothing is spent on empty slots, unless users are judged by a goal
    empty = may_be_empty(users)
    total = trace.total_regret
    until_recorded = trace.record_at[trace.recorded]
    for now in range(trace.round + 1, trace.round + rounds + 1):
        ranking = choose(policy, rng)
        if not is_ranking(ranking, slots, shown, now, empty) or not allowed(users, ranking):
            return False
        clicked = draw(users, ranking, rng)
        count_round(clicks, passes, ranking, clicked, empty)
        total += trace.best_reward - reward(users, ranking)
        # last: the array is the policy's own, to do with as it likes from here on
        learn(policy, ranking, clicked)
        if now == until_recorded:
            until_recorded = record_regret(trace, total)
    trace.round += rounds
    trace.total_regret = total
    return True
