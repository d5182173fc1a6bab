"""Search for the best ranking: exhaustive if there are few rankings, by local search otherwise."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from slotwise.core.types import ClickModel, FloatArray, IntArray, Ranking

#: the maximum number of rankings for an exhaustive search
MAX_TRIED = 5_000
#: local searches that start from a random ranking
RANDOM_STARTS = 4
#: the minimum gain of a step, above rounding errors
GAIN = 1e-12

Reward = Callable[..., float]
#: the rewards of many rankings, one per row
Rewards = Callable[..., FloatArray]


def searched_ranking(
    reward: Reward, users: ClickModel, starts: Iterable[Ranking] = (), rewards: Rewards | None = None
) -> Ranking:
    """Return a ranking of the highest reward: of all if there are at most `MAX_TRIED`, a local maximum otherwise.

    The local search starts from each of `starts` and from random rankings. Its steps exchange two slots, or replace an
    item by one that is not shown, as long as that gains.

    Parameters
    ----------
    reward
        The reward of one ranking.
    users
        Users of any click model.
    starts
        Rankings to start from.
    rewards
        The rewards of many rankings, which makes the search faster.
    """
    if rewards is None:
        rewards = partial(_one_by_one, reward)
    if math.perm(users.items, users.slots) <= MAX_TRIED:
        return _best(rewards, users, np.array(list(itertools.permutations(range(users.items), users.slots))))
    rng = np.random.default_rng(0)
    at_random = (rng.permutation(users.items)[: users.slots] for _ in range(RANDOM_STARTS))
    tops = [_climb(rewards, users, np.array(start)) for start in itertools.chain(starts, at_random)]
    return _best(rewards, users, np.array(tops))


def _one_by_one(reward: Reward, users: ClickModel, rankings: IntArray) -> FloatArray:
    return np.array([reward(users, ranking) for ranking in rankings])


def _best(rewards: Rewards, users: ClickModel, rankings: IntArray) -> Ranking:
    best: Ranking = rankings[np.argmax(rewards(users, rankings))]
    return best


def _climb(rewards: Rewards, users: ClickModel, ranking: Ranking) -> Ranking:
    height = rewards(users, ranking[None])[0]
    while True:
        near = _neighbours(ranking, users.items)
        heights = rewards(users, near)
        if len(near) == 0 or heights.max() <= height + GAIN:
            return ranking
        ranking, height = near[np.argmax(heights)], heights.max()


def _neighbours(ranking: Ranking, items: int) -> IntArray:
    """Return a row per exchange of two slots, and per item that is not shown and slot for it."""
    slots, others = len(ranking), np.setdiff1d(np.arange(items), ranking)
    upper, lower = np.triu_indices(slots, 1)
    exchanged = np.tile(ranking, (len(upper), 1))
    rows = np.arange(len(upper))
    exchanged[rows, upper], exchanged[rows, lower] = ranking[lower], ranking[upper]
    replaced = np.tile(ranking, (len(others) * slots, 1))
    replaced[np.arange(len(replaced)), np.tile(np.arange(slots), len(others))] = np.repeat(others, slots)
    return np.concatenate([exchanged, replaced])
