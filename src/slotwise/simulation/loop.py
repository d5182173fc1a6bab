"""The loop of an environment that never changes: choose, show, click or not, learn. Compiled per policy and model."""

from __future__ import annotations

import numpy as np

from slotwise.click_models.base import (
    allowed,
    draw,
    draw_clicks,
    first_click,
    may_be_empty,
    may_click_several,
    reward,
)
from slotwise.core.tally import count_round
from slotwise.core.types import EMPTY, BoolArray, ClickModel, FloatArray, IntArray, Ranking
from slotwise.jit import generic, inlined, loop, record
from slotwise.policies.interface import choose, learn, learn_clicks


@record
class Trace:
    """The record of one replication: its tally, and its cumulative regret at some rounds."""

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
    """Return an empty trace."""
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
    """Whether `ranking` has one distinct item per slot; `shown` has the last round of each item."""
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
    """Record the cumulative regret; return the next round to record at, or 0 after the last."""
    trace.regret[trace.recorded] = total
    trace.recorded += 1
    return trace.record_at[trace.recorded] if trace.recorded < len(trace.record_at) else 0


@record
class SingleClick:
    """The outcome of a round of users who click at most once."""

    slots: int


@record
class SeveralClicks:
    """The outcome of a round of users who may click several slots: per slot, whether it was clicked."""

    clicks: BoolArray


def outcome_of(users: ClickModel) -> SingleClick | SeveralClicks:
    """Return the record of one round's outcome: its type selects how users click and policies learn."""
    if may_click_several(users):
        return SeveralClicks(clicks=np.zeros(users.slots, np.bool_))
    return SingleClick(slots=users.slots)


@generic()
def draw_outcome(outcome: object, users: object, ranking: Ranking, rng: np.random.Generator) -> int:  # type: ignore[empty-body]
    """Let one user look at `ranking`; return the first slot that is clicked, or NO_CLICK."""


@draw_outcome.register(SingleClick)
def _draw_outcome(outcome: SingleClick, users: object, ranking: Ranking, rng: np.random.Generator) -> int:  # noqa: ARG001
    return draw(users, ranking, rng)  # type: ignore[no-any-return]


@draw_outcome.register(SeveralClicks)
def _draw_several(outcome: SeveralClicks, users: object, ranking: Ranking, rng: np.random.Generator) -> int:
    draw_clicks(users, ranking, outcome.clicks, rng)
    return first_click(outcome.clicks)


@generic()
def teach(outcome: object, policy: object, ranking: Ranking, clicked: int) -> None:
    """Let a policy learn the outcome: the click, or all of several clicks."""


@teach.register(SingleClick)
def _teach(outcome: SingleClick, policy: object, ranking: Ranking, clicked: int) -> None:  # noqa: ARG001
    learn(policy, ranking, clicked)


@teach.register(SeveralClicks)
def _teach_several(outcome: SeveralClicks, policy: object, ranking: Ranking, clicked: int) -> None:  # noqa: ARG001
    learn_clicks(policy, ranking, outcome.clicks)


@loop
def advance(
    policy: object, users: object, rng: np.random.Generator, outcome: object, trace: Trace, rounds: int
) -> bool:
    """Play `rounds` more rounds; return False if the policy returned something that is not a ranking, or not allowed.

    The tally counts the first click of a round.
    """
    clicks, passes, shown = trace.clicks, trace.passes, trace.shown
    slots = len(clicks)
    # a constant for the compiler: empty slots cost nothing unless there is a goal
    empty = may_be_empty(users)
    total = trace.total_regret
    until_recorded = trace.record_at[trace.recorded]
    for now in range(trace.round + 1, trace.round + rounds + 1):
        ranking = choose(policy, rng)
        if not is_ranking(ranking, slots, shown, now, empty) or not allowed(users, ranking):
            return False
        clicked = draw_outcome(outcome, users, ranking, rng)
        count_round(clicks, passes, ranking, clicked, empty)
        total += trace.best_reward - reward(users, ranking)
        # last, because learning may change the policy's own array
        teach(outcome, policy, ranking, clicked)
        if now == until_recorded:
            until_recorded = record_regret(trace, total)
    trace.round += rounds
    trace.total_regret = total
    return True
