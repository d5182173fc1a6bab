"""Problems: the three of Grant and Leslie, §6, eight further ones, a shop, other users, and files."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from slotwise.click_models import MNL, Cascade, DependentClick, PositionBased, UserBrowsing, mixture
from slotwise.core.errors import InvalidInput, UnknownName
from slotwise.environments.dynamics import Churn, Cycle, Delay, Segment, Walk
from slotwise.environments.problem_file import read_problem
from slotwise.environments.world import World
from slotwise.optimize import Goal

REPLICATIONS = 40


@dataclass(frozen=True)
class Problem:
    """An environment, the number of rounds to simulate, and a goal if it is not clicks.

    Parameters
    ----------
    id
        The name of the problem.
    users
        The users of a click model, or a `World`.
    rounds
        The number of rounds to simulate.
    goal
        Values and constraints; None for clicks.
    """

    id: str
    users: Any
    rounds: int
    goal: Goal | None = None


def paper_problems() -> dict[str, Problem]:
    """Return the problems (a), (b) and (c) of the paper."""
    return {
        "a": Problem(
            "a",
            MNL(position_bias=[1.0, 0.3, 0.2, 0.1], attractiveness=[0.3, 0.28, 0.26, 0.24, 0.22, 0.2]),
            rounds=50_000,
        ),
        "b": Problem(
            "b",
            MNL(position_bias=[1.0, 0.2, 0.9], attractiveness=[0.05, 0.1, 0.15, 0.2]),
            rounds=50_000,
        ),
        "c": Problem(
            "c",
            MNL(
                position_bias=[1.0, 0.9, 0.7, 0.3, 0.5, 0.7],
                attractiveness=[1.0] * 4 + [0.8] * 2 + [0.1] * 24,
            ),
            rounds=8_000,
        ),
    }


def further_problems() -> dict[str, Problem]:
    """Return the problems (d) to (k), on which policies are compared and never tuned.

    (d) many items, few good; (e) a long list; (f) a single slot; (g) as many slots as items, so that only the order
    counts; (h) rare clicks; (i) clicks in nearly every round; (j) similar slots, not in order; (k) one star item.
    """
    ranks = np.arange(1, 101)
    sizes: list[tuple[str, ArrayLike, ArrayLike, int]] = [
        ("d", 1.0 / np.arange(1, 6), 0.5 * ranks**-0.7, 50_000),
        ("e", 0.8 ** np.arange(10), np.linspace(0.5, 0.05, 20), 50_000),
        ("f", [1.0], np.linspace(0.3, 0.12, 10), 50_000),
        ("g", [0.3, 1.0, 0.15, 0.7, 0.5, 0.2, 0.9, 0.4], np.linspace(0.4, 0.05, 8), 50_000),
        ("h", [1.0, 0.6, 0.4, 0.3], np.linspace(0.03, 0.01, 10), 200_000),
        ("i", [1.0, 0.8, 0.6, 0.4], np.linspace(4.0, 1.8, 12), 20_000),
        ("j", [0.85, 1.0, 0.9, 0.95], np.linspace(0.25, 0.1, 16), 50_000),
        ("k", [1.0, 0.5, 0.25], [0.3] + [0.1] * 39, 20_000),
    ]
    return {
        id: Problem(id, MNL(position_bias=bias, attractiveness=attractiveness), rounds)
        for id, bias, attractiveness, rounds in sizes
    }


def shop() -> Problem:
    """Return a shop in which everything changes: visitors, items, tastes and delays.

    A page of 6 slots, λ_k = 0.8^k; 3 segments with 60, 30 and 10 percent of the visits, whose tastes correlate by 0.7;
    30 items at the start, 1 more per 1,000 rounds on average, each for 30,000 rounds on average, so that there are
    about 30 at any time; attractiveness log-normal around 0.1, its logarithm spread by 0.8; 6 features that explain
    half of its variance; a walk with a standard deviation of 0.3 and a correlation time of 50,000 rounds; a daily cycle
    of 10,000 rounds with an amplitude of 0.3; outcomes delayed by 500 rounds on average, delivered every 200.
    """
    return Problem(
        "shop",
        World(
            position_bias=0.8 ** np.arange(6),
            segments=[Segment(0.6), Segment(0.3), Segment(0.1)],
            delay=Delay(mean_rounds=500.0, every=200),
            churn=Churn(
                start=30,
                arrivals=1.0,
                every=1_000,
                lifetime=30_000.0,
                middle=0.1,
                spread=0.8,
                agreement=0.7,
                features=6,
                explained=0.5,
            ),
            walk=Walk(sd=0.3, rounds=50_000.0),
            cycle=Cycle(amplitude=0.3, period=10_000.0),
        ),
        rounds=100_000,
    )


#: the attraction of items, and the number of slots, in the problems of `OTHER_USERS`
ATTRACTION = 0.5 * 0.825 ** np.arange(12)
DECAY = 0.8 ** np.arange(4)


def _position_based() -> PositionBased:
    return PositionBased(position_bias=DECAY, attraction=ATTRACTION)


def _cascade() -> Cascade:
    return Cascade(slots=4, attraction=ATTRACTION)


def _dependent_click() -> DependentClick:
    return DependentClick(continuation=0.7 * DECAY, attraction=ATTRACTION)


def _user_browsing() -> UserBrowsing:
    # examination falls with the distance to the last click, and with the slot while there is no click
    near = [[0.9**distance for distance in range(slot)] + [DECAY[slot]] for slot in range(4)]
    return UserBrowsing(examination=near, attraction=ATTRACTION)


def _mixture() -> Any:
    calm = MNL(position_bias=DECAY, attractiveness=ATTRACTION)
    return mixture(shares=[0.5, 0.25, 0.25], users=[calm, _position_based(), _cascade()])


#: the functions that make them; to make all of them takes a while
OTHER_USERS: dict[str, Callable[[], Any]] = {
    "pbm": _position_based,
    "cascade": _cascade,
    "dcm": _dependent_click,
    "ubm": _user_browsing,
    "mixture": _mixture,
}


DEFAULT_ROUNDS = 50_000


def problem(name: str, *, of_mnl: bool = False) -> Problem:
    """Return a problem by its name, or from a JSON file by its path.

    Parameters
    ----------
    name : str
        A letter from a to k, `shop`, a name of `OTHER_USERS`, or the path of a problem file.
    of_mnl : bool
        Whether to accept only users who choose by multinomial logit.

    Returns
    -------
    Problem
        The environment, its rounds and its goal.

    Raises
    ------
    UnknownName
        If the name is neither that of a problem nor a path.
    UnreadableFile
        If the file is missing or not JSON.

    Examples
    --------
    >>> problem("b").users.items
    4
    >>> len(problem("shop").users.segments)
    3
    """
    by_name = paper_problems() | further_problems() | {"shop": shop()}
    if name in by_name:
        chosen = by_name[name]
    elif name in OTHER_USERS:
        chosen = Problem(name, OTHER_USERS[name](), DEFAULT_ROUNDS)
    elif name.endswith(".json") or os.path.sep in name or os.path.exists(name):
        users, goal, rounds = read_problem(name)
        chosen = Problem(name, users, DEFAULT_ROUNDS if rounds is None else rounds, goal)
    else:
        raise UnknownName("problem", name, [*by_name, *OTHER_USERS, "FILE.json"])
    if of_mnl and not isinstance(chosen.users, MNL):
        kind = "a changing environment" if isinstance(chosen.users, World) else type(chosen.users).__name__
        raise InvalidInput(f"{name} must have users who choose by multinomial logit, got {kind}")
    return chosen
