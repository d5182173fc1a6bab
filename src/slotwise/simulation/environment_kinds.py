"""The environments that policies are simulated in, and how the runner asks each for its loop and its state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any, Protocol

import numpy as np

from slotwise.click_models import MNL, best_ranking, reward
from slotwise.core.errors import InvalidInput
from slotwise.core.policy_task import PolicyTask
from slotwise.environments import World
from slotwise.optimize import Goal, best_list
from slotwise.optimize.goal_value import valued
from slotwise.policies.policy_registry import PolicySpec
from slotwise.simulation.adapters import check_users
from slotwise.simulation.loop import advance, outcome_of
from slotwise.simulation.world_items import draw_items
from slotwise.simulation.world_loop import advance_world
from slotwise.simulation.world_state import start_world


@dataclass(frozen=True)
class Episode:
    """One replication of an environment before its first round."""

    #: plays rounds: `loop(policy, state, *arguments, trace, rounds)`
    loop: Callable[..., bool]
    #: a record, or an object of the caller's own
    state: Any
    #: of the loop, the policy's generator first
    arguments: tuple[Any, ...]
    #: the policy's task, with the features that this replication drew
    task: PolicyTask
    #: completes the error about a ranking that the loop rejects
    requirement: str = ""


class Environment(Protocol):
    """The interface of users, a world or any other environment to the runner."""

    def task(self, rounds: int, goal: Goal | None) -> PolicyTask:
        """Return the task of a policy; raise InvalidInput for a goal that the environment does not support."""

    def check_policy(self, policy: PolicySpec) -> None:
        """Raise InvalidInput if a registered policy cannot act here."""

    def best_reward(self, task: PolicyTask) -> float:
        """Return the reward of the best list; 0 if it changes and the loop computes it in every round."""

    def start(self, task: PolicyTask, rng: np.random.Generator) -> Episode:
        """Return a new replication; `rng` is the policy's generator."""


@singledispatch
def environment_of(users: object) -> Environment:
    """Return the environment that `simulate` was given as its users.

    >>> users = MNL(position_bias=[1.0], attractiveness=[0.5, 0.25])
    >>> environment_of(users).task(100, None).items
    2
    """
    return StationaryEnvironment(users)


@dataclass(frozen=True, eq=False)
class StationaryEnvironment:
    """Users of a click model, in an environment that never changes."""

    users: Any

    def task(self, rounds: int, goal: Goal | None) -> PolicyTask:
        """Return the task of a policy; a goal needs multinomial logit users."""
        users = self.users
        check_users(users)
        bias = getattr(users, "position_bias", None)
        task = PolicyTask(users.slots, users.items, rounds, position_bias=bias, goal=goal)
        if goal is not None:
            if not isinstance(goal, Goal):
                raise InvalidInput(f"goal must be a Goal, got {goal!r}")
            if not isinstance(users, MNL):
                raise InvalidInput(f"a goal needs users who choose by multinomial logit, got {type(users).__name__}")
            goal.check(users.slots, users.items)
        return task

    def check_policy(self, policy: PolicySpec) -> None:
        """Accept every policy; the policy itself checks its task."""

    def best_reward(self, task: PolicyTask) -> float:
        """Return the reward of the best list that the goal allows; it may have to be searched for."""
        if task.goal is None:
            return float(reward(self.users, best_ranking(self.users)))
        return float(reward(valued(self.users, task.goal), best_list(self.users, task.goal)))

    def start(self, task: PolicyTask, rng: np.random.Generator) -> Episode:
        """Return a replication; its state is the users, with values if there is a goal."""
        users = self.users if task.goal is None else valued(self.users, task.goal)
        requirement = "" if task.goal is None else ", or one that the goal does not allow"
        return Episode(advance, users, (rng, outcome_of(users)), task, requirement)


@dataclass(frozen=True, eq=False)
class ChangingEnvironment:
    """A `World`: segments, delayed outcomes, items that come and go, and drift."""

    world: World

    def task(self, rounds: int, goal: Goal | None) -> PolicyTask:
        """Return the task of a policy, without the features of items that a replication draws."""
        if goal is not None:
            raise InvalidInput("a World does not support a goal, as its regret is in clicks: omit one of them")
        return self.world.task(rounds)

    def check_policy(self, policy: PolicySpec) -> None:
        """Raise InvalidInput if a policy needs the position bias and there is no common one."""
        if self.world.position_bias is None and policy.knows_bias:
            why = "segments have their own" if self.world.users is None else "these users have none, or differ in it"
            raise InvalidInput(f"{policy} needs a known position_bias, and {why}")

    def best_reward(self, task: PolicyTask) -> float:  # noqa: ARG002
        """Return 0: the best list changes."""
        return 0.0

    def start(self, task: PolicyTask, rng: np.random.Generator) -> Episode:
        """Draw the items of a replication from a generator of its own, so that every policy has the same world."""
        world_rng = rng.spawn(1)[0]
        drawn = draw_items(self.world, task.horizon, world_rng)
        requirement = ", or not all of available items" if task.rules_per_decision else ""
        state = start_world(self.world, drawn, world_rng)
        return Episode(advance_world, state, (rng, world_rng), replace(task, features=drawn.features), requirement)


environment_of.register(World, ChangingEnvironment)
