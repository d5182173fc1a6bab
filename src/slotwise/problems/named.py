"""Problems: the three of Grant and Leslie, §6, eight further ones, random ones to choose on, and those from files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from slotwise.choice import MNL
from slotwise.errors import InvalidInput, UnknownName
from slotwise.lists import Goal
from slotwise.problems.file import read_problem

REPLICATIONS = 40


@dataclass(frozen=True)
class Problem:
    """Users, for how long they are simulated, and what for, if not for clicks."""

    id: str
    users: Any
    rounds: int
    goal: Goal | None = None


def paper_problems() -> dict[str, Problem]:
    """The problems (a), (b) and (c)."""
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
    """The problems (d) to (k), on which policies are compared and never tuned.

    (d) many items, few good; (e) a long list; (f) a single slot; (g) as many slots as items, so that only the order
    counts; (h) rare clicks; (i) hardly ever no click; (j) slots that hardly differ, out of order; (k) one star.
    """
    ranks = np.arange(1, 101)
    made: list[tuple[str, ArrayLike, ArrayLike, int]] = [
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
        for id, bias, attractiveness, rounds in made
    }


def random_problem(rng: np.random.Generator) -> Problem:
    """One of a wide family, for choosing between policies: sizes, scales, spreads and slots all drawn.

    2 to 40 items, at most 8 slots; attractiveness log-normal around 0.03 to 1, its logarithm spread by 0.2 to 1.2;
    slots that decay geometrically, or are uniform on (0.1, 1), shuffled every other time; 5,000 to 50,000 rounds.
    """
    items = int(np.exp(rng.uniform(np.log(2.0), np.log(41.0))))
    slots = int(rng.integers(1, min(items, 8) + 1))
    middle, spread = np.exp(rng.uniform(np.log(0.03), 0.0)), rng.uniform(0.2, 1.2)
    attractiveness = middle * np.exp(spread * rng.standard_normal(items))
    decay = rng.uniform(0.4, 0.95)
    position_bias = decay ** np.arange(slots) if rng.random() < 0.5 else np.sort(rng.uniform(0.1, 1.0, slots))[::-1]
    if rng.random() < 0.5:
        position_bias = rng.permutation(position_bias)
    rounds = round(float(np.exp(rng.uniform(np.log(5_000.0), np.log(50_000.0)))))
    users = MNL(position_bias=position_bias, attractiveness=attractiveness)
    return Problem("random", users, rounds)


DEFAULT_ROUNDS = 50_000


def problem(name: str, *, of_mnl: bool = False) -> Problem:
    """A problem by its letter, or one from a JSON file by its path; with `of_mnl`, of multinomial logit users only.

    >>> problem("b").users.items
    4
    """
    known = paper_problems() | further_problems()
    if name in known:
        return known[name]
    if name.endswith(".json") or os.path.sep in name or os.path.exists(name):
        users, goal = read_problem(name)
        if of_mnl and not isinstance(users, MNL):
            raise InvalidInput(f"{name} must be of users who choose by multinomial logit, got {type(users).__name__}")
        return Problem(name, users, DEFAULT_ROUNDS, goal)
    raise UnknownName("problem", name, [*known, "FILE.json"])
