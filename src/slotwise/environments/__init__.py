"""Problems: users or a world, how long they are simulated and what for; by name, drawn at random, or from a file."""

from slotwise.environments.catalog import (
    DEFAULT_ROUNDS,
    REPLICATIONS,
    Problem,
    further_problems,
    paper_problems,
    problem,
)
from slotwise.environments.dynamics import Churn, Cycle, Delay, Jump, Segment, Walk
from slotwise.environments.world import World

__all__ = [
    "DEFAULT_ROUNDS",
    "REPLICATIONS",
    "Churn",
    "Cycle",
    "Delay",
    "Jump",
    "Problem",
    "Segment",
    "Walk",
    "World",
    "further_problems",
    "paper_problems",
    "problem",
]
