"""Epochs: show one ranking until a no-click, then learn from all of its clicks at once.

The device of Agrawal, Avadhanula, Goyal and Zeevi (2019) that makes an epoch's clicks on each slot geometric with mean
γ, around any policy that learns from whole epochs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import EMPTY, NO_CLICK, FloatArray, IntArray, Ranking
from slotwise.jit import record
from slotwise.policies.interface import (
    choose,
    end_epoch,
    holds_lists,
    impose_rules,
    learn,
    learn_epoch,
    learns_from,
    update_from_tally,
)


@record
class Epochs:
    """A policy that chooses once per epoch."""

    policy: Any
    #: the list of this epoch
    ranking: Ranking
    #: per slot, in this epoch
    clicks: IntArray
    running: bool


def in_epochs(policy: Any, task: PolicyTask) -> Epochs:
    """Let `policy` act in epochs."""
    return Epochs(
        policy=policy,
        ranking=np.zeros(task.slots, np.int64),
        clicks=np.zeros(task.slots, np.int64),
        running=False,
    )


@choose.register(Epochs)
def _choose(policy: Epochs, rng: np.random.Generator) -> Ranking:
    if not policy.running:
        chosen, ranking, clicks = choose(policy.policy, rng), policy.ranking, policy.clicks
        for slot in range(len(ranking)):
            ranking[slot] = chosen[slot]
            clicks[slot] = 0
        policy.running = True
    return policy.ranking


@learn.register(Epochs)
def _learn(policy: Epochs, ranking: Ranking, clicked: int) -> None:
    if clicked == NO_CLICK:
        learn_epoch(policy.policy, ranking, policy.clicks)
        policy.running = False
    else:
        policy.clicks[clicked] += 1


@update_from_tally.register(Epochs)
def _update_from_tally(policy: Epochs, clicks: FloatArray, passes: FloatArray) -> None:
    # each pass of a tally counts as the end of an epoch; the current list is kept unless all of its items were passed
    ended = policy.running
    for slot in range(len(policy.ranking)):
        item = policy.ranking[slot]
        if item != EMPTY and passes[slot, item] == 0.0:
            ended = False
    if ended:
        clicks = clicks.copy()
        for slot in range(len(policy.ranking)):
            if policy.ranking[slot] != EMPTY:
                clicks[slot, policy.ranking[slot]] += policy.clicks[slot]
        policy.running = False
    update_from_tally(policy.policy, clicks, passes)


@holds_lists.register(Epochs)
def _holds_lists(policy: Epochs) -> bool:  # noqa: ARG001
    return True


@learns_from.register(Epochs)
def _learns_from(policy: Epochs, ranking: Ranking) -> bool:
    same = policy.running
    for slot in range(len(ranking)):
        same = same and ranking[slot] == policy.ranking[slot]
    return same


@end_epoch.register(Epochs)
def _end_epoch(policy: Epochs) -> None:
    policy.running = False


@impose_rules.register(Epochs)
def _impose_rules(policy: Epochs, values: FloatArray, excluded: IntArray, pin: IntArray) -> None:
    impose_rules(policy.policy, values, excluded, pin)
