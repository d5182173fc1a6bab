"""Show every list as often as Graves and Lai's program asks under the estimates; after Combes et al. (2017)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from research.graves_lai.limit import Explored, limit
from slotwise.click_models import MNL
from slotwise.core.errors import InvalidInput
from slotwise.core.policy_task import PolicyTask
from slotwise.core.tally import Tally
from slotwise.core.types import Ranking
from slotwise.estimators import GammaPrior, maximum_a_posteriori
from slotwise.policies.policy_registry import register

#: how much rounds grow until the program is solved again, and the seconds that it gets
GROWTH = 1.5
SECONDS = 2.0
#: ε of OSSB: the share of exploring rounds in which every item was shown at least
FORCED = 0.05
#: of attractiveness, and of position bias
WEAK = GammaPrior(shape=1.0, rate=1.0)
#: beyond this the program takes too long
MAX_ITEMS = 30


class GravesLaiTracking:
    """Optimal sampling for structured bandits (OSSB), with γ = 0, on lists.

    In round t every list of the program's answer under the estimates should have been shown η log t times. If all were,
    the best list for the estimates is shown. If not, it is an exploring round, the s-th. If an item was shown fewer
    than εs times, a list with that item in a random slot is shown, and else the list that is furthest behind η log t.

    Combes, Magureanu and Proutière force rounds of every arm, of which lists are too many. Estimates are those of
    maximum a posteriori. The program is solved again whenever rounds have grown by half. A round is plain Python.
    """

    def __init__(self, task: PolicyTask) -> None:
        self.task, self.tally = task, Tally.empty(task.slots, task.items)
        self.rounds, self.exploring, self.solved_at = 0, 0, 0.0
        self.shows = np.zeros(task.items)
        self.shown: dict[tuple[int, ...], int] = {}
        self.plan: tuple[Explored, ...] = ()
        self.best = np.arange(task.slots)

    def choose(self, rng: np.random.Generator) -> Ranking:
        """Return the list that is furthest behind the program, or the best one."""
        if self.rounds + 1 >= GROWTH * self.solved_at:
            self.solve(rng)
        furthest = min(self.plan, key=lambda one: self.times(one) / one.rate, default=None)
        if furthest is None or self.times(furthest) >= furthest.rate * math.log(self.rounds + 1.0):
            return self.best
        self.exploring += 1
        rarest = int(rng.choice(np.flatnonzero(self.shows == self.shows.min())))
        if self.shows[rarest] <= FORCED * self.exploring:
            others = rng.permutation(np.delete(np.arange(self.task.items), rarest))[: self.task.slots - 1]
            return np.insert(others, int(rng.integers(self.task.slots)), rarest)
        return furthest.ranking

    def times(self, one: Explored) -> int:
        """How often a list was shown."""
        return self.shown.get(tuple(one.ranking.tolist()), 0)

    def solve(self, rng: np.random.Generator) -> None:
        """Estimate, and solve Graves and Lai's program for the estimates."""
        self.solved_at = self.rounds + 1.0
        bias = self.task.position_bias
        found = maximum_a_posteriori(
            self.tally,
            attractiveness_prior=WEAK,
            position_bias_prior=WEAK if bias is None else None,
            position_bias=bias,
        )
        # a little noise breaks ties
        noise = np.exp(1e-3 * rng.standard_normal(self.task.items))
        users = MNL(position_bias=found.position_bias, attractiveness=found.attractiveness * noise)
        self.best = users.best_ranking()
        self.plan = limit(users, known_bias=bias is not None, seconds=SECONDS).explored

    def learn(self, ranking: Ranking, clicked: int) -> None:
        """Count one round."""
        self.rounds += 1
        self.tally.count(ranking, clicked)
        self.shows[ranking] += 1
        key = tuple(ranking.tolist())
        self.shown[key] = self.shown.get(key, 0) + 1


@register(
    "graves-lai-tracking",
    name="Graves–Lai tracking",
    position_bias="either",
    citation="after Combes, Magureanu and Proutière, Minimal Exploration in Structured Stochastic Bandits (2017)",
    limits={
        "goal": "the program is for clicks, without values and constraints",
        "tally": "it needs how often each list was shown, which a tally does not have",
    },
    rival=True,
)
def graves_lai_tracking(task: PolicyTask) -> Any:
    """Track the rates η of `research.graves_lai` for at most 30 items."""
    if task.items > MAX_ITEMS:
        raise InvalidInput(f"graves-lai-tracking solves a program for at most {MAX_ITEMS} items, got {task.items}")
    return GravesLaiTracking(replace(task, goal=None))
