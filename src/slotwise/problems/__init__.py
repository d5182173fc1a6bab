"""Problems: users or a world, how long they are simulated and what for; by name, drawn at random, or from a file."""

from slotwise.problems.changes import Churn, Cycle, Delay, Jump, Segment, Walk
from slotwise.problems.contextual import ContextualMNL
from slotwise.problems.named import (
    DEFAULT_ROUNDS,
    REPLICATIONS,
    Problem,
    further_problems,
    other_users,
    paper_problems,
    problem,
    random_problem,
)
from slotwise.problems.random_worlds import random_lived_problem
from slotwise.problems.world import World

__all__ = [
    "DEFAULT_ROUNDS",
    "REPLICATIONS",
    "Churn",
    "ContextualMNL",
    "Cycle",
    "Delay",
    "Jump",
    "Problem",
    "Segment",
    "Walk",
    "World",
    "further_problems",
    "other_users",
    "paper_problems",
    "problem",
    "random_lived_problem",
    "random_problem",
]
