"""The best ranking where no formula gives it: all of them tried if they are few, or else by climbing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from slotwise.typing import Ranking

#: up to so many rankings every one is tried
MOST_TRIED = 5_000
#: climbs that begin from a ranking at random, beside those from rankings that are given
RANDOM_STARTS = 4
#: a step must gain more than rounding does
GAIN = 1e-12

Reward = Callable[[Any, Ranking], float]


def searched_ranking(reward: Reward, users: Any, starts: Iterable[Ranking] = ()) -> Ranking:
    """A ranking of the highest reward if there are at most `MOST_TRIED`, and of one that looks like it otherwise.

    Then it climbs from each of `starts`, and from some at random: any two slots are exchanged, or any item for one that
    is not shown, whichever gains most, until nothing gains. That is a best ranking among its neighbours; whether it is
    among all is not known.
    """
    if math.perm(users.items, users.slots) <= MOST_TRIED:
        every = (np.array(ranking) for ranking in itertools.permutations(range(users.items), users.slots))
        return max(every, key=lambda ranking: reward(users, ranking))
    rng = np.random.default_rng(0)
    at_random = (rng.permutation(users.items)[: users.slots] for _ in range(RANDOM_STARTS))
    tops = (_climb(reward, users, np.array(start)) for start in itertools.chain(starts, at_random))
    return max(tops, key=lambda ranking: reward(users, ranking))


def _climb(reward: Reward, users: Any, ranking: Ranking) -> Ranking:
    height = reward(users, ranking)
    while True:
        best = max(_neighbours(ranking, users.items), key=lambda near: reward(users, near))
        if reward(users, best) <= height + GAIN:
            return ranking
        ranking, height = best, reward(users, best)


def _neighbours(ranking: Ranking, items: int) -> Iterator[Ranking]:
    for one, other in itertools.combinations(range(len(ranking)), 2):
        near = ranking.copy()
        near[[one, other]] = ranking[[other, one]]
        yield near
    for item in np.setdiff1d(np.arange(items), ranking):
        for slot in range(len(ranking)):
            near = ranking.copy()
            near[slot] = item
            yield near
