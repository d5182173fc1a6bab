"""Conformance checks of a policy: valid rankings, any outcome, repeatability, and tallies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from slotwise.click_models import MNL, draw
from slotwise.core.errors import InvalidInput, InvalidRanking
from slotwise.core.policy_task import PolicyTask
from slotwise.core.tally import Tally
from slotwise.core.types import NO_CLICK, Ranking
from slotwise.core.validation import ranking_of
from slotwise.jit import interpreted
from slotwise.policies import PolicySpec, choose, learn, update_from_tally
from slotwise.policies.policy_registry import parse

#: slots and items: more items than slots, as many, and one slot
PAGES = ((3, 6), (4, 4), (1, 5), (1, 1))
ROUNDS = 120
#: outcomes that simulated visitors rarely give: never a click, always the first slot, always the last
HABITS = (NO_CLICK, 0, 1)

#: a registered policy, its id, or a function of a `PolicyTask` that returns an object with `choose` and `learn`
PolicyLike = str | PolicySpec | Callable[[PolicyTask], Any]


def check_policy(policy: PolicyLike) -> None:
    """Check that a policy can be simulated, and started from a tally if it does not declare that it cannot.

    Parameters
    ----------
    policy
        A registered policy or its id, with options as in "id:option=value", or a class that takes a `PolicyTask` and
        has the methods `choose(rng)` and `learn(ranking, clicked)`.

    Raises
    ------
    AssertionError
        If a requirement is not met; the message names it.

    Examples
    --------
    >>> class Random:
    ...     def __init__(self, task):
    ...         self.task = task
    ...
    ...     def choose(self, rng):
    ...         return rng.permutation(self.task.items)[: self.task.slots]
    ...
    ...     def learn(self, ranking, clicked):
    ...         pass
    >>> check_policy(Random)
    >>> class Stubborn(Random):
    ...     def choose(self, rng):
    ...         return [0] * self.task.slots
    >>> check_policy(Stubborn)
    Traceback (most recent call last):
    AssertionError: Stubborn must choose 3 distinct items out of 0 to 5, got [0, 0, 0] in round 1
    """
    chosen = parse(policy) if isinstance(policy, str) else policy
    with interpreted():
        for slots, items in PAGES:
            _check_rankings(chosen, slots, items)
        for outcome in HABITS:
            _check_habit(chosen, outcome)
        _check_repeatability(chosen)
        if isinstance(chosen, PolicySpec) and "tally" not in chosen.limits:
            _check_tally(chosen)


def _name(policy: PolicySpec | Callable[[PolicyTask], Any]) -> str:
    return str(policy) if isinstance(policy, PolicySpec) else getattr(policy, "__name__", repr(policy))


def _users(slots: int, items: int) -> MNL:
    return MNL(position_bias=np.linspace(1.0, 0.3, slots), attractiveness=np.linspace(0.1, 0.9, items))


def _start(policy: PolicySpec | Callable[[PolicyTask], Any], slots: int, items: int) -> Any:
    task = PolicyTask(slots, items, ROUNDS, _users(slots, items).position_bias)
    return policy.start(task) if isinstance(policy, PolicySpec) else policy(task)


def _choice(policy: Any, started: Any, slots: int, items: int, round: int, rng: np.random.Generator) -> Ranking:
    ranking = choose(started, rng)
    try:
        return ranking_of(ranking, slots=slots, items=items).copy()
    except (InvalidInput, InvalidRanking):
        shown = ranking.tolist() if isinstance(ranking, np.ndarray) else ranking
        raise AssertionError(
            f"{_name(policy)} must choose {slots} distinct items out of 0 to {items - 1}, got {shown} in round {round}"
        ) from None


def _check_rankings(policy: Any, slots: int, items: int) -> None:
    users, rng, started = _users(slots, items), np.random.default_rng(1), _start(policy, slots, items)
    for round in range(1, ROUNDS + 1):
        ranking = _choice(policy, started, slots, items, round, rng)
        learn(started, ranking, draw(users, ranking, rng))


def _check_habit(policy: Any, outcome: int) -> None:
    """Visitors who nearly always do the same; every seventh does not click."""
    rng, started = np.random.default_rng(2), _start(policy, 2, 4)
    for round in range(1, ROUNDS + 1):
        ranking = _choice(policy, started, 2, 4, round, rng)
        learn(started, ranking, NO_CLICK if round % 7 == 0 else outcome)


def _check_repeatability(policy: Any) -> None:
    """The generator is the only source of randomness."""
    users, histories = _users(3, 6), []
    for _ in range(2):
        rng, started, history = np.random.default_rng(3), _start(policy, 3, 6), []
        for round in range(1, ROUNDS + 1):
            ranking = _choice(policy, started, 3, 6, round, rng)
            history.append(ranking.tolist())
            learn(started, ranking, draw(users, ranking, rng))
        histories.append(history)
    assert histories[0] == histories[1], f"{_name(policy)} must choose the same rankings for the same seed"


def _check_tally(policy: PolicySpec) -> None:
    """Counts may come as a tally, at the start and later."""
    users, rng, tally = _users(3, 6), np.random.default_rng(4), Tally.empty(3, 6)
    for _ in range(ROUNDS):
        ranking = rng.permutation(6)[:3]
        tally.count(ranking, draw(users, ranking, rng))
    try:
        started = policy.start(PolicyTask(3, 6, ROUNDS, users.position_bias), tally)
        update_from_tally(started, tally.clicks, tally.passes)
    except InvalidInput as reason:
        raise AssertionError(f"{policy} must update from a tally, or declare the limit 'tally': {reason}") from None
    for round in range(1, ROUNDS + 1):
        ranking = _choice(policy, started, 3, 6, round, rng)
        learn(started, ranking, draw(users, ranking, rng))
