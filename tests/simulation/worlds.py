"""Worlds and policies to try them with."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from slotwise import EMPTY, PolicyTask
from slotwise.core.types import FloatArray, IntArray, Ranking
from slotwise.environments import Churn, Cycle, Delay, Jump, Segment, Walk, World
from slotwise.simulation.world_items import draw_items
from slotwise.simulation.world_state import WorldState, start_world

BIAS = [1.0, 0.2, 0.9]
TASTES = [[0.3, 0.5, 0.1, 0.8, 0.4], [0.6, 0.1, 0.9, 0.2, 0.3]]
OTHER_TASTES = [[0.9, 0.1, 0.5, 0.2, 0.4], [0.2, 0.7, 0.1, 0.8, 0.3]]


def all_at_once(**other: Any) -> World:
    """Everything that may change does, with random items too."""
    given: dict[str, Any] = {
        "position_bias": BIAS,
        "segments": [Segment(0.7, TASTES[0]), Segment(0.3, TASTES[1])],
        "delay": Delay(rounds=2, mean_rounds=5.0, every=3),
        "arrivals": [0, 0, 0, 10, 0],
        "departures": [None, 120, None, None, 30],
        "churn": Churn(middle=0.3, spread=0.5, arrivals=20.0, every=1_000, lifetime=100.0, start=2, agreement=0.5),
        "drift": [Jump(50, OTHER_TASTES)],
        "walk": Walk(sd=0.3, rounds=100.0),
        "cycle": Cycle(amplitude=0.4, period=60.0),
        "step": 7,
    }
    return World(**(given | other))


def started(world: World, rounds: int = 1_000, seed: int = 1) -> tuple[WorldState, np.random.Generator]:
    """A world before its first round, and the randomness that it goes on with."""
    rng = np.random.default_rng(seed)
    return start_world(world, draw_items(world, rounds, rng), rng), rng


class Telling:
    """Shows every list once, so that outcomes say which round they are of, and writes down what it is told."""

    def __init__(self, task: PolicyTask) -> None:
        self.lists = itertools.permutations(range(task.items), task.slots)
        self.round_of: dict[tuple[int, ...], int] = {}
        self.segments: list[int] = []
        #: round, and how many rounds had been shown when its outcome was told
        self.told: list[tuple[int, int]] = []
        self.told_to: list[tuple[int, int]] = []
        self.expected: list[int] = []
        self.settled: list[int] = []
        self.segment = 0

    def choose(self, rng: np.random.Generator) -> Ranking:
        shown = next(self.lists)
        self.round_of[shown] = len(self.segments)
        self.segments.append(self.segment)
        return np.array(shown)

    def set_segment(self, segment: int) -> None:
        self.segment = segment

    def add_pending(self, ranking: Ranking) -> None:
        self.expected.append(self.round_of[tuple(ranking.tolist())])

    def remove_pending(self, ranking: Ranking) -> None:
        self.settled.append(self.round_of[tuple(ranking.tolist())])

    def learn(self, ranking: Ranking, clicked: int) -> None:
        at = self.round_of[tuple(ranking.tolist())]
        self.told.append((at, len(self.segments)))
        self.told_to.append((self.segments[at], self.segment))


class Oracle:
    """Knows a world in which nothing is drawn, and shows whoever looks the best list there is."""

    def __init__(self, world: World) -> None:
        self.world, self.round, self.segment = world, 0, 0

    def attractiveness(self) -> FloatArray:
        world, now = self.world, self.round
        tastes: FloatArray = world.attractiveness[self.segment]
        for jump in world.drift:
            if jump.round <= now:
                tastes = jump.attractiveness[self.segment]
        if world.cycle is not None:
            at = now // world.step * world.step
            phases = np.asarray(world.cycle.phases)
            tastes = tastes * np.exp(world.cycle.amplitude * np.sin(2 * np.pi * (at / world.cycle.period + phases)))
        return tastes

    def there(self) -> IntArray:
        leaves = self.world.departures if self.world.departures is not None else np.full(self.world.items, np.inf)
        return np.flatnonzero((self.world.arrivals <= self.round) & (leaves > self.round))

    def choose(self, rng: np.random.Generator) -> Ranking:
        tastes, there = self.attractiveness(), self.there()
        ranking = np.full(self.world.slots, EMPTY)
        slots = min(self.world.slots, len(there))
        best = there[np.argsort(-tastes[there], kind="stable")][:slots]
        bias = self.world.segments[self.segment].position_bias[:slots]
        ranking[np.argsort(-bias, kind="stable")] = best
        self.round += 1
        return ranking

    def set_segment(self, segment: int) -> None:
        self.segment = segment

    def impose_rules(self, values: FloatArray, excluded: IntArray, pin: IntArray) -> None:
        assert set(range(self.world.items)) - set(excluded.tolist()) == set(self.there().tolist())

    def learn(self, ranking: Ranking, clicked: int) -> None: ...
