"""Simulated data to estimate from, with every ranking: shown at random, or by a policy that learns."""

from __future__ import annotations

import numpy as np

from slotwise.click_models import MNL, draw_many
from slotwise.click_models.base import draw
from slotwise.core.rankings import Rankings
from slotwise.core.types import IntArray
from slotwise.jit import jit
from slotwise.policies import PolicyTask
from slotwise.policies.interface import choose, learn
from slotwise.policies.policy_registry import parse


def at_random(users: MNL, rounds: int, rng: np.random.Generator) -> Rankings:
    """Return rounds of uniformly random rankings.

    >>> at_random(MNL(position_bias=[1.0], attractiveness=[0.5, 1.0]), 100, np.random.default_rng(0)).rounds
    100
    """
    shown = np.argsort(rng.random((rounds, users.items)), axis=1)[:, : users.slots]
    return Rankings.of_rounds(shown, draw_many(users, shown, rng), items=users.items)


def by_policy(users: MNL, policy: str, rounds: int, rng: np.random.Generator) -> Rankings:
    """Return rounds in which a registered policy, given by its id, chooses the rankings."""
    task = PolicyTask(users.slots, users.items, rounds, users.position_bias)
    shown, clicked = np.zeros((rounds, users.slots), np.int64), np.zeros(rounds, np.int64)
    _play(parse(policy).start(task), users, rng, shown, clicked)
    return Rankings.of_rounds(shown, clicked, items=users.items)


@jit
def _play(policy: object, users: object, rng: np.random.Generator, shown: IntArray, clicked: IntArray) -> None:
    for now in range(len(shown)):
        ranking = choose(policy, rng)
        shown[now, :] = ranking
        clicked[now] = draw(users, ranking, rng)
        learn(policy, ranking, clicked[now])
