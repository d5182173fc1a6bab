"""Coverage and width of the paper's intervals on simulated tallies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from slotwise import theory
from slotwise.click_models import MNL
from slotwise.core.tally import Tally
from slotwise.core.types import FloatArray
from slotwise.estimators import algorithm_1
from slotwise.policies import PolicyTask, holds_lists
from slotwise.policies.policy_registry import parse
from slotwise.simulation import Results
from slotwise.theory import Intervals

LEVEL = 0.95

#: by name: whether the interval uses the known position bias, and its function of a tally
INTERVALS: dict[str, tuple[bool, Callable[[Tally, FloatArray], Intervals]]] = {
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
    #: nominal coverage of one item in the paper, averaged over the replications
    promised: float
    covered: float
    #: standard error of `covered`, replications taken as the independent unit
    standard_error: float
    #: the share of replications in which every item is covered
    all_covered: float
    #: relative to the true attractiveness, over the finite ones
    median_relative_width: float
    #: the share of replications in which Algorithm 1 converged; 1 if it is not used
    converged: float


def measure(problem: str, users: MNL, results: Results) -> list[Coverage]:
    """Return the coverage of every interval for every policy that runs in epochs, as the theory assumes."""
    coverages = []
    task = PolicyTask(users.slots, users.items, results.rounds, users.position_bias)
    for label in results:
        if not holds_lists(parse(label).start(task)):
            continue
        tallies = results[label].tallies
        converged = float(np.mean([algorithm_1(tally).converged for tally in tallies]))
        for name, (is_known, function) in INTERVALS.items():
            intervals = [function(tally, users.position_bias) for tally in tallies]
            # with unknown bias, attractiveness is estimated relative to the first slot's bias
            truth = users.attractiveness if is_known else users.attractiveness * users.position_bias[0]
            covers = np.array([interval.covers(truth) for interval in intervals])
            widths = np.array([interval.width / truth for interval in intervals])
            by_replication = covers.mean(axis=1)
            error = by_replication.std(ddof=1) / np.sqrt(len(intervals)) if len(intervals) > 1 else np.nan
            coverages.append(
                Coverage(
                    problem,
                    label,
                    name,
                    promised=float(np.mean([max(0.0, interval.level) for interval in intervals])),
                    covered=float(covers.mean()),
                    standard_error=float(error),
                    all_covered=float(covers.all(axis=1).mean()),
                    median_relative_width=float(np.median(widths[np.isfinite(widths)])),
                    converged=1.0 if is_known else converged,
                )
            )
    return coverages
