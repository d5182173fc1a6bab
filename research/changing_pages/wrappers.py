"""Policies that wrap others: one that does not know the segment of a visitor, and one whose lists are counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import EMPTY, FloatArray, Ranking
from slotwise.jit import record
from slotwise.policies.interface import add_pending, choose, learn, remove_pending, update_from_tally
from slotwise.policies.policy_registry import parse


@record
class Untold:
    """A policy that takes all visitors for one segment: `set_segment` does not reach it."""

    policy: Any


def untold(policy: str) -> Callable[[PolicyTask], Untold]:
    """Return a factory for `simulate`: this policy with a single segment."""

    def make(task: PolicyTask) -> Untold:
        return Untold(policy=parse(policy).start(replace(task, segments=1)))

    make.__name__ = policy
    return make


@choose.register(Untold)
def _choose_untold(policy: Untold, rng: np.random.Generator) -> Ranking:
    return choose(policy.policy, rng)  # type: ignore[no-any-return]


@learn.register(Untold)
def _learn_untold(policy: Untold, ranking: Ranking, clicked: int) -> None:
    learn(policy.policy, ranking, clicked)


@record
class Watched:
    """A policy, and how often it showed each item in the first rounds."""

    policy: Any
    #: per item, and for how many more rounds it is counted
    shows: FloatArray
    left: int


def watched(policy: str, rounds: int, seen: list[FloatArray]) -> Callable[[PolicyTask], Watched]:
    """Return a factory for `simulate`: this policy, which appends its shows in the first `rounds` to `seen`."""

    def make(task: PolicyTask) -> Watched:
        shows = np.zeros(task.items)
        seen.append(shows)
        return Watched(policy=parse(policy).start(task), shows=shows, left=rounds)

    make.__name__ = policy
    return make


@choose.register(Watched)
def _choose_watched(policy: Watched, rng: np.random.Generator) -> Ranking:
    ranking = choose(policy.policy, rng)
    if policy.left > 0:
        policy.left -= 1
        for slot in range(len(ranking)):
            if ranking[slot] != EMPTY:
                policy.shows[ranking[slot]] += 1.0
    return ranking  # type: ignore[no-any-return]


@learn.register(Watched)
def _learn_watched(policy: Watched, ranking: Ranking, clicked: int) -> None:
    learn(policy.policy, ranking, clicked)


@add_pending.register(Watched)
def _expect_watched(policy: Watched, ranking: Ranking) -> None:
    add_pending(policy.policy, ranking)


@remove_pending.register(Watched)
def _settle_watched(policy: Watched, ranking: Ranking) -> None:
    remove_pending(policy.policy, ranking)


@update_from_tally.register(Watched)
def _absorb_watched(policy: Watched, clicks: FloatArray, passes: FloatArray) -> None:
    update_from_tally(policy.policy, clicks, passes)
