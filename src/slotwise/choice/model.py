"""What a model of user choice answers; each model is a record that implements these.

`click_probabilities` is all that a model must implement. From it follow draws, rewards and, by trying all of them, best
rankings; a model that can have them faster implements `draw` and `reward` too, and has a method `best_ranking`. Its
users have `slots` and `items`, and a `position_bias` if there is one that policies may be told.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from slotwise import checks
from slotwise.compiled import generic
from slotwise.typing import NO_CLICK, FloatArray, Ranking


def _with_checked_ranking(users: Any, ranking: Any, *rest: Any) -> tuple[Any, ...]:
    empty = may_be_empty(users)
    return users, checks.ranking_of(ranking, slots=users.slots, items=users.items, may_be_empty=empty), *rest


@generic(prepare=_with_checked_ranking)
def click_probabilities(users: Any, ranking: Ranking) -> FloatArray:  # type: ignore[empty-body]
    """One probability per slot, then that of no click: `probabilities[NO_CLICK]`."""


def _draw(users: Any, ranking: Ranking, rng: np.random.Generator) -> int:
    probabilities = click_probabilities(users, ranking)
    left = rng.random()
    for slot in range(len(ranking)):
        left -= probabilities[slot]
        if left < 0.0:
            return slot
    return NO_CLICK


@generic(prepare=_with_checked_ranking, default=_draw)
def draw(users: Any, ranking: Ranking, rng: np.random.Generator) -> int:  # type: ignore[empty-body]
    """One user looks at `ranking`: the slot that is clicked, or NO_CLICK."""


def _reward(users: Any, ranking: Ranking) -> float:
    return 1.0 - click_probabilities(users, ranking)[len(ranking)]  # type: ignore[no-any-return]


@generic(prepare=_with_checked_ranking, default=_reward)
def reward(users: Any, ranking: Ranking) -> float:  # type: ignore[empty-body]
    """The probability that `ranking` gets a click, or what clicks on it are worth on average."""


@generic(default=lambda users: False)  # noqa: ARG005
def may_be_empty(users: Any) -> bool:  # type: ignore[empty-body]
    """Whether a slot may be left empty."""


@generic(default=lambda users, ranking: True)  # noqa: ARG005
def allowed(users: Any, ranking: Ranking) -> bool:  # type: ignore[empty-body]
    """Whether `ranking`, of distinct items, may be shown."""


def best_ranking(users: Any) -> Ranking:
    """A ranking of the highest reward: by the users' own method, or else by trying every one."""
    if hasattr(users, "best_ranking"):
        return users.best_ranking()  # type: ignore[no-any-return]
    return best_ranking_by_brute_force(users)


def best_ranking_by_brute_force(users: Any) -> Ranking:
    """The same by trying every ranking: J!/(J-K)! of them."""
    candidates = [np.array(ranking) for ranking in itertools.permutations(range(users.items), users.slots)]
    return max(candidates, key=lambda ranking: reward(users, ranking))


def regret(users: Any, ranking: Any) -> float:
    """How much reward `ranking` gives away against the best one."""
    return float(reward(users, best_ranking(users)) - reward(users, ranking))
