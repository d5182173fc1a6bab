"""The problems of the study of changing pages: each a function of a seed and a number, and of nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from research.changing_pages.random_worlds import random_changing_problem, random_problem
from slotwise.click_models import MNL
from slotwise.core.tally import Tally
from slotwise.core.types import FloatArray
from slotwise.environments import (
    Delay,
    Jump,
    Segment,
    World,
    problem,
)
from slotwise.simulation import simulate

#: the streams of the families: no two share one, and none is that of a replication
SEGMENTS, NEWCOMERS, FEATURES, FORGETTING, STATIONARY, LIVED, VISITS = range(7)

#: of the families with items at random: attractiveness is log-normal, with this median and spread of its logarithm
MIDDLE, SPREAD = 0.12, 0.6
KNOWN_ITEMS = 12
NEWCOMERS_BIAS = (1.0, 0.6, 0.35)
#: tastes of `forgetting`
STAY, REVERSED, NEW_ORDERS = "stay", "reversed half-way", "a new order every eighth"


@dataclass(frozen=True)
class Case:
    """An environment, its number of rounds, and the counts to start from."""

    users: Any
    rounds: int
    start: Tally | None = None


def stream_of(family: int, seed: int, number: int) -> np.random.Generator:
    """The randomness of problem `number` of a family."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(family, number)))


def named(seed: int, number: int, *, name: str, rounds: int) -> Case:  # noqa: ARG001
    """A problem by its name, the same for all numbers."""
    return Case(problem(name).users, rounds)


def segments(seed: int, number: int, *, crowds: int, items: int, slots: int, rounds: int, apart: float) -> Case:
    """Segments whose attractiveness differs by h = `apart`.

    log α_j is normal around log 0.12 with standard deviation 0.6; for segment s α_j is multiplied by
    exp(h·normal - h²/2); λ_1 = 1 and the others are uniform on (0.1, 1), sorted; shares are Dirichlet(1).
    """
    rng = stream_of(SEGMENTS, seed, number)
    common = MIDDLE * np.exp(SPREAD * rng.standard_normal(items))
    tastes = common * np.exp(apart * rng.standard_normal((crowds, items)) - apart * apart / 2.0)
    bias = sorted_bias(slots, rng)
    shares = rng.dirichlet(np.ones(crowds))
    crowd = [Segment(float(share), taste) for share, taste in zip(shares, tastes, strict=True)]
    return Case(World(position_bias=bias, segments=crowd), rounds)


def sorted_bias(slots: int, rng: np.random.Generator) -> FloatArray:
    """λ_1 = 1, the others uniform on (0.1, 1), in decreasing order."""
    return np.append(1.0, np.sort(rng.uniform(0.1, 1.0, slots - 1))[::-1])


def newcomers(seed: int, number: int, *, new: int, counted: int, late: int, rounds: int) -> Case:
    """12 items known from `counted` rounds of `thompson-sampling`, then `new` more; outcomes come `late`.

    Attractiveness is log-normal around 0.12, its logarithm spread by 0.6, for all items alike; λ = (1, 0.6, 0.35).
    """
    rng = stream_of(NEWCOMERS, seed, number)
    attractiveness = MIDDLE * np.exp(SPREAD * rng.standard_normal(KNOWN_ITEMS + new))
    before = MNL(position_bias=NEWCOMERS_BIAS, attractiveness=attractiveness[:KNOWN_ITEMS])
    first_seed = int(rng.integers(2**31))
    first = simulate(before, "thompson-sampling", rounds=counted, seed=first_seed, jobs=1, progress=False)
    (seen,) = first["thompson-sampling"].tallies
    nothing = np.zeros((len(NEWCOMERS_BIAS), new), np.int64)
    start = Tally(np.hstack([seen.clicks, nothing]), np.hstack([seen.passes, nothing]))
    world = World(position_bias=NEWCOMERS_BIAS, attractiveness=attractiveness, delay=Delay(rounds=late))
    return Case(world, rounds, start)


def features(seed: int, number: int, *, explained: float, used: bool, items: int, rounds: int) -> Case:
    """Half of the items from the start, the others in twenty parts, one every fortieth of the rounds; 5 slots.

    log α_j = log 0.1 + 0.8·(√explained w·f_j + √(1 - explained) z_j), f five standard normal features, |w| = 1; biases
    are as in `segments`.
    """
    rng = stream_of(FEATURES, seed, number)
    at_start, more = items // 2, max(1, items // 40)
    described, rest, weights = rng.standard_normal((items, 5)), rng.standard_normal(items), rng.standard_normal(5)
    known = described @ weights / np.linalg.norm(weights)
    attractiveness = 0.1 * np.exp(0.8 * (np.sqrt(explained) * known + np.sqrt(1.0 - explained) * rest))
    arrivals = np.maximum(0, (np.arange(items) - at_start) // more + 1) * max(1, rounds // 40)
    world = World(
        position_bias=sorted_bias(5, rng),
        attractiveness=attractiveness,
        arrivals=arrivals.tolist(),
        features=described if used else None,
    )
    return Case(world, rounds)


def forgetting(seed: int, number: int, *, tastes: str, rounds: int) -> Case:
    """Problem (a), whose tastes stay, are reversed half-way, or come in a new random order every eighth of the time."""
    rng, users = stream_of(FORGETTING, seed, number), problem("a").users
    drift = []
    if tastes == REVERSED:
        drift = [Jump(rounds // 2, users.attractiveness[::-1].tolist())]
    elif tastes == NEW_ORDERS:
        drift = [Jump(eighth * rounds // 8, rng.permutation(users.attractiveness).tolist()) for eighth in range(1, 8)]
    return Case(World(position_bias=users.position_bias, attractiveness=users.attractiveness, drift=drift), rounds)


def stationary(seed: int, number: int, *, at_most: int) -> Case:
    """A problem of `random_problem`, with at most `at_most` rounds."""
    drawn = random_problem(stream_of(STATIONARY, seed, number))
    return Case(drawn.users, min(drawn.rounds, at_most))


def lived(seed: int, number: int, *, at_most: int) -> Case:
    """A world of `random_changing_problem`, with at most `at_most` rounds."""
    drawn = random_changing_problem(stream_of(LIVED, seed, number))
    return Case(drawn.users, min(drawn.rounds, at_most))
