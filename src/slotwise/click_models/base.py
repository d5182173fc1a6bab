"""The functions of a click model; each model is a record that implements them.

A model of users who click at most once must implement `click_probabilities`. Draws, rewards and, by a search, best
rankings follow from it. A model with faster ones implements `draw` and `reward` too, and has a method `best_ranking`.
Its users have `slots` and `items`, and a `position_bias` if the model has one.

A model of users who may click several times in a round implements `draw_clicks`, `click_rates` and `probability_of`
too; its `click_probabilities` are those of the first click. Users look from the first slot on, so that the first click
is the uppermost. Code that takes one outcome per round (`draw`, the tally, a policy without `learn_clicks`) takes the
first click.

The reward of a ranking, the unit of regret, is the expected number of clicks in a round. For users who click at most
once that is the probability of a click.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import ArrayLike

from slotwise.click_models.local_search import searched_ranking
from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.types import NO_CLICK, BoolArray, ClickModel, FloatArray, Ranking
from slotwise.jit import generic, inlined


def _with_checked_ranking(users: ClickModel, ranking: object, *others: object) -> tuple[object, ...]:
    empty = may_be_empty(users)
    return users, validation.ranking_of(ranking, slots=users.slots, items=users.items, may_be_empty=empty), *others


@generic(prepare=_with_checked_ranking)
def click_probabilities(users: ClickModel, ranking: Ranking) -> FloatArray:  # type: ignore[empty-body]
    """Return the probabilities of the first click.

    Parameters
    ----------
    users
        The users of a click model.
    ranking
        An item per slot.

    Returns
    -------
    array of float
        Per slot the probability that it is clicked first, then that of no click: `probabilities[NO_CLICK]`.
    """


def _draw(users: ClickModel, ranking: Ranking, rng: np.random.Generator) -> int:
    probabilities = click_probabilities(users, ranking)
    left = rng.random()
    for slot in range(len(ranking)):
        left -= probabilities[slot]
        if left < 0.0:
            return slot
    return NO_CLICK


@generic(prepare=_with_checked_ranking, default=_draw)
def draw(users: ClickModel, ranking: Ranking, rng: np.random.Generator) -> int:  # type: ignore[empty-body]
    """Draw the outcome of one round.

    Parameters
    ----------
    users
        The users of a click model.
    ranking
        An item per slot.
    rng
        The source of randomness.

    Returns
    -------
    int
        The slot that is clicked first, from 0, or NO_CLICK.
    """


def _draw_one(users: ClickModel, ranking: Ranking, clicks: BoolArray, rng: np.random.Generator) -> None:
    mark_one_click(clicks, draw(users, ranking, rng))


@generic(prepare=_with_checked_ranking, default=_draw_one)
def draw_clicks(users: ClickModel, ranking: Ranking, clicks: BoolArray, rng: np.random.Generator) -> None:
    """Draw all clicks of one round.

    Parameters
    ----------
    users
        The users of a click model.
    ranking
        An item per slot.
    clicks
        Filled, per slot, with whether it is clicked.
    rng
        The source of randomness.
    """


def _rates_of_one(users: ClickModel, ranking: Ranking) -> FloatArray:
    return click_probabilities(users, ranking)[: len(ranking)]  # type: ignore[no-any-return]


@generic(prepare=_with_checked_ranking, default=_rates_of_one)
def click_rates(users: ClickModel, ranking: Ranking) -> FloatArray:  # type: ignore[empty-body]
    """Return per slot the probability that it is clicked.

    Parameters
    ----------
    users
        The users of a click model.
    ranking
        An item per slot.

    Returns
    -------
    array of float
        Probabilities, per slot; they can sum to more than 1 if users click several times.
    """


def _probability_of_one(users: ClickModel, ranking: Ranking, clicks: BoolArray) -> float:
    count = 0
    for clicked in clicks:
        count += int(clicked)
    return 0.0 if count > 1 else click_probabilities(users, ranking)[first_click(clicks)]


def _with_checked_clicks(users: ClickModel, ranking: object, clicks: object) -> tuple[object, ...]:
    marked = np.asarray(clicks)
    if marked.shape != (users.slots,) or marked.dtype != np.bool_:
        raise InvalidInput(f"clicks must be True or False for each of the {users.slots} slots, got {clicks!r}")
    return *_with_checked_ranking(users, ranking), marked


@generic(prepare=_with_checked_clicks, default=_probability_of_one)
def probability_of(users: ClickModel, ranking: Ranking, clicks: BoolArray) -> float:  # type: ignore[empty-body]
    """Return the probability of exactly these clicks: all slots that are True in `clicks`, and no other.

    Parameters
    ----------
    users
        The users of a click model.
    ranking
        An item per slot.
    clicks
        Per slot, whether it is clicked.
    """


def _reward(users: ClickModel, ranking: Ranking) -> float:
    return click_rates(users, ranking).sum()  # type: ignore[no-any-return]


@generic(prepare=_with_checked_ranking, default=_reward)
def reward(users: ClickModel, ranking: Ranking) -> float:  # type: ignore[empty-body]
    """Return the expected number of clicks on `ranking`, or their expected value.

    Parameters
    ----------
    users
        The users of a click model.
    ranking
        An item per slot.
    """


def may_click_several(users: ClickModel) -> bool:
    """Return whether a round can have several clicks: whether the model implements `draw_clicks`.

    Parameters
    ----------
    users
        The users of a click model.
    """
    return draw_clicks.is_answered_by(users)


@inlined
def first_click(clicks: BoolArray) -> int:
    """Return the uppermost slot that was clicked, or NO_CLICK.

    Parameters
    ----------
    clicks
        Per slot, whether it is clicked.

    Examples
    --------
    >>> first_click(np.array([False, True, True]))
    1
    """
    for slot in range(len(clicks)):
        if clicks[slot]:
            return slot
    return NO_CLICK


def sorted_ranking(position_bias: FloatArray, attractiveness: FloatArray) -> Ranking:
    """Return the k-th most attractive item in the slot of the k-th largest bias; of equals the first comes first.

    >>> sorted_ranking(np.array([0.5, 1.0]), np.array([0.2, 0.4, 0.1])).tolist()
    [0, 1]
    """
    ranking = np.empty(len(position_bias), np.int64)
    best_items = np.argsort(-attractiveness, kind="stable")[: len(position_bias)]
    ranking[np.argsort(-position_bias, kind="stable")] = best_items
    return ranking


@inlined
def mark_one_click(clicks: BoolArray, clicked: int) -> None:
    """Fill `clicks` with one click on slot `clicked`, or with none if it is NO_CLICK."""
    for slot in range(len(clicks)):
        clicks[slot] = slot == clicked


@inlined
def law_of_first_click(chances: FloatArray) -> FloatArray:
    """Return `click_probabilities` from the probability of a click on each slot given no click above it."""
    slots = len(chances)
    law, none_yet = np.empty(slots + 1), 1.0
    for slot in range(slots):
        law[slot] = none_yet * chances[slot]
        none_yet *= 1.0 - chances[slot]
    law[slots] = none_yet
    return law


@generic(default=lambda users: False)  # noqa: ARG005
def may_be_empty(users: ClickModel) -> bool:  # type: ignore[empty-body]
    """Return whether a slot may stay empty."""


@generic(default=lambda users, ranking: True)  # noqa: ARG005
def allowed(users: ClickModel, ranking: Ranking) -> bool:  # type: ignore[empty-body]
    """Return whether `ranking`, of distinct items, may be shown."""


def best_ranking(users: ClickModel) -> Ranking:
    """Return a ranking of the highest reward: by the model's own method, or by `searched_ranking`.

    Parameters
    ----------
    users
        The users of a click model.
    """
    if hasattr(users, "best_ranking"):
        return users.best_ranking()  # type: ignore[no-any-return]
    return searched_ranking(reward, users)


def best_ranking_by_brute_force(users: ClickModel) -> Ranking:
    """Return a ranking of the highest reward by trying all J!/(J-K)! rankings.

    Parameters
    ----------
    users
        The users of a click model with few items: J is the number of items, K that of slots.
    """
    candidates = [np.array(ranking) for ranking in itertools.permutations(range(users.items), users.slots)]
    return max(candidates, key=lambda ranking: reward(users, ranking))


def regret(users: ClickModel, ranking: ArrayLike) -> float:
    """Return the reward of the best ranking less that of `ranking`.

    Parameters
    ----------
    users
        The users of a click model.
    ranking
        An item per slot.

    Returns
    -------
    float
        At least 0, in clicks per round.
    """
    return float(reward(users, best_ranking(users)) - reward(users, ranking))
