"""How often the paper's intervals hold the truth, and how wide they are, on the tallies of a simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from slotwise import theory
from slotwise.click_models import MNL
from slotwise.core.tally import Tally
from slotwise.estimators import algorithm_1
from slotwise.policies import PolicyTask, holds_lists
from slotwise.policies.policy_registry import parse
from slotwise.simulation import Results
from slotwise.theory import Intervals

LEVEL = 0.95

#: by name: whether it is told the position bias, and the intervals of a tally
INTERVALS: dict[str, tuple[bool, Callable[[Tally, Any], Intervals]]] = {
    "Theorem 1": (True, lambda tally, bias: theory.theorem_1(tally, bias, LEVEL)),
    "Theorem 1, from data": (True, lambda tally, bias: theory.theorem_1_from_data(tally, bias, LEVEL)),
    "Lemma 3": (True, theory.lemma_3),
    "Lemma 3, from data": (True, theory.lemma_3_from_data),
    "Theorem 2": (False, lambda tally, _: theory.theorem_2_intervals(tally, LEVEL)),
    "Corollary 1": (False, lambda tally, _: theory.corollary_1(tally)),
}


@dataclass(frozen=True)
class Coverage:
    """One interval on one problem under one policy, over replications and items."""

    problem: str
    policy: str
    interval: str
    #: what the paper promises for one item, on average over the replications
    promised: float
    covered: float
    #: standard error of `covered`, replications taken as the independent unit
    standard_error: float
    #: the share of replications in which every item is covered
    all_covered: float
    #: relative to the true attractiveness, over the finite ones
    median_relative_width: float
    #: the share of replications in which Algorithm 1 came to rest; 1 where it is not used
    converged: float


def measure(problem: str, users: MNL, results: Results) -> list[Coverage]:
    """Every interval on the tallies of every policy that was run in epochs, as the theory supposes."""
    found = []
    task = PolicyTask(users.slots, users.items, results.rounds, users.position_bias)
    for label in results:
        if not holds_lists(parse(label).start(task)):
            continue
        tallies = results[label].tallies
        converged = float(np.mean([algorithm_1(tally).converged for tally in tallies]))
        for name, (told, intervals) in INTERVALS.items():
            made = [intervals(tally, users.position_bias) for tally in tallies]
            # unknown biases are learned relative to the first slot's
            truth = users.attractiveness if told else users.attractiveness * users.position_bias[0]
            covers = np.array([one.covers(truth) for one in made])
            widths = np.array([one.width / truth for one in made])
            by_replication = covers.mean(axis=1)
            error = by_replication.std(ddof=1) / np.sqrt(len(made)) if len(made) > 1 else np.nan
            found.append(
                Coverage(
                    problem,
                    label,
                    name,
                    promised=float(np.mean([max(0.0, one.level) for one in made])),
                    covered=float(covers.mean()),
                    standard_error=float(error),
                    all_covered=float(covers.all(axis=1).mean()),
                    median_relative_width=float(np.median(widths[np.isfinite(widths)])),
                    converged=1.0 if told else converged,
                )
            )
    return found
