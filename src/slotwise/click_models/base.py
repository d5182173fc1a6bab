"""What a model of user choice answers; each model is a record that implements these.

Users who click at most once: `click_probabilities` is all that a model must implement. From it follow draws, rewards
and, by searching, best rankings; a model that can have them faster implements `draw` and `reward` too, and has a method
`best_ranking`. Its users have `slots` and `items`, and a `position_bias` if there is one that policies may be told.

Users who may click several times in a round: `click_probabilities` is the law of their first click, and beside it a
model implements `draw_clicks`, `click_rates` and `probability_of`. Users look from the first slot on, so that the first
click is the uppermost. Whoever takes one outcome a round (`draw`, the tally, a policy without `learn_clicks`) takes the
first click.

The reward of a ranking, which regret is counted in, is for all models the expected number of clicks in a round. Of
users who click at most once that is the probability of a click.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from slotwise.click_models.local_search import searched_ranking
from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.types import NO_CLICK, BoolArray, FloatArray, Ranking
from slotwise.jit import generic, inlined


def _with_checked_ranking(users: Any, ranking: Any, *rest: Any) -> tuple[Any, ...]:
    empty = may_be_empty(users)
    return users, validation.ranking_of(ranking, slots=users.slots, items=users.items, may_be_empty=empty), *rest


@generic(prepare=_with_checked_ranking)
def click_probabilities(users: Any, ranking: Ranking) -> FloatArray:  # type: ignore[empty-body]
    """Per slot the probability that it is clicked first, then that of no click: `probabilities[NO_CLICK]`."""


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
    """One user looks at `ranking`: the slot that is clicked first, or NO_CLICK."""


def _draw_one(users: Any, ranking: Ranking, clicks: BoolArray, rng: np.random.Generator) -> None:
    mark_one_click(clicks, draw(users, ranking, rng))


@generic(prepare=_with_checked_ranking, default=_draw_one)
def draw_clicks(users: Any, ranking: Ranking, clicks: BoolArray, rng: np.random.Generator) -> None:
    """One user looks at `ranking`: fill `clicks`, per slot, with whether it is clicked."""


def _rates_of_one(users: Any, ranking: Ranking) -> FloatArray:
    return click_probabilities(users, ranking)[: len(ranking)]  # type: ignore[no-any-return]


@generic(prepare=_with_checked_ranking, default=_rates_of_one)
def click_rates(users: Any, ranking: Ranking) -> FloatArray:  # type: ignore[empty-body]
    """Per slot the probability that it is clicked, whatever else is."""


def _probability_of_one(users: Any, ranking: Ranking, clicks: BoolArray) -> float:
    count = 0
    for clicked in clicks:
        count += int(clicked)
    return 0.0 if count > 1 else click_probabilities(users, ranking)[first_click(clicks)]


def _with_checked_clicks(users: Any, ranking: Any, clicks: Any) -> tuple[Any, ...]:
    marked = np.asarray(clicks)
    if marked.shape != (users.slots,) or marked.dtype != np.bool_:
        raise InvalidInput(f"clicks must be True or False for each of the {users.slots} slots, got {clicks!r}")
    return *_with_checked_ranking(users, ranking), marked


@generic(prepare=_with_checked_clicks, default=_probability_of_one)
def probability_of(users: Any, ranking: Ranking, clicks: BoolArray) -> float:  # type: ignore[empty-body]
    """The probability of exactly these clicks: all slots that are True in `clicks`, and no other."""


def _reward(users: Any, ranking: Ranking) -> float:
    return click_rates(users, ranking).sum()  # type: ignore[no-any-return]


@generic(prepare=_with_checked_ranking, default=_reward)
def reward(users: Any, ranking: Ranking) -> float:  # type: ignore[empty-body]
    """The expected number of clicks on `ranking`, or what they are worth on average."""


def may_click_several(users: Any) -> bool:
    """Whether there can be more than one click in a round: where users answer `draw_clicks` themselves."""
    return draw_clicks.is_answered_by(users)


@inlined
def first_click(clicks: BoolArray) -> int:
    """The uppermost slot that was clicked, or NO_CLICK.

    >>> first_click(np.array([False, True, True]))
    1
    """
    for slot in range(len(clicks)):
        if clicks[slot]:
            return slot
    return NO_CLICK


def sorted_ranking(position_bias: FloatArray, attractiveness: FloatArray) -> Ranking:
    """The k-th most attractive item in the slot of the k-th largest bias; of equals the first comes first.

    >>> sorted_ranking(np.array([0.5, 1.0]), np.array([0.2, 0.4, 0.1])).tolist()
    [0, 1]
    """
    ranking = np.empty(len(position_bias), np.int64)
    best_items = np.argsort(-attractiveness, kind="stable")[: len(position_bias)]
    ranking[np.argsort(-position_bias, kind="stable")] = best_items
    return ranking


@inlined
def mark_one_click(clicks: BoolArray, clicked: int) -> None:
    """Fill `clicks` with a click on slot `clicked` alone, or with none if that is NO_CLICK."""
    for slot in range(len(clicks)):
        clicks[slot] = slot == clicked


@inlined
def law_of_first_click(chances: FloatArray) -> FloatArray:
    """`click_probabilities` from the chance of a click on each slot while there was none above it."""
    slots = len(chances)
    law, none_yet = np.empty(slots + 1), 1.0
    for slot in range(slots):
        law[slot] = none_yet * chances[slot]
        none_yet *= 1.0 - chances[slot]
    law[slots] = none_yet
    return law


@generic(default=lambda users: False)  # noqa: ARG005
def may_be_empty(users: Any) -> bool:  # type: ignore[empty-body]
    """Whether a slot may be left empty."""


@generic(default=lambda users, ranking: True)  # noqa: ARG005
def allowed(users: Any, ranking: Ranking) -> bool:  # type: ignore[empty-body]
    """Whether `ranking`, of distinct items, may be shown."""


def best_ranking(users: Any) -> Ranking:
    """A ranking of the highest reward: by the users' own method, or else by `searched_ranking`."""
    if hasattr(users, "best_ranking"):
        return users.best_ranking()  # type: ignore[no-any-return]
    return searched_ranking(reward, users)


def best_ranking_by_brute_force(users: Any) -> Ranking:
    """The same by trying every ranking: J!/(J-K)! of them."""
    candidates = [np.array(ranking) for ranking in itertools.permutations(range(users.items), users.slots)]
    return max(candidates, key=lambda ranking: reward(users, ranking))


def regret(users: Any, ranking: Any) -> float:
    """How much reward `ranking` gives away against the best one."""
    return float(reward(users, best_ranking(users)) - reward(users, ranking))
