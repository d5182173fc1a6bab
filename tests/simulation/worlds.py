"""Worlds and policies to try them with."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from slotwise import EMPTY, NO_CLICK, PolicyTask
from slotwise.core.types import FloatArray, IntArray, Ranking
from slotwise.environments import Churn, Cycle, Delay, Jump, Segment, Walk, World
from slotwise.jit import jit, record
from slotwise.optimize.compiled_constraints import CLOSED
from slotwise.policies import add_pending, choose, end_epoch, impose_rules, learn, remove_pending, set_segment
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


@record
class Holding:
    """Shows the items with the most clicks of a segment and the fewest pending lists, until a round without a click."""

    #: segments × items
    clicks: FloatArray
    pending: FloatArray
    allowed: IntArray
    #: slots that may be filled, the current segment, and whether the last list is shown again
    open: int
    segment: int
    holds: bool
    ranking: Ranking


def holding(task: PolicyTask) -> Holding:
    """A policy that uses all that a world gives it, and compiles in a fraction of the time of a real one."""
    return Holding(
        clicks=np.zeros((task.segments, task.items)),
        pending=np.zeros(task.items),
        allowed=np.ones(task.items, np.int64),
        open=task.slots,
        segment=0,
        holds=False,
        ranking=np.full(task.slots, EMPTY),
    )


@choose.register(Holding)
def _choose(policy: Holding, rng: np.random.Generator) -> Ranking:
    ranking = policy.ranking
    if policy.holds:
        return ranking
    score = np.zeros(len(policy.allowed))
    for item in range(len(score)):
        score[item] = policy.clicks[policy.segment, item] - policy.pending[item] + rng.random()
        if policy.allowed[item] == 0:
            score[item] = -np.inf
    for slot in range(len(ranking)):
        ranking[slot] = EMPTY
        if slot < policy.open:
            ranking[slot] = np.argmax(score)
            score[ranking[slot]] = -np.inf
    policy.holds = True
    return ranking


@learn.register(Holding)
def _learn(policy: Holding, ranking: Ranking, clicked: int) -> None:
    if clicked == NO_CLICK:
        policy.holds = False
    else:
        policy.clicks[policy.segment, ranking[clicked]] += 1.0


@impose_rules.register(Holding)
def _impose_rules(policy: Holding, values: FloatArray, excluded: IntArray, pin: IntArray) -> None:
    policy.allowed[:] = 1
    for item in excluded:
        policy.allowed[item] = 0
    policy.open = 0
    for slot in range(len(pin)):
        policy.open += pin[slot] != CLOSED


@end_epoch.register(Holding)
def _end_epoch(policy: Holding) -> None:
    policy.holds = False


@set_segment.register(Holding)
def _set_segment(policy: Holding, segment: int) -> None:
    policy.segment = segment


@add_pending.register(Holding)
def _add_pending(policy: Holding, ranking: Ranking) -> None:
    _wait(policy, ranking, 1.0)


@remove_pending.register(Holding)
def _remove_pending(policy: Holding, ranking: Ranking) -> None:
    _wait(policy, ranking, -1.0)


@jit
def _wait(policy: Holding, ranking: Ranking, lists: float) -> None:
    for item in ranking:
        if item != EMPTY:
            policy.pending[item] += lists


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
