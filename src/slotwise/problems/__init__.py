"""Problems: users, how long they are simulated and what for; by letter, drawn at random, or from a file."""

from slotwise.problems.named import (
    DEFAULT_ROUNDS,
    REPLICATIONS,
    Problem,
    further_problems,
    paper_problems,
    problem,
    random_problem,
)

__all__ = [
    "DEFAULT_ROUNDS",
    "REPLICATIONS",
    "Problem",
    "further_problems",
    "paper_problems",
    "problem",
    "random_problem",
]
