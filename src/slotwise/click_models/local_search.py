"""The best ranking where no formula gives it: all of them tried if they are few, or else by climbing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from slotwise.core.types import FloatArray, IntArray, Ranking

#: up to so many rankings every one is tried
MAX_TRIED = 5_000
#: climbs that begin from a ranking at random, beside those from rankings that are given
RANDOM_STARTS = 4
#: a step must gain more than rounding does
GAIN = 1e-12

Reward = Callable[[Any, Ranking], float]
#: the rewards of many rankings, one a row
Rewards = Callable[[Any, IntArray], FloatArray]


def searched_ranking(
    reward: Reward, users: Any, starts: Iterable[Ranking] = (), rewards: Rewards | None = None
) -> Ranking:
    """A ranking of the highest reward if there are at most `MAX_TRIED`, and of one that looks like it otherwise.

    Then it climbs from each of `starts`, and from some at random: any two slots are exchanged, or any item for one that
    is not shown, whichever gains most, until nothing gains. That is a best ranking among its neighbours; whether it is
    among all is not known. `rewards` of many rankings at once make it faster.
    """
    if rewards is None:
        rewards = partial(_one_by_one, reward)
    if math.perm(users.items, users.slots) <= MAX_TRIED:
        return _best(rewards, users, np.array(list(itertools.permutations(range(users.items), users.slots))))
    rng = np.random.default_rng(0)
    at_random = (rng.permutation(users.items)[: users.slots] for _ in range(RANDOM_STARTS))
    tops = [_climb(rewards, users, np.array(start)) for start in itertools.chain(starts, at_random)]
    return _best(rewards, users, np.array(tops))


def _one_by_one(reward: Reward, users: Any, rankings: IntArray) -> FloatArray:
    return np.array([reward(users, ranking) for ranking in rankings])


def _best(rewards: Rewards, users: Any, rankings: IntArray) -> Ranking:
    best: Ranking = rankings[np.argmax(rewards(users, rankings))]
    return best


def _climb(rewards: Rewards, users: Any, ranking: Ranking) -> Ranking:
    height = rewards(users, ranking[None])[0]
    while True:
        near = _neighbours(ranking, users.items)
        heights = rewards(users, near)
        if len(near) == 0 or heights.max() <= height + GAIN:
            return ranking
        ranking, height = near[np.argmax(heights)], heights.max()


def _neighbours(ranking: Ranking, items: int) -> IntArray:
    """A row per exchange of two slots, and per item that is not shown and slot for it."""
    slots, others = len(ranking), np.setdiff1d(np.arange(items), ranking)
    one, other = np.triu_indices(slots, 1)
    exchanged = np.tile(ranking, (len(one), 1))
    rows = np.arange(len(one))
    exchanged[rows, one], exchanged[rows, other] = ranking[other], ranking[one]
    replaced = np.tile(ranking, (len(others) * slots, 1))
    replaced[np.arange(len(replaced)), np.tile(np.arange(slots), len(others))] = np.repeat(others, slots)
    return np.concatenate([exchanged, replaced])
